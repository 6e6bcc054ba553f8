//! The verifying key.

use std::io::{self, Read, Write};
use std::path::Path;

use blstrs::{Bls12, G1Affine, G2Affine, G2Prepared};
use group::Group;
use group::prime::PrimeCurveAffine;
use msm_gpu::{Curve, G1, G2};
use pairing::{MillerLoopResult, MultiMillerLoop};
use rayon::prelude::*;

use crate::encoding::Encoding;
use crate::files::{self, Opened};
use crate::source::Source;
use crate::{KeyError, ParameterError, PointError, Section};

/// What a verifier needs of a circuit's parameters.
///
/// As bytes: the six points below in order, uncompressed (96 bytes in G1, 192 in G2, big-endian, `x.c1` before `x.c0`), then the
/// number of `ic` as a 32-bit big-endian integer, then `ic`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyingKey {
    /// `α·G1`.
    pub alpha_g1: G1Affine,
    /// `β·G1`. Provers use it.
    pub beta_g1: G1Affine,
    /// `β·G2`.
    pub beta_g2: G2Affine,
    /// `γ·G2`. In keys from ceremonies of Zcash's kind, Filecoin's included, `γ = 1`.
    pub gamma_g2: G2Affine,
    /// `δ·G1`. Provers use it.
    pub delta_g1: G1Affine,
    /// `δ·G2`.
    pub delta_g2: G2Affine,
    /// `(β·A_i(τ) + α·B_i(τ) + C_i(τ)) / γ · G1` for ONE and each public input.
    pub ic: Vec<G1Affine>,
}

/// Longer key files are refused: this is room for a million public inputs, and Filecoin's circuits have a few hundred.
const MAX_KEY_FILE: u64 = 100 << 20;

impl VerifyingKey {
    /// The number of public inputs, ONE not counted.
    pub fn num_public_inputs(&self) -> usize {
        self.ic.len().saturating_sub(1)
    }

