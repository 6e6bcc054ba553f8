//! Page-locked host memory, which a device copies from and to at full speed and without the host waiting.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;

use crate::access::Uses;
use crate::ffi::{Handle, HostMemory};
use crate::{Device, Error};

/// Elements in page-locked host memory. Pinning costs about 0.1 s per GiB, so keep buffers and reuse them.
///
/// Copies to and from it are queued ([`crate::DeviceBuffer::copy_from_pinned`]). Looking at the elements, and dropping
/// the buffer, waits for the copies that concern them. The memory is the process's own and outlives a device that is lost, though
/// after that nobody can say what copies have left in it.
#[derive(Debug)]
pub struct PinnedBuffer<T: Pod> {
    /// None where there are no elements.
    memory: Option<HostMemory>,
    address: Handle,
    length: usize,
    device: Device,
    uses: Uses,
    element: PhantomData<T>,
}

impl<T: Pod> PinnedBuffer<T> {
    /// `length` elements, all bytes zero. Any device can use it.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when the host cannot pin so much, [`Error::NoDevice`] without CUDA.
    pub fn new(device: &Device, length: usize) -> Result<Self, Error> {
        device.select()?;
        let requested = (length as u64).saturating_mul(size_of::<T>() as u64);
        let refused = Error::OutOfMemory { requested, in_use: 0, limit: u64::MAX };
        let mut memory = match usize::try_from(requested) {
            Ok(0) => None,
            Ok(bytes) => Some(HostMemory::new(bytes).map_err(|_| refused.clone())?),
            Err(_) => return Err(refused),
        };
        let mut address = Handle::NULL;
        if let Some(memory) = &mut memory {
            if !memory.register()? {
                return Err(refused);
            }
            address = memory.address();
        }
        let (device, uses) = (device.clone(), Uses::default());
        Ok(Self { memory, address, length, device, uses, element: PhantomData })
    }

    /// No elements, and no memory.
    pub(crate) fn empty(device: &Device) -> Self {
        let (device, uses) = (device.clone(), Uses::default());
        Self { memory: None, address: Handle::NULL, length: 0, device, uses, element: PhantomData }
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
        if let Some(memory) = &mut self.memory {
            memory.wipe_on_release();
        }
        self
    }

    /// The elements, once queued copies into them are done.
    pub fn as_slice(&self) -> Result<&[T], Error> {
        self.uses.host_read()?;
        // SAFETY: mapped, zeroed at first and page-aligned; device writes are done, and new ones need `&mut self`.
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
        let Some(mut memory) = self.memory.take() else { return };
        let unregistered = self.uses.host_write().and_then(|()| {
            self.device.select()?;
            memory.unregister()
        });
        if let Err(error) = unregistered {
            if self.device.check().is_ok() {
                tracing::error!(%error, "pinned memory was not released");
            }
            // A copy may still be under way: memory that lives on is better than memory that changes.
            self.device.context().keep(memory);
        }
    }
}
