//! One query of a prover on a device: in device memory, in pinned memory, or where its points come from.

use std::error::Error;
use std::marker::PhantomData;
use std::sync::Arc;

use blstrs::{G1Affine, G2Affine};
use bytemuck::Zeroable;
use gpu::{DeviceBuffer, PinnedBuffer};
use msm_gpu::device::{Decoder, DeviceCurve, Encoded, Reader, Source};
use msm_gpu::{G1, G2};
use rand_core::OsRng;
use rayon::prelude::*;

use super::Workshop;
use super::target::{aux_points, places};
use crate::encoding::Encoding;
use crate::parameters::check_points;
use crate::points::ParameterFile;
use crate::{Origin, ParameterError, Parameters, Place, ProveError, Section};

/// Points of a file that are decoded at a time on their way to pinned memory. A sum's scratch takes more of the device.
const STRETCH: usize = 1 << 19;
/// Points that the processor looks at at a time, to name a bad one.
const LOOKED_AT: usize = 1 << 16;

/// A group that parameters have points of.
pub(super) trait Group: DeviceCurve + Encoding {}
impl Group for G1 {}
impl Group for G2 {}

// A file's bytes of a point become the device's words in their place.
const _: () = assert!(G1::BYTES == size_of::<<G1 as DeviceCurve>::Words>());
const _: () = assert!(G2::BYTES == size_of::<<G2 as DeviceCurve>::Words>());

/// Parameters on the host, whose shape has been checked.
#[derive(Debug, Clone)]
pub(crate) enum HostParameters {
    /// In memory.
    Memory(Arc<Parameters>),
    /// In their file.
    File(Arc<ParameterFile>),
}

/// A query's points for auxiliary variables. To H belongs one more, at infinity, so that the quotient's coefficients fit it as they are.
#[derive(Debug)]
pub(super) enum Query<C: DeviceCurve> {
    Device(DeviceBuffer<C::Words>),
    Pinned(PinnedBuffer<C::Words>),
    Host(HostQuery<C>),
}

/// A query of parameters on the host.
#[derive(Debug)]
pub(super) struct HostQuery<C> {
    parameters: HostParameters,
    section: Section,
    /// Points of inputs, which come first.
    inputs: usize,
    /// The others.
    points: usize,
    curve: PhantomData<fn() -> C>,
}

impl<C: Group> Query<C> {
    /// Room for a query where a prover keeps its points; none where it does not keep them.
    pub(super) fn room(
        section: Section,
        place: Place,
        points: usize,
        workshop: &Workshop,
    ) -> Result<Option<Self>, gpu::Error> {
        let padding = padding(section);
        let stream = workshop.stream();
        Ok(match place {
            Place::Device => {
                let mut buffer = workshop.pool.allocate::<C::Words>(points + padding, stream)?;
                if padding > 0 {
                    buffer.upload_at(stream, points, &[C::Words::zeroed()])?;
                }
                Some(Self::Device(buffer))
            }
            // All zero at first.
            Place::Pinned => Some(Self::Pinned(PinnedBuffer::new(workshop.pool.device(), points + padding)?)),
            Place::Origin => None,
        })
    }

    /// A query from the host, in its place.
    pub(super) fn load(host: HostQuery<C>, place: Place, workshop: &Workshop) -> Result<Self, ProveError> {
        let Some(mut room) = Self::room(host.section, place, host.points, workshop)? else {
            return Ok(Self::Host(host));
        };
        match &host.parameters {
            HostParameters::Memory(parameters) => {
                let points = host.held(parameters, host.inputs, host.points)?;
                room.copy(host.section, C::words(points), workshop)?;
            }
            HostParameters::File(_) => room.decode(&host, workshop)?,
        }
        Ok(room)
    }

    /// Copies points to their place.
    fn copy(&mut self, section: Section, points: &[C::Words], workshop: &Workshop) -> Result<(), ProveError> {
        match self {
            Self::Device(to) => workshop.msm.staging().upload_at(workshop.stream(), to, 0, points)?,
            Self::Pinned(to) => {
                let to = places(section, to.as_mut_slice()?, 0..points.len())?;
                to.par_iter_mut().zip(points).for_each(|(to, point)| *to = *point);
            }
            Self::Host(_) => {}
        }
        Ok(())
    }

