//! One query of a prover on a device: in device memory, in pinned memory, or where its points come from.

use std::error::Error;
use std::marker::PhantomData;
use std::sync::Arc;

use blstrs::{G1Affine, G2Affine};
use bytemuck::Zeroable;
use gpu::{DeviceBuffer, PinnedBuffer};
use msm_gpu::device::{DeviceCurve, Reader, Source};
use msm_gpu::{G1, G2};
use rand_core::OsRng;
use rayon::prelude::*;

use super::Workshop;
use super::target::{aux_points, places};
use crate::encoding::Encoding;
use crate::parameters::check_points;
use crate::points::{ParameterFile, STRETCH};
use crate::{Origin, ParameterError, Parameters, Place, ProveError, Section};

/// A group that parameters have points of.
pub(super) trait Group: DeviceCurve + Encoding {}
impl Group for G1 {}
impl Group for G2 {}

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
        let mut memory = Vec::new();
        for first in (0..host.points).step_by(STRETCH) {
            let count = STRETCH.min(host.points - first);
            let points = host.stretch(first, count, &mut memory)?;
            match &mut room {
                Self::Device(to) => {
                    workshop.msm.staging().upload_at(workshop.stream(), to, first, C::words(points))?;
                }
                Self::Pinned(to) => {
                    let to = places(host.section, to.as_mut_slice()?, first..first + count)?;
                    to.par_iter_mut().zip(C::words(points)).for_each(|(to, point)| *to = *point);
                }
                Self::Host(_) => {}
            }
        }
        Ok(room)
    }

    /// That all points are in the subgroup of prime order: on the device, wherever they are. `host` is where they come from.
    pub(super) fn check_subgroup(&self, host: &HostQuery<C>, workshop: &Workshop) -> Result<(), ProveError> {
        if workshop.msm.are_in_subgroup::<C>(self.source(), &mut OsRng)? {
            return Ok(());
        }
        // The processor finds out which.
        let mut memory = Vec::new();
        for first in (0..host.points).step_by(STRETCH) {
            let count = STRETCH.min(host.points - first);
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
            Self::Host(query) => Source::Reader(query),
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

    fn read_words(&self, first: usize, out: &mut [C::Words]) -> Result<(), ParameterError> {
        // Behind the last point there is infinity, all zero.
        let count = out.len().min(self.points.saturating_sub(first));
        let (out, padding) = out.split_at_mut(count);
        padding.fill(C::Words::zeroed());
        let first = self.inputs + first;
        let copy = |out: &mut [C::Words], points: &[C::Affine]| {
            out.iter_mut().zip(C::words(points)).for_each(|(out, point)| *out = *point);
        };
        match &self.parameters {
            HostParameters::Memory(parameters) => copy(out, self.held(parameters, first, count)?),
            HostParameters::File(file) => {
                let mut points = vec![C::Affine::default(); count];
                file.read_points::<C>(self.section, first, &mut points)?;
                copy(out, &points);
            }
        }
        Ok(())
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
