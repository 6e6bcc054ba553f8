//! Proving parameters and their files.

use std::io::{self, Read, Write};
use std::path::Path;

use blstrs::{G1Affine, G2Affine};
use msm_gpu::cpu::check_subgroup;
use msm_gpu::{Curve, G1, G2};
use rand_core::{CryptoRng, RngCore};

use crate::files::{self, Opened};
use crate::key::write_points;
use crate::shape::file_size;
use crate::source::Source;
use crate::{ParameterError, PointError, Section, Shape, VerifyingKey};

/// What a prover needs for one circuit. With `A_i`, `B_i`, `C_i` the polynomials of variable `i`, and `t` the vanishing polynomial:
///
/// As bytes (a `.params` file): the verifying key, then each of the vectors below as its number (32 bits, big-endian) and its points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    /// The verifying key.
    pub vk: VerifyingKey,
    /// `τ^i·t(τ)/δ · G1` for `i` up to `n - 2`, with `n` the size of the domain.
    pub h: Vec<G1Affine>,
    /// `(β·A_i(τ) + α·B_i(τ) + C_i(τ)) / δ · G1` for each auxiliary variable.
    pub l: Vec<G1Affine>,
    /// `A_i(τ)·G1` for each input, then for each auxiliary variable that occurs in A.
    pub a: Vec<G1Affine>,
    /// `B_i(τ)·G1` for each input that occurs in B, then for each auxiliary variable that does.
    pub b_g1: Vec<G1Affine>,
    /// `B_i(τ)·G2` for the same.
    pub b_g2: Vec<G2Affine>,
}

/// How to read a parameter file.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOptions<'a> {
    /// The digest that the whole file must have: the first 32 hex characters of BLAKE2b-512.
    pub digest: Option<&'a str>,
    /// The circuit that the parameters must fit.
    pub shape: Option<&'a Shape>,
}

/// How to prove from a parameter file.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileOptions<'a> {
    /// The digest that the whole file must have, as in [`ReadOptions`]. All of it is read once more for that.
    pub digest: Option<&'a str>,
    /// Whether all points are checked to be in the subgroup of prime order, as by [`Parameters::check_subgroups`], before the first proof.
    pub check_subgroups: bool,
}

impl Parameters {
    /// Reads a `.params` file into memory that this process owns.
    ///
    /// Every length is checked against the bytes that remain before anything is allocated, every point is canonical, on the curve and
    /// not at infinity, and the verifying key is [checked](VerifyingKey::check). Membership of the other points in the prime-order
    /// subgroup is not: see [`check_subgroups`](Self::check_subgroups). Bytes after the last section are
    /// allowed, since ceremony files carry their transcript there, and noted in the log.
    pub fn read_file(path: impl AsRef<Path>, options: ReadOptions<'_>) -> Result<Self, ParameterError> {
        let path = path.as_ref();
        let opened = Opened::new(path)?;
        let _span = tracing::info_span!("read parameters", bytes = opened.len).entered();
        let parameters = Self::read(&opened.file, opened.len, options)?;
        Opened::check_unchanged(&opened.file, opened.len, opened.modified())?;
        Ok(parameters)
    }

    /// [`read_file`](Self::read_file) from any reader that is to give `len` bytes.
    pub fn read(reader: impl Read, len: u64, options: ReadOptions<'_>) -> Result<Self, ParameterError> {
        let mut source = Source::new(reader, len, options.digest.is_some());
        let vk = VerifyingKey::read_from(&mut source)?;
        let shape = options.shape;
        if let Some(shape) = shape {
            shape.check(Section::Ic, vk.ic.len())?;
        }
        let parameters = Self {
            vk,
            h: source.points::<G1>(Section::H, shape)?,
            l: source.points::<G1>(Section::L, shape)?,
            a: source.points::<G1>(Section::A, shape)?,
            b_g1: source.points::<G1>(Section::BG1, shape)?,
            b_g2: source.points::<G2>(Section::BG2, shape)?,
        };
        if source.remaining() > 0 {
            tracing::info!(bytes = source.remaining(), "bytes follow the last section of the parameters");
        }
        let digest = source.finish()?;
        if let (Some(expected), Some(got)) = (options.digest, digest)
            && !expected.eq_ignore_ascii_case(&got)
        {
            return Err(ParameterError::Digest { expected: expected.to_owned(), got });
        }
        Ok(parameters)
    }

    /// That the vectors have the lengths that a circuit asks for.
    pub fn check_shape(&self, shape: &Shape) -> Result<(), ParameterError> {
        shape.check(Section::Ic, self.vk.ic.len())?;
        shape.check(Section::H, self.h.len())?;
        shape.check(Section::L, self.l.len())?;
        shape.check(Section::A, self.a.len())?;
        shape.check(Section::BG1, self.b_g1.len())?;
        shape.check(Section::BG2, self.b_g2.len())
    }

    /// That all points are in the subgroup of prime order, by sums over random buckets
    /// ([`msm_gpu::cpu::check_subgroup`]); a bad point is missed with probability below `2^-80`. Once for each file is enough: keep its digest.
    pub fn check_subgroups(&self, rng: &mut (impl RngCore + CryptoRng)) -> Result<(), ParameterError> {
        check_points::<G1>(Section::H, 0, &self.h, rng)?;
        check_points::<G1>(Section::L, 0, &self.l, rng)?;
        check_points::<G1>(Section::A, 0, &self.a, rng)?;
        check_points::<G1>(Section::BG1, 0, &self.b_g1, rng)?;
        check_points::<G2>(Section::BG2, 0, &self.b_g2, rng)
    }

    /// Writes the file's bytes.
    pub fn write(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        self.vk.write(out)?;
        write_points::<G1>(&self.h, out)?;
        write_points::<G1>(&self.l, out)?;
        write_points::<G1>(&self.a, out)?;
        write_points::<G1>(&self.b_g1, out)?;
        write_points::<G2>(&self.b_g2, out)
    }

    /// Writes a `.params` file, completely or not at all; as test parameters, so not to where a ceremony's files are.
    pub fn write_file(&self, path: impl AsRef<Path>) -> Result<(), ParameterError> {
        files::write_test_file(path.as_ref(), |out| self.write(out))
    }

    /// The bytes of a file with these parameters.
    pub fn file_size(&self) -> u64 {
        let g1 = self.vk.ic.len() + self.h.len() + self.l.len() + self.a.len() + self.b_g1.len();
        file_size(g1, self.b_g2.len())
    }
}

/// That points of a section from `first` on are in the subgroup of prime order.
pub(crate) fn check_points<C: Curve>(
    section: Section,
    first: usize,
    points: &[C::Affine],
    rng: &mut (impl RngCore + CryptoRng),
) -> Result<(), ParameterError> {
    check_subgroup::<C>(points, rng).map_err(|error| {
        let index = match error {
            msm_gpu::Error::NotInSubgroup { index } => index,
            _ => 0,
        };
        ParameterError::Point { section, index: first + index, source: PointError::NotInSubgroup }
    })
}