    /// Brings a file's bytes to the device, which decodes them, and the points to their place.
    fn decode(&mut self, host: &HostQuery<C>, workshop: &Workshop) -> Result<(), ProveError> {
        let (stream, staging) = (workshop.stream(), workshop.msm.staging());
        let mut decoder = Decoder::new(&workshop.pool, stream)?;
        let mut bring = |to: &mut DeviceBuffer<C::Words>, first: usize, count: usize| {
            let read = |i: usize, out: &mut [C::Words]| Ok(host.read_words(first + i, out)?);
            staging.fill::<_, ProveError>(stream, to, 0, count, read)?;
            Ok::<_, ProveError>(decoder.decode::<C>(to, 0..count, first, stream)?)
        };
        match self {
            Self::Device(to) => bring(to, 0, host.points)?,
            Self::Pinned(to) => {
                let mut stretch = workshop.pool.allocate(STRETCH.min(host.points), stream)?;
                for first in (0..host.points).step_by(STRETCH) {
                    let count = STRETCH.min(host.points - first);
                    bring(&mut stretch, first, count)?;
                    stretch.copy_to_pinned(stream, 0, to, first..first + count)?;
                }
            }
            Self::Host(_) => {}
        }
        decoder.finish(stream).map_err(|error| host.explain(error))
    }

    /// That all points are in the subgroup of prime order: on the device, wherever they are. `host` is where they come from.
    pub(super) fn check_subgroup(&self, host: &HostQuery<C>, workshop: &Workshop) -> Result<(), ProveError> {
        let checked = workshop.msm.are_in_subgroup::<C>(self.source(), &mut OsRng);
        if checked.map_err(|error| host.explain(error))? {
            return Ok(());
        }
        // The processor finds out which.
        let mut memory = Vec::new();
        for first in (0..host.points).step_by(LOOKED_AT) {
            let count = LOOKED_AT.min(host.points - first);
            host.check_subgroup(first, host.stretch(first, count, &mut memory)?)?;
        }
        Err(ParameterError::Disagreement { section: host.section }.into())
    }

    /// That the file is still what it was, where the points are in one.
    pub(super) fn check_unchanged(&self) -> Result<(), ParameterError> {
        match self {
            Self::Host(query) => query.parameters.check_unchanged(),
            Self::Device(_) | Self::Pinned(_) => Ok(()),
        }
    }

    /// For a multiplication.
    pub(super) fn source(&self) -> Source<'_, C::Words> {
        match self {
            Self::Device(buffer) => Source::Device(buffer),
            Self::Pinned(buffer) => Source::Pinned(buffer),
            Self::Host(query) => match query.parameters {
                HostParameters::Memory(_) => Source::Reader(query),
                HostParameters::File(_) => Source::Encoded(Encoded::new::<C>(query, query.points)),
            },
        }
    }

    /// What a multiplication over the query says, with a bad point's own error.
    pub(super) fn explain(&self, error: msm_gpu::Error) -> ProveError {
        match self {
            Self::Host(query) => query.explain(error),
            Self::Device(_) | Self::Pinned(_) => error.into(),
        }
    }
}

/// Points at infinity at the end.
fn padding(section: Section) -> usize {
    usize::from(section == Section::H)
}

