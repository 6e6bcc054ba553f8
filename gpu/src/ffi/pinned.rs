//! Page-locked host memory, which a device copies from and to at full speed and without the host waiting.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;
use zeroize::Zeroize;

use crate::access::Uses;
use crate::ffi::{self, Handle};
use crate::{Device, Error};

/// Elements in page-locked host memory. Pinning costs about 0.7 s per GiB, so keep buffers and reuse them.
///
/// Copies to and from it are queued ([`crate::DeviceBuffer::copy_from_pinned`]). Looking at the elements, and dropping
/// the buffer, waits for the copies that concern them.
#[derive(Debug)]
pub struct PinnedBuffer<T: Pod> {
    address: Handle,
    length: usize,
    uses: Uses,
    wipe: bool,
    element: PhantomData<T>,
}

impl<T: Pod> PinnedBuffer<T> {
    /// `length` elements, all bytes zero. Any device can use it.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when the host cannot pin so much, [`Error::NoDevice`] without CUDA.
    pub fn new(device: &Device, length: usize) -> Result<Self, Error> {
        device.select()?;
        let requested = (length as u64).checked_mul(size_of::<T>() as u64);
        let refused =
            Error::OutOfMemory { requested: requested.unwrap_or(u64::MAX), in_use: 0, limit: u64::MAX };
        let address = match requested {
            Some(0) => Handle::NULL,
            Some(bytes) => ffi::pinned_allocate(bytes)?.ok_or(refused)?,
            None => return Err(refused),
        };
        let buffer = Self { address, length, uses: Uses::default(), wipe: false, element: PhantomData };
        if length > 0 {
            // SAFETY: just allocated with this many bytes, and nothing else knows of it.
            unsafe { address.pointer().cast::<u8>().write_bytes(0, length * size_of::<T>()) };
        }
        Ok(buffer)
    }

    /// No elements, and no memory.
    pub(crate) fn empty() -> Self {
        Self { address: Handle::NULL, length: 0, uses: Uses::default(), wipe: false, element: PhantomData }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Overwrites the memory with zeros when it is released: for secrets.
    pub fn wipe_on_release(mut self) -> Self {
        self.wipe = true;
        self
    }

    /// The elements, once queued copies into them are done.
    pub fn as_slice(&self) -> Result<&[T], Error> {
        self.uses.host_read()?;
        // SAFETY: allocated, zeroed at first and page-aligned; device writes are done, and new ones need `&mut self`.
        Ok(unsafe { std::slice::from_raw_parts(self.elements(), self.length) })
    }

    /// The elements, to be changed, once all queued copies are done.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T], Error> {
        self.uses.host_write()?;
        // SAFETY: as above; device reads are done too, and new ones need `&self`, which this borrow excludes.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.elements(), self.length) })
    }

    /// Aligned and not null even where there is nothing.
    fn elements(&self) -> *mut T {
        if self.length == 0 { std::ptr::dangling_mut() } else { self.address.pointer().cast() }
    }

    pub(crate) fn uses(&self) -> &Uses {
        &self.uses
    }

    pub(crate) fn part(&self, range: &Range<usize>) -> Result<Handle, Error> {
        if range.start > range.end || range.end > self.length {
            let (expected, got) = (self.length as u64, range.end as u64);
            return Err(Error::Length { what: "the end of the part of the pinned buffer", expected, got });
        }
        Ok(self.address.offset(range.start * size_of::<T>()))
    }
}

impl<T: Pod> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        if self.length == 0 {
            return;
        }
        let wipe = self.wipe;
        match self.as_mut_slice() {
            Ok(elements) if wipe => bytemuck::cast_slice_mut::<T, u8>(elements).zeroize(),
            Ok(_) => {}
            // A copy may still be under way on a device in error: memory that leaks is better than memory that changes.
            Err(error) => return tracing::error!(%error, "pinned memory was not released"),
        }
        if let Err(error) = ffi::pinned_free(self.address) {
            tracing::error!(%error, "pinned memory was not released");
        }
    }
}
