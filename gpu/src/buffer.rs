//! Device memory.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;

use crate::access::Uses;
use crate::ffi::{self, Handle};
use crate::kept::Block;
use crate::{Error, PinnedBuffer, Pool, Read, Stream, Write};

/// Elements in device memory, owned. Dropping it gives the memory back to its [`Pool`] behind all work queued on it.
#[derive(Debug)]
pub struct DeviceBuffer<T: Pod> {
    address: Handle,
    length: usize,
    /// What the pool counts.
    reserved: u64,
    pool: Pool,
    home: Stream,
    uses: Uses,
    /// Elements at the beginning that are wiped in the end.
    secret: usize,
    element: PhantomData<T>,
}

impl<T: Pod> DeviceBuffer<T> {
    pub(crate) fn new(block: Block<Handle>, length: usize, pool: &Pool, home: &Stream) -> Self {
        let Block { address, bytes: reserved } = block;
        let uses = Uses::default();
        // Other streams may use the memory only behind its allocation.
        uses.after_write(home);
        let (pool, home) = (pool.clone(), home.clone());
        Self { address, length, reserved, pool, home, uses, secret: 0, element: PhantomData }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The pool it came from.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Overwrites the memory with zeros when it is released: for secrets.
    pub fn wipe_on_release(self) -> Self {
        let all = self.length;
        self.wipe_first_on_release(all)
    }

    /// The same for the first elements alone, where the others hold none; all of them where there are fewer.
    pub fn wipe_first_on_release(mut self, count: usize) -> Self {
        self.secret = self.secret.max(count.min(self.length));
        self
    }

    /// Whether it holds a secret; what is computed from it does too.
    pub fn is_wiped_on_release(&self) -> bool {
        self.secret > 0
    }

    /// Lets work on this stream read the buffer: it is queued behind the last write, on whichever stream that was.
    pub fn read<'a>(&'a self, stream: &'a Stream) -> Result<Read<'a, T>, Error> {
        self.check(stream)?;
        self.uses.before_read(stream)?;
        let (address, uses, length) = (self.address, &self.uses, self.length);
        Ok(Read { address, uses, stream, length, element: PhantomData })
    }

    /// Lets work on this stream change the buffer: it is queued behind everything that reads or writes it.
    pub fn write<'a>(&'a mut self, stream: &'a Stream) -> Result<Write<'a, T>, Error> {
        self.check(stream)?;
        self.uses.before_write(stream)?;
        let (address, uses, length) = (self.address, &self.uses, self.length);
        Ok(Write { address, uses, stream, length, element: PhantomData })
    }

    /// Overwrites the whole buffer from host memory and waits for it.
    ///
    /// # Errors
    /// [`Error::Length`] unless the slice has the buffer's length.
    pub fn upload(&mut self, stream: &Stream, from: &[T]) -> Result<(), Error> {
        expect_length("the slice to upload", self.length, from.len())?;
        self.upload_at(stream, 0, from)
    }

    /// Overwrites the elements from `at` on from host memory and waits for it. For much memory see [`crate::Staging`].
    pub fn upload_at(&mut self, stream: &Stream, at: usize, from: &[T]) -> Result<(), Error> {
        let to = self.part("the slice to upload", at, from.len())?;
        let _write = self.write(stream)?;
        ffi::copy_from_slice(to, bytemuck::cast_slice(from), stream)
    }

    /// All elements, in host memory.
    pub fn download(&self, stream: &Stream) -> Result<Vec<T>, Error> {
        let mut to = vec![T::zeroed(); self.length];
        self.download_into(stream, 0, &mut to)?;
        Ok(to)
    }

    /// Copies elements from `at` on into host memory and waits for it. For much memory see [`crate::Staging`].
    pub fn download_into(&self, stream: &Stream, at: usize, to: &mut [T]) -> Result<(), Error> {
        let from = self.part("the slice to download into", at, to.len())?;
        let _read = self.read(stream)?;
        ffi::copy_to_slice(bytemuck::cast_slice_mut(to), from, stream)
    }

    /// Queues a copy of a part of pinned memory to the elements from `at` on; returns at once.
    pub fn copy_from_pinned(
        &mut self,
        stream: &Stream,
        at: usize,
        from: &PinnedBuffer<T>,
        range: Range<usize>,
    ) -> Result<(), Error> {
        let to = self.part("the part of the pinned buffer", at, range.len())?;
        let source = from.part(&range)?;
        let _write = self.write(stream)?;
        from.uses().before_read(stream)?;
        let bytes = bytes_of::<T>(range.len());
        let span = stream.span("copy to device", bytes as usize);
        let queued = ffi::copy(to, source, bytes, stream.handle());
        drop(span);
        from.uses().after_read(stream);
        queued
    }

    /// Queues a copy of the elements from `at` on to a part of pinned memory; returns at once.
    pub fn copy_to_pinned(
        &self,
        stream: &Stream,
        at: usize,
        to: &mut PinnedBuffer<T>,
        range: Range<usize>,
    ) -> Result<(), Error> {
        let from = self.part("the part of the pinned buffer", at, range.len())?;
        let target = to.part(&range)?;
        let _read = self.read(stream)?;
        to.uses().before_write(stream)?;
        let bytes = bytes_of::<T>(range.len());
        let span = stream.span("copy to host", bytes as usize);
        let queued = ffi::copy(target, from, bytes, stream.handle());
        drop(span);
        to.uses().after_write(stream);
        queued
    }

    /// Queues a copy of another buffer of the same length.
    pub fn copy_from(&mut self, stream: &Stream, from: &DeviceBuffer<T>) -> Result<(), Error> {
        expect_length("the buffer to copy", self.length, from.length)?;
        let read = from.read(stream)?;
        let write = self.write(stream)?;
        ffi::copy(write.address, read.address, bytes_of::<T>(read.len()), stream.handle())
    }

    /// Queues setting every byte.
    pub fn fill_bytes(&mut self, stream: &Stream, byte: u8) -> Result<(), Error> {
        let write = self.write(stream)?;
        match write.len() {
            0 => Ok(()),
            length => ffi::fill(write.address, byte, bytes_of::<T>(length), stream.handle()),
        }
    }

    fn check(&self, stream: &Stream) -> Result<(), Error> {
        let (expected, got) = (self.pool.device().ordinal(), stream.device().ordinal());
        if expected != got {
            return Err(Error::OtherDevice { what: "the stream", expected, got });
        }
        stream.device().select()
    }

    /// The address of `length` elements from `at` on.
    pub(crate) fn part(&self, what: &'static str, at: usize, length: usize) -> Result<Handle, Error> {
        match self.length.checked_sub(at) {
            Some(rest) if length <= rest => Ok(self.address.offset(at * size_of::<T>())),
            rest => Err(Error::Length { what, expected: rest.unwrap_or(0) as u64, got: length as u64 }),
        }
    }
}

impl<T: Pod> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        if self.reserved == 0 {
            return;
        }
        let block = Block { address: self.address, bytes: self.reserved };
        let asked = Pool::bytes_for::<T>(self.length);
        if self.pool.device().check().is_err() {
            // The memory went with the device's context.
            return self.pool.forget(block, asked);
        }
        let ordered = self.pool.device().select().and_then(|()| self.uses.before_write(&self.home));
        if ordered.is_err() {
            // The device reports errors already; waiting is all that is left before the memory goes.
            let _ = self.pool.device().synchronize();
        }
        if self.secret > 0 {
            let bytes = bytes_of::<T>(self.secret);
            let _span = self.home.span("wipe", bytes as usize);
            if let Err(error) = ffi::fill(self.address, 0, bytes, self.home.handle()) {
                tracing::error!(%error, "device memory with a secret could not be wiped");
            }
        }
        self.pool.give_back(block, asked, &self.home);
    }
}

pub(crate) fn expect_length(what: &'static str, expected: usize, got: usize) -> Result<(), Error> {
    if expected == got {
        return Ok(());
    }
    Err(Error::Length { what, expected: expected as u64, got: got as u64 })
}

pub(crate) fn bytes_of<T>(length: usize) -> u64 {
    (length * size_of::<T>()) as u64
}