impl HostParameters {
    /// That a file is still what it was.
    pub(super) fn check_unchanged(&self) -> Result<(), ParameterError> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::File(file) => file.check_unchanged(),
        }
    }

    pub(super) fn origin(&self) -> Origin {
        match self {
            Self::Memory(_) => Origin::Memory,
            Self::File(_) => Origin::File,
        }
    }

    /// A query's points for auxiliary variables.
    pub(super) fn query<C: Group>(&self, section: Section, workshop: &Workshop) -> HostQuery<C> {
        let shape = &workshop.shape;
        let inputs = shape.input_points(section);
        let points = aux_points(section, shape);
        HostQuery { parameters: self.clone(), section, inputs, points, curve: PhantomData }
    }

    /// A query's points for inputs.
    pub(super) fn of_inputs<C: Group>(
        &self,
        section: Section,
        check: bool,
        workshop: &Workshop,
    ) -> Result<Vec<C::Affine>, ProveError> {
        let points = workshop.shape.input_points(section);
        let (parameters, curve) = (self.clone(), PhantomData);
        let host = HostQuery::<C> { parameters, section, inputs: 0, points, curve };
        let mut memory = Vec::new();
        let points = host.stretch(0, points, &mut memory)?;
        if check {
            host.check_subgroup(0, points)?;
        }
        Ok(points.to_vec())
    }
}

impl<C: Group> HostQuery<C> {
    /// Some points: where they are, or as they are read into this memory.
    fn stretch<'a>(
        &'a self,
        first: usize,
        count: usize,
        memory: &'a mut Vec<C::Affine>,
    ) -> Result<&'a [C::Affine], ParameterError> {
        let first = self.inputs + first;
        match &self.parameters {
            HostParameters::Memory(parameters) => self.held(parameters, first, count),
            HostParameters::File(file) => {
                memory.resize(count, C::Affine::default());
                file.read_in_parallel::<C>(self.section, first, memory)?;
                Ok(memory)
            }
        }
    }

    /// Some points of parameters in memory, counted from the section's beginning.
    fn held<'a>(
        &self,
        parameters: &'a Parameters,
        first: usize,
        count: usize,
    ) -> Result<&'a [C::Affine], ParameterError> {
        let all = C::section(parameters, self.section);
        all.get(first..).and_then(|rest| rest.get(..count)).ok_or(ParameterError::Shape {
            section: self.section,
            expected: self.inputs + self.points,
            got: all.len(),
        })
    }

    fn check_subgroup(&self, first: usize, points: &[C::Affine]) -> Result<(), ParameterError> {
        check_points::<C>(self.section, self.inputs + first, points, &mut OsRng)
    }

    /// What the device says of the query, with a bad point's own error, which is the processor's.
    fn explain(&self, error: msm_gpu::Error) -> ProveError {
        let msm_gpu::Error::Encoding { index } = error else { return error.into() };
        let looked = self.stretch(index, 1, &mut Vec::new()).map(drop);
        // A file that is changed under the reader shows the processor something else.
        let error = looked.and_then(|()| self.parameters.check_unchanged()).err();
        error.unwrap_or(ParameterError::Disagreement { section: self.section }).into()
    }

    /// Points as they are in memory, or, from a file, their bytes as they are there.
    fn read_words(&self, first: usize, out: &mut [C::Words]) -> Result<(), ParameterError> {
        // Behind the last point there is infinity, all zero.
        let count = out.len().min(self.points.saturating_sub(first));
        let (out, padding) = out.split_at_mut(count);
        padding.fill(C::Words::zeroed());
        let first = self.inputs + first;
        match &self.parameters {
            HostParameters::Memory(parameters) => {
                let points = C::words(self.held(parameters, first, count)?);
                out.iter_mut().zip(points).for_each(|(out, point)| *out = *point);
                Ok(())
            }
            HostParameters::File(file) => {
                file.read_bytes::<C>(self.section, first, bytemuck::cast_slice_mut(out))
            }
        }
    }
}

impl<C: Group> Reader<C::Words> for HostQuery<C> {
    fn len(&self) -> usize {
        self.points + padding(self.section)
    }

    fn read(&self, first: usize, out: &mut [C::Words]) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(self.read_words(first, out)?)
    }
}

/// The points that belong to inputs. They are few and stay on the host.
#[derive(Debug)]
pub(super) struct OfInputs {
    pub(super) a: Vec<G1Affine>,
    pub(super) b_g1: Vec<G1Affine>,
    pub(super) b_g2: Vec<G2Affine>,
}