    /// Reads a key, all of `bytes`, and [checks](Self::check) it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ParameterError> {
        let mut source = Source::new(bytes, bytes.len() as u64, false);
        let key = Self::read_from(&mut source)?;
        match source.remaining() {
            0 => Ok(key),
            count => Err(ParameterError::TrailingBytes { count }),
        }
    }

    /// Reads a `.vk` file and [checks](Self::check) it.
    pub fn read_file(path: impl AsRef<Path>) -> Result<Self, ParameterError> {
        let opened = Opened::new(path.as_ref())?;
        if opened.len > MAX_KEY_FILE {
            return Err(ParameterError::KeyTooLong { len: opened.len, limit: MAX_KEY_FILE });
        }
        let mut source = Source::new(io::BufReader::new(&opened.file), opened.len, false);
        let key = Self::read_from(&mut source)?;
        match source.remaining() {
            0 => {}
            count => return Err(ParameterError::TrailingBytes { count }),
        }
        Opened::check_unchanged(&opened.file, opened.len, opened.modified())?;
        Ok(key)
    }

    /// Reads the key at the beginning of a `.params` file, whatever follows it, and [checks](Self::check) it.
    pub fn read_parameter_file(path: impl AsRef<Path>) -> Result<Self, ParameterError> {
        let opened = Opened::new(path.as_ref())?;
        Self::read_from(&mut Source::new(io::BufReader::new(&opened.file), opened.len, false))
    }

    /// The key at the beginning of a parameter file; checked.
    pub(crate) fn read_from<R: Read>(source: &mut Source<R>) -> Result<Self, ParameterError> {
        let key = Self {
            alpha_g1: source.point::<G1>(Section::AlphaG1)?,
            beta_g1: source.point::<G1>(Section::BetaG1)?,
            beta_g2: source.point::<G2>(Section::BetaG2)?,
            gamma_g2: source.point::<G2>(Section::GammaG2)?,
            delta_g1: source.point::<G1>(Section::DeltaG1)?,
            delta_g2: source.point::<G2>(Section::DeltaG2)?,
            ic: source.points::<G1>(Section::Ic, None)?,
        };
        key.check()?;
        Ok(key)
    }

    /// That proofs can mean something under this key: no point at infinity or outside the subgroup, at least the point for ONE,
    /// `β` and `δ` the same in G1 and G2, `γ ≠ δ`, and `δ` not the generator.
    ///
    /// That `γ` is the generator is no fault: ceremonies of Zcash's kind choose `γ = 1`, since only `δ` needs
    /// contributions once `γ ≠ δ`.
    pub fn check(&self) -> Result<(), KeyError> {
        if self.ic.is_empty() {
            return Err(KeyError::NoInputs);
        }
        for (section, point) in [
            (Section::AlphaG1, &self.alpha_g1),
            (Section::BetaG1, &self.beta_g1),
            (Section::DeltaG1, &self.delta_g1),
        ] {
            check_point::<G1>(section, 0, point)?;
        }
        for (section, point) in [
            (Section::BetaG2, &self.beta_g2),
            (Section::GammaG2, &self.gamma_g2),
            (Section::DeltaG2, &self.delta_g2),
        ] {
            check_point::<G2>(section, 0, point)?;
        }
        let bad = self
            .ic
            .par_iter()
            .enumerate()
            .find_map_first(|(i, point)| check_point::<G1>(Section::Ic, i, point).err());
        if let Some(error) = bad {
            return Err(error);
        }
        if self.gamma_g2 == self.delta_g2 {
            return Err(KeyError::GammaIsDelta);
        }
        if self.delta_g2 == G2Affine::generator() {
            return Err(KeyError::Generator(Section::DeltaG2));
        }
        if self.delta_g1 == G1Affine::generator() {
            return Err(KeyError::Generator(Section::DeltaG1));
        }
        if !same_logarithm(&self.beta_g1, &self.beta_g2) {
            return Err(KeyError::Mismatch(Section::BetaG1, Section::BetaG2));
        }
        if !same_logarithm(&self.delta_g1, &self.delta_g2) {
            return Err(KeyError::Mismatch(Section::DeltaG1, Section::DeltaG2));
        }
        Ok(())
    }

    /// Whether `γ` is one, that is, [`gamma_g2`](Self::gamma_g2) the generator of G2. So it is in Filecoin's ceremonies, whose
    /// second phase contributes to `δ` alone, and not in [test parameters](crate::ToxicWaste::random). This tells
    /// files that were mixed up apart; it is no defence against one who makes them to deceive, for which a
    /// [digest](crate::ReadOptions::digest) is.
    pub fn gamma_is_one(&self) -> bool {
        self.gamma_g2 == G2Affine::generator()
    }

    /// Writes the key's bytes.
    pub fn write(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        out.write_all(&self.alpha_g1.to_uncompressed())?;
        out.write_all(&self.beta_g1.to_uncompressed())?;
        out.write_all(&self.beta_g2.to_uncompressed())?;
        out.write_all(&self.gamma_g2.to_uncompressed())?;
        out.write_all(&self.delta_g1.to_uncompressed())?;
        out.write_all(&self.delta_g2.to_uncompressed())?;
        write_points::<G1>(&self.ic, out)
    }

    /// Writes a `.vk` file, completely or not at all; as test parameters, so not to where a ceremony's files are.
    pub fn write_file(&self, path: impl AsRef<Path>) -> Result<(), ParameterError> {
        files::write_test_file(path.as_ref(), |out| self.write(out))
    }
}

fn check_point<C: Curve>(section: Section, index: usize, point: &C::Affine) -> Result<(), KeyError> {
    let source = if bool::from(point.is_identity()) {
        PointError::Infinity
    } else if !C::is_in_subgroup(point) {
        PointError::NotInSubgroup
    } else {
        return Ok(());
    };
    Err(KeyError::Point { section, index, source })
}

/// `e(p, G2) = e(G1, q)`, as `e(p, G2) · e(-G1, q) = 1`.
fn same_logarithm(p: &G1Affine, q: &G2Affine) -> bool {
    let (generator, prepared) = (G2Prepared::from(G2Affine::generator()), G2Prepared::from(*q));
    let terms = [(p, &generator), (&-G1Affine::generator(), &prepared)];
    Bls12::multi_miller_loop(&terms).final_exponentiation().is_identity().into()
}

/// A section's number of points, as it stands in a file.
pub(crate) fn section_length(points: usize) -> io::Result<[u8; 4]> {
    u32::try_from(points)
        .map(u32::to_be_bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "more points than a section can count"))
}

/// A section: the number of points, then the points.
pub(crate) fn write_points<C: Encoding>(
    points: &[C::Affine],
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    out.write_all(&section_length(points.len())?)?;
    let mut buffer = Vec::new();
    for points in points.chunks(1 << 14) {
        buffer.resize(points.len() * C::BYTES, 0);
        points
            .par_iter()
            .zip(buffer.par_chunks_exact_mut(C::BYTES))
            .for_each(|(point, bytes)| C::write_uncompressed(point, bytes));
        out.write_all(&buffer)?;
    }
    Ok(())
}
