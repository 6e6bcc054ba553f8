//! Where the points of a setup go as they are made.

use std::fs::File;
use std::ops::Range;
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
    ///
    /// # Errors
    /// Points that the query has no place for: nothing is written.
    fn multiply(
        &mut self,
        first: usize,
        scalars: &DeviceBuffer<Fr>,
        base: &FixedBase<'_, C>,
        workshop: &Workshop,
    ) -> Result<(), SetupError>;
}

/// Something for each query: four in G1 and one in G2.
pub(super) struct Queries<P, Q> {
    pub(super) h: P,
    pub(super) l: P,
    pub(super) a: P,
    pub(super) b_g1: P,
    pub(super) b_g2: Q,
}

/// All queries' targets.
pub(super) type Targets<'a> = Queries<&'a mut dyn Target<G1>, &'a mut dyn Target<G2>>;

/// What makes all points: those of auxiliary variables go to the targets, the others are returned.
type Made = Result<(VerifyingKey, OfInputs), SetupError>;

impl<P: Target<G1>, Q: Target<G2>> Queries<P, Q> {
    /// A target for each, and what fills them.
    pub(super) fn make<E: Into<SetupError>>(
        g1: impl Fn(Section) -> Result<P, E>,
        g2: impl FnOnce(Section) -> Result<Q, E>,
        make: impl FnOnce(&mut Targets<'_>) -> Made,
    ) -> Result<(Self, VerifyingKey, OfInputs), SetupError> {
        let g1 = |section| g1(section).map_err(Into::into);
        let mut queries = Self {
            h: g1(Section::H)?,
            l: g1(Section::L)?,
            a: g1(Section::A)?,
            b_g1: g1(Section::BG1)?,
            b_g2: g2(Section::BG2).map_err(Into::into)?,
        };
        let Self { h, l, a, b_g1, b_g2 } = &mut queries;
        let (vk, of_inputs) = make(&mut Queries { h, l, a, b_g1, b_g2 })?;
        Ok((queries, vk, of_inputs))
    }
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
struct Words<C: Group> {
    section: Section,
    points: Vec<C::Words>,
}

impl<C: Group> Words<C> {
    fn new(section: Section, shape: &Shape) -> Result<Self, ParameterError> {
        let count = aux_points(section, shape);
        let mut points = Vec::new();
        points.try_reserve_exact(count).map_err(|_| ParameterError::OutOfMemory { section, count })?;
        points.resize(count, C::Words::zeroed());
        Ok(Self { section, points })
    }

    /// Its points behind those of inputs.
    fn behind(self, mut inputs: Vec<C::Affine>) -> Vec<C::Affine> {
        inputs.reserve_exact(self.points.len());
        inputs.extend_from_slice(C::affine(&self.points));
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
        let to = places(self.section, &mut self.points, first..first + scalars.len())?;
        let points = base.multiply(Source::Device(scalars))?;
        Ok(workshop.msm.staging().download_into(workshop.stream(), &points, 0, to)?)
    }
}

/// A part of a file.
struct Part<'f> {
    file: &'f File,
    section: Section,
    at: u64,
    points: usize,
}

impl<'f> Part<'f> {
    fn new<C: Encoding>(section: Section, shape: &Shape, file: &'f File) -> Self {
        let at = shape.offset(section) + (shape.input_points(section) * C::BYTES) as u64;
        Self { file, section, at, points: aux_points(section, shape) }
    }
}

impl<C: Group> Target<C> for Part<'_> {
    fn multiply(
        &mut self,
        first: usize,
        scalars: &DeviceBuffer<Fr>,
        base: &FixedBase<'_, C>,
        workshop: &Workshop,
    ) -> Result<(), SetupError> {
        let range = first..first + scalars.len();
        if range.end > self.points {
            // They would overwrite the next section.
            return Err(ParameterError::Range { section: self.section, range, len: self.points }.into());
        }
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
    make: impl FnOnce(&mut Targets<'_>) -> Made,
) -> Result<Parameters, SetupError> {
    let (queries, vk, of_inputs) = Queries::make(
        |section| Words::<G1>::new(section, shape),
        |section| Words::<G2>::new(section, shape),
        make,
    )?;
    Ok(Parameters {
        vk,
        h: queries.h.behind(Vec::new()),
        l: queries.l.behind(Vec::new()),
        a: queries.a.behind(of_inputs.a),
        b_g1: queries.b_g1.behind(of_inputs.b_g1),
        b_g2: queries.b_g2.behind(of_inputs.b_g2),
    })
}

/// Makes a parameter file.
pub(super) fn in_file(
    file: &File,
    shape: &Shape,
    make: impl FnOnce(&mut Targets<'_>) -> Made,
) -> Result<VerifyingKey, SetupError> {
    let g1 = |section| Ok::<_, SetupError>(Part::new::<G1>(section, shape, file));
    let g2 = |section| Ok(Part::new::<G2>(section, shape, file));
    let (_, vk, of_inputs) = Queries::make(g1, g2, make)?;
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

/// Some of a query's points.
pub(super) fn places<T>(
    section: Section,
    points: &mut [T],
    range: Range<usize>,
) -> Result<&mut [T], ParameterError> {
    let len = points.len();
    points.get_mut(range.clone()).ok_or(ParameterError::Range { section, range, len })
}

/// Writes encoded points to a file, from an offset on.
fn write_at<C: Encoding>(file: &File, at: u64, points: &[C::Affine]) -> Result<(), ParameterError> {
    let mut bytes = vec![0; points.len() * C::BYTES];
    for (point, bytes) in points.iter().zip(bytes.chunks_exact_mut(C::BYTES)) {
        C::write_uncompressed(point, bytes);
    }
    file.write_all_at(&bytes, at).map_err(ParameterError::io("writing points"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_outside_their_query_are_refused_by_name() {
        let mut points = [0; 10];
        assert_eq!(places(Section::L, &mut points, 7..10).unwrap(), [0; 3]);
        assert_eq!(places(Section::L, &mut points, 10..10).unwrap(), [0; 0]);
        for range in [7..11, 10..11, 12..13] {
            let error = places(Section::L, &mut points, range.clone()).unwrap_err();
            let text = format!("section l: points {}..{} are not among its 10", range.start, range.end);
            assert_eq!(error.to_string(), text);
        }
    }
}
