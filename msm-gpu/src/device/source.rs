//! Where inputs are, and how they get to the device.

use std::ops::Range;

use bytemuck::Pod;
use gpu::{DeviceBuffer, Fr, PinnedBuffer, Read, Stream};

use super::{Decoder, DeviceMsm, Encoded};
use crate::Error;

/// An input of a multiplication.
#[derive(Debug)]
pub enum Source<'a, T: Pod> {
    /// On the device already.
    Device(&'a DeviceBuffer<T>),
    /// In pinned host memory: it travels in chunks, while earlier chunks are worked on.
    Pinned(&'a PinnedBuffer<T>),
    /// In any host memory: the same, by way of the pinned pieces of [`DeviceMsm::staging`].
    Host(&'a [T]),
    /// Anywhere else, a file for instance: the same, and no more host memory than those pieces.
    Reader(&'a dyn Reader<T>),
    /// The same for points as a file has them: each chunk is decoded when it has come.
    Encoded(Encoded<'a, T>),
}

/// Elements that are read, or computed, piece by piece.
pub trait Reader<T>: std::fmt::Debug + Sync {
    /// Elements.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `out` with the elements from `first` on. Several threads call it at once for parts in rising order, so that a file is read
    /// about from front to back. It must not wait for a transfer through the same pinned pieces.
    ///
    /// # Errors
    /// Whatever went wrong; [`Error::Reader`] brings it back, the one of the least `first` where there are several.
    fn read(&self, first: usize, out: &mut [T]) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

impl<T: Pod> Clone for Source<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Pod> Copy for Source<'_, T> {}

impl<T: Pod> Source<'_, T> {
    /// Elements.
    pub fn len(&self) -> usize {
        match self {
            Source::Device(buffer) => buffer.len(),
            Source::Pinned(buffer) => buffer.len(),
            Source::Host(slice) => slice.len(),
            Source::Reader(reader) => reader.len(),
            Source::Encoded(encoded) => encoded.reader.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn is_on_device(&self) -> bool {
        matches!(self, Source::Device(_))
    }

    /// Bytes that each element takes on the device beyond what is there already.
    pub(crate) fn streamed_bytes(&self) -> u64 {
        if self.is_on_device() { 0 } else { size_of::<T>() as u64 }
    }
}

/// A plain 256-bit integer, least significant limb first. Any value: it counts modulo r.
pub type Integer = [u64; 4];

/// Scalars of a dense multiplication, by representation.
#[derive(Debug, Clone, Copy)]
pub enum Dense<'a> {
    /// Montgomery form, as in memory of [`blstrs::Scalar`]; below r.
    Montgomery(Source<'a, Fr>),
    /// Plain integers.
    Canonical(Source<'a, Integer>),
}

impl Dense<'_> {
    /// Scalars.
    pub fn len(&self) -> usize {
        match self {
            Dense::Montgomery(source) => source.len(),
            Dense::Canonical(source) => source.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Brings chunks of a source to the device, one ahead of the work.
#[derive(Debug)]
pub(crate) struct Feed<'a, T: Pod> {
    source: Source<'a, T>,
    /// Two chunks take turns: the one that is worked on and the one that comes next. None where the source is on the device.
    present: Option<DeviceBuffer<T>>,
    coming: Option<DeviceBuffer<T>>,
    /// From the first encoded chunk on.
    decoder: Option<Decoder>,
    msm: &'a DeviceMsm,
}

/// What brings a chunk.
#[derive(Debug)]
pub(crate) struct Bringer<'b, T: Pod> {
    source: Source<'b, T>,
    into: Option<&'b mut DeviceBuffer<T>>,
    decoder: &'b mut Option<Decoder>,
    msm: &'b DeviceMsm,
}

impl<'a, T: Pod + Sync> Feed<'a, T> {
    /// Room for the chunks; brings the first one.
    pub(crate) fn bases(
        source: Source<'a, T>,
        chunks: &[Range<usize>],
        msm: &'a DeviceMsm,
    ) -> Result<Self, Error> {
        Self::new(source, chunks, msm, false)
    }

    /// The same for scalars, which are secrets.
    pub(crate) fn scalars(
        source: Source<'a, T>,
        chunks: &[Range<usize>],
        msm: &'a DeviceMsm,
    ) -> Result<Self, Error> {
        Self::new(source, chunks, msm, true)
    }

    fn new(
        source: Source<'a, T>,
        chunks: &[Range<usize>],
        msm: &'a DeviceMsm,
        secret: bool,
    ) -> Result<Self, Error> {
        let longest = chunks.iter().map(Range::len).max().unwrap_or(0);
        let room = |needed: bool| -> Result<Option<DeviceBuffer<T>>, Error> {
            if !needed || source.is_on_device() {
                return Ok(None);
            }
            let buffer = msm.pool.allocate(longest, &msm.copies)?;
            Ok(Some(if secret { buffer.wipe_on_release() } else { buffer }))
        };
        let (present, coming) = (room(true)?, room(chunks.len() > 1)?);
        let mut feed = Self { source, present, coming, decoder: None, msm };
        let (into, decoder) = (feed.present.as_mut(), &mut feed.decoder);
        Bringer { source, into, decoder, msm }.bring(chunks.first())?;
        Ok(feed)
    }

    /// The present chunk for reading on the stream, the index of its first element in the buffer read, and what brings the next one.
    pub(crate) fn turn<'b>(
        &'b mut self,
        range: &Range<usize>,
        stream: &'b Stream,
    ) -> Result<(Read<'b, T>, usize, Bringer<'b, T>), Error> {
        let (read, at) = match (&self.present, &self.source) {
            (Some(buffer), _) => (buffer.read(stream)?, 0),
            (None, Source::Device(buffer)) => (buffer.read(stream)?, range.start),
            // Sources elsewhere have buffers.
            (None, _) => {
                return Err(gpu::Error::Length { what: "the chunks of a source", expected: 1, got: 0 }.into());
            }
        };
        let (into, decoder) = (self.coming.as_mut(), &mut self.decoder);
        Ok((read, at, Bringer { source: self.source, into, decoder, msm: self.msm }))
    }

    /// Makes the chunk that came the present one.
    pub(crate) fn advance(&mut self) {
        std::mem::swap(&mut self.present, &mut self.coming);
    }

    /// That all chunks that came were good.
    pub(crate) fn finish(self) -> Result<(), Error> {
        self.decoder.map_or(Ok(()), |decoder| decoder.finish(&self.msm.copies))
    }
}

impl<T: Pod + Sync> Bringer<'_, T> {
    fn bring(self, range: Option<&Range<usize>>) -> Result<(), Error> {
        self.bring_while(range, || Ok(()))
    }

    /// Brings the chunk, if there is one, while the caller does some work. From pinned memory its copy is only queued; anything else is
    /// read by other threads, since the work waits for the device now and then.
    pub(crate) fn bring_while<R>(
        self,
        range: Option<&Range<usize>>,
        work: impl FnOnce() -> Result<R, Error>,
    ) -> Result<R, Error> {
        let (Some(range), Some(into)) = (range, self.into) else { return work() };
        let DeviceMsm { staging, copies, .. } = self.msm;
        match self.source {
            Source::Device(_) => work(),
            Source::Pinned(pinned) => {
                into.copy_from_pinned(copies, 0, pinned, range.clone())?;
                work()
            }
            Source::Host(slice) => {
                staging.upload_while(copies, into, 0, slice.get(range.clone()).unwrap_or_default(), work)
            }
            Source::Reader(reader) => {
                staging.fill_while(copies, into, 0, range.len(), read_from(reader, range.start), work)
            }
            Source::Encoded(Encoded { reader, points, kernel }) => {
                let read = read_from(reader, range.start);
                let worked = staging.fill_while(copies, into, 0, range.len(), read, work)?;
                let decoder = match self.decoder {
                    Some(decoder) => decoder,
                    none => none.insert(Decoder::new(&self.msm.pool, copies)?),
                };
                let count = points.saturating_sub(range.start).min(range.len());
                decoder.run(kernel, into, 0..count, range.start, copies)?;
                Ok(worked)
            }
        }
    }
}

/// Reads elements that are counted from `start` on.
fn read_from<T>(
    reader: &dyn Reader<T>,
    start: usize,
) -> impl Fn(usize, &mut [T]) -> Result<(), Error> + Sync {
    move |first, out| reader.read(start + first, out).map_err(Error::Reader)
}
