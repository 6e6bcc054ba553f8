//! Where the points of a setup go as they are made.

use std::fs::File;
use std::os::unix::fs::FileExt;

use bytemuck::Zeroable;
use gpu::{DeviceBuffer, Fr};
use msm_gpu::device::{FixedBase, Source};
use msm_gpu::{G1, G2};

use super::Workshop;
use super::query::{Group, OfInputs, Query};
use crate::encoding::Encoding;
use crate::key::section_length;
use crate::{ParameterError, Parameters, Section, SetupError, Shape, VerifyingKey};

/// The points of a query for auxiliary variables, as they are made in chunks.
pub(super) trait Target<C: Group> {
    /// `scalars[i]·base` becomes point `first + i`. The scalars may go when this returns.
    fn multiply(
        &mut self,
        first: usize,
        scalars: &DeviceBuffer<Fr>,
        base: &FixedBase<'_, C>,
        workshop: &Workshop,
    ) -> Result<(), SetupError>;
}

/// All queries' targets.
pub(super) struct Targets<'a> {
    pub(super) h: &'a mut dyn Target<G1>,
    pub(super) l: &'a mut dyn Target<G1>,
    pub(super) a: &'a mut dyn Target<G1>,
    pub(super) b_g1: &'a mut dyn Target<G1>,
    pub(super) b_g2: &'a mut dyn Target<G2>,
}

/// Where a prover keeps them.
impl<C: Group> Target<C> for Query<C> {
    fn multiply(
        &mut self,
        first: usize,
        scalars: &DeviceBuffer<Fr>,
        base: &FixedBase<'_, C>,
        workshop: &Workshop,
    ) -> Result<(), SetupError> {
        let scalars = Source::Device(scalars);
        match self {
            Self::Device(to) => base.multiply_into(scalars, to, first)?,
            Self::Pinned(to) => {
                let range = first..first + scalars.len();
                base.multiply(scalars)?.copy_to_pinned(workshop.stream(), 0, to, range)?;
            }
            // Its points are made already.
            Self::Host(_) => {}
        }
        Ok(())
    }
}

/// Host memory.
struct Words<C: Group>(Vec<C::Words>);

impl<C: Group> Words<C> {
    fn new(section: Section, shape: &Shape) -> Result<Self, ParameterError> {
        let count = aux_points(section, shape);
        let mut words = Vec::new();
        words.try_reserve_exact(count).map_err(|_| ParameterError::OutOfMemory { section, count })?;
        words.resize(count, C::Words::zeroed());
        Ok(Self(words))
    }

    /// Its points behind those of inputs.
    fn behind(self, mut inputs: Vec<C::Affine>) -> Vec<C::Affine> {
        inputs.reserve_exact(self.0.len());
        inputs.extend_from_slice(C::affine(&self.0));
        inputs
    }
}

impl<C: Group> Target<C> for Words<C> {
    fn multiply(
        &mut self,
        first: usize,
        scalars: &DeviceBuffer<Fr>,
        base: &FixedBase<'_, C>,
        workshop: &Workshop,
    ) -> Result<(), SetupError> {
        let points = base.multiply(Source::Device(scalars))?;
        let to = self.0.get_mut(first..).and_then(|rest| rest.get_mut(..points.len()));
        let staging = workshop.msm.staging();
        Ok(staging.download_into(workshop.stream(), &points, 0, to.unwrap_or_default())?)
    }
}

/// A part of a file.
struct Part<'f> {
    file: &'f File,
    at: u64,
}

impl<C: Group> Target<C> for Part<'_> {
    fn multiply(
        &mut self,
        first: usize,
        scalars: &DeviceBuffer<Fr>,
        base: &FixedBase<'_, C>,
        workshop: &Workshop,
    ) -> Result<(), SetupError> {
        let points = base.multiply(Source::Device(scalars))?;
        let offset = |point: usize| self.at + (point * C::BYTES) as u64;
        workshop.msm.staging().drain(workshop.stream(), &points, 0..points.len(), |i, words| {
            Ok(write_at::<C>(self.file, offset(first + i), C::affine(words))?)
        })
    }
}

/// Makes parameters in host memory.
pub(super) fn in_memory(
    shape: &Shape,
    make: impl FnOnce(&mut Targets<'_>) -> Result<(VerifyingKey, OfInputs), SetupError>,
) -> Result<Parameters, SetupError> {
    let g1 = |section| Words::<G1>::new(section, shape);
    let [mut h, mut l, mut a, mut b_g1] =
        [g1(Section::H)?, g1(Section::L)?, g1(Section::A)?, g1(Section::BG1)?];
    let mut b_g2 = Words::<G2>::new(Section::BG2, shape)?;
    let mut targets = Targets { h: &mut h, l: &mut l, a: &mut a, b_g1: &mut b_g1, b_g2: &mut b_g2 };
    let (vk, of_inputs) = make(&mut targets)?;
    Ok(Parameters {
        vk,
        h: h.behind(Vec::new()),
        l: l.behind(Vec::new()),
        a: a.behind(of_inputs.a),
        b_g1: b_g1.behind(of_inputs.b_g1),
        b_g2: b_g2.behind(of_inputs.b_g2),
    })
}

/// Makes a parameter file.
pub(super) fn in_file(
    file: &File,
    shape: &Shape,
    make: impl FnOnce(&mut Targets<'_>) -> Result<(VerifyingKey, OfInputs), SetupError>,
) -> Result<VerifyingKey, SetupError> {
    let part = |section, bytes: usize| Part {
        file,
        at: shape.offset(section) + (shape.input_points(section) * bytes) as u64,
    };
    let [mut h, mut l, mut a, mut b_g1] =
        [Section::H, Section::L, Section::A, Section::BG1].map(|section| part(section, G1::BYTES));
    let mut b_g2 = part(Section::BG2, G2::BYTES);
    let mut targets = Targets { h: &mut h, l: &mut l, a: &mut a, b_g1: &mut b_g1, b_g2: &mut b_g2 };
    let (vk, of_inputs) = make(&mut targets)?;
    let failed = || ParameterError::io("writing points");
    let mut key = Vec::new();
    vk.write(&mut key).map_err(failed())?;
    file.write_all_at(&key, 0).map_err(failed())?;
    for section in [Section::H, Section::L, Section::A, Section::BG1, Section::BG2] {
        let length = section_length(shape.points(section)).map_err(failed())?;
        file.write_all_at(&length, shape.offset(section) - 4).map_err(failed())?;
    }
    write_at::<G1>(file, shape.offset(Section::A), &of_inputs.a)?;
    write_at::<G1>(file, shape.offset(Section::BG1), &of_inputs.b_g1)?;
    write_at::<G2>(file, shape.offset(Section::BG2), &of_inputs.b_g2)?;
    Ok(vk)
}

/// A query's points for auxiliary variables.
pub(super) fn aux_points(section: Section, shape: &Shape) -> usize {
    shape.points(section) - shape.input_points(section)
}

/// Writes encoded points to a file, from an offset on.
fn write_at<C: Encoding>(file: &File, at: u64, points: &[C::Affine]) -> Result<(), ParameterError> {
    let mut bytes = vec![0; points.len() * C::BYTES];
    for (point, bytes) in points.iter().zip(bytes.chunks_exact_mut(C::BYTES)) {
        C::write_uncompressed(point, bytes);
    }
    file.write_all_at(&bytes, at).map_err(ParameterError::io("writing points"))
}
