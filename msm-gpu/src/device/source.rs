//! Where inputs are, and how they get to the device.

use std::ops::Range;

use bytemuck::Pod;
use gpu::{DeviceBuffer, Fr, PinnedBuffer, Pool, Read, Stream};

use crate::Error;

/// An input of a multiplication.
#[derive(Debug)]
pub enum Source<'a, T: Pod> {
    /// On the device already.
    Device(&'a DeviceBuffer<T>),
    /// In pinned host memory: it travels in chunks, while earlier chunks are worked on.
    Pinned(&'a PinnedBuffer<T>),
    /// In any host memory: as above, but each copy is waited for. About an eighth as fast as from pinned memory.
    Host(&'a [T]),
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
    /// Two chunks take turns; none where the source is on the device.
    buffers: Vec<DeviceBuffer<T>>,
    copies: &'a Stream,
}

impl<'a, T: Pod> Feed<'a, T> {
    /// Room for chunks of at most `longest` elements.
    pub(crate) fn new(
        source: Source<'a, T>,
        longest: usize,
        chunks: usize,
        pool: &Pool,
        copies: &'a Stream,
    ) -> Result<Self, Error> {
        let count = if source.is_on_device() { 0 } else { chunks.min(2) };
        let buffers = (0..count).map(|_| pool.allocate(longest, copies)).collect::<Result<_, _>>()?;
        Ok(Self { source, buffers, copies })
    }

    /// Queues the copy of chunk `number`.
    pub(crate) fn start(&mut self, number: usize, range: &Range<usize>) -> Result<(), Error> {
        let count = self.buffers.len().max(1);
        let Some(buffer) = self.buffers.get_mut(number % count) else { return Ok(()) };
        match self.source {
            Source::Device(_) => {}
            Source::Pinned(pinned) => buffer.copy_from_pinned(self.copies, 0, pinned, range.clone())?,
            Source::Host(slice) => {
                buffer.upload_at(self.copies, 0, slice.get(range.clone()).unwrap_or_default())?
            }
        }
        Ok(())
    }

    /// Chunk `number` for reading on the stream, and the index of its first element in the buffer read.
    pub(crate) fn chunk<'b>(
        &'b self,
        number: usize,
        range: &Range<usize>,
        stream: &'b Stream,
    ) -> Result<(Read<'b, T>, usize), Error> {
        let count = self.buffers.len().max(1);
        Ok(match (self.buffers.get(number % count), &self.source) {
            (Some(buffer), _) => (buffer.read(stream)?, 0),
            (None, Source::Device(buffer)) => (buffer.read(stream)?, range.start),
            // Sources on the host have buffers.
            (None, _) => {
                return Err(gpu::Error::Length { what: "the chunks of a source", expected: 1, got: 0 }.into());
            }
        })
    }
}
