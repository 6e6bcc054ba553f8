//! A pool of device memory with a budget.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::Pod;

use crate::ffi::{self, Handle};
use crate::kept::Block;
use crate::ledger::Ledger;
use crate::testing::{self, Fault};
use crate::{Device, DeviceBuffer, Error, Stream};

/// How much a pool may hand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// At most so many bytes at a time.
    Bytes(u64),
    /// Whatever the device has.
    WholeDevice,
}

/// Device memory that is reused: a freed buffer's memory serves the next one without a call to the driver, and in the
/// order of the streams, so that freeing never waits. Clones are the same pool.
///
/// Large memory may serve a buffer that is up to an eighth smaller, and counts whole while it does; but only within what the most bytes
/// that were asked for at a time, or [reserved](Self::reserve), leave of the budget. So whoever asks for no more than that gets it, and
/// one who fills the budget gets his buffers at their sizes.
#[derive(Clone, Debug)]
pub struct Pool(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    handle: Handle,
    device: Device,
    ledger: Mutex<Ledger<Handle, Stream>>,
}

impl Inner {
    fn ledger(&self) -> MutexGuard<'_, Ledger<Handle, Stream>> {
        // Nothing while it is held can panic half-way.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands all blocks back to CUDA's cache. Those of a lost device are gone already.
    fn release_kept(&self) {
        let blocks = self.ledger().take_kept();
        if self.device.select().is_err() {
            return;
        }
        for (block, stream) in blocks {
            free(block.address, &stream);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.release_kept();
        // CUDA allows frees to be pending, but with many pools that come and go its driver has hung and crashed then.
        let _ = self.device.synchronize();
        let _ = self.device.select().and_then(|()| ffi::pool_destroy(self.handle));
    }
}

fn free(address: Handle, stream: &Stream) {
    if let Err(error) = ffi::free(address, stream.handle()) {
        tracing::error!(%error, "device memory could not be released");
    }
}

/// Allocations are rounded up to this many bytes, here and by CUDA.
const GRANULE: u64 = 512;

impl Pool {
    /// An empty pool on a device.
    pub fn new(device: &Device, budget: Budget) -> Result<Self, Error> {
        device.select()?;
        let limit = match budget {
            // The greatest number stands for host memory in errors.
            Budget::Bytes(bytes) => bytes.min(u64::MAX - 1),
            Budget::WholeDevice => device.info().memory_bytes,
        };
        let handle = ffi::pool_create(device.ordinal() as i32)?;
        let ledger = Mutex::new(Ledger::new(limit));
        Ok(Self(Arc::new(Inner { handle, device: device.clone(), ledger })))
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Bytes that may be in use at a time.
    pub fn limit(&self) -> u64 {
        self.0.ledger().limit()
    }

    /// Bytes in use.
    pub fn in_use(&self) -> u64 {
        self.0.ledger().in_use()
    }

    /// The most bytes that were in use at a time.
    pub fn peak(&self) -> u64 {
        self.0.ledger().peak()
    }

    /// Bytes that can still be asked for within the budget.
    pub fn available(&self) -> u64 {
        let ledger = self.0.ledger();
        ledger.limit().saturating_sub(ledger.in_use())
    }

    /// What a buffer of `length` elements takes of a budget; [`u64::MAX`] where that is more than a machine can count.
    pub fn bytes_for<T: Pod>(length: usize) -> u64 {
        (length as u64)
            .checked_mul(size_of::<T>() as u64)
            .and_then(|bytes| bytes.checked_next_multiple_of(GRANULE))
            .unwrap_or(u64::MAX)
    }

    /// A buffer of `length` elements with unspecified contents. The stream is the one on which its memory comes and goes;
    /// other streams may use it too.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when the budget or the device is exhausted.
    pub fn allocate<T: Pod>(&self, length: usize, stream: &Stream) -> Result<DeviceBuffer<T>, Error> {
        let own = self.0.device.ordinal();
        if stream.device().ordinal() != own {
            let got = stream.device().ordinal();
            return Err(Error::OtherDevice { what: "the stream", expected: own, got });
        }
        let bytes = Self::bytes_for::<T>(length);
        match testing::on_allocation() {
            Some(Fault::OutOfMemory) => return Err(self.exhausted(bytes)),
            Some(Fault::Kernel) => {
                self.0.device.select()?;
                ffi::selftest_trap(stream.handle())?;
            }
            None => {}
        }
        if let Some(block) = self.reuse(bytes, stream)? {
            return Ok(DeviceBuffer::new(block, length, self, stream));
        }
        let in_use = self.claim(bytes)?;
        self.keep_within(in_use);
        let allocated = match bytes {
            0 => Ok(Some(Handle::NULL)),
            _ => self.obtain(bytes, stream),
        };
        match allocated {
            Ok(Some(address)) => {
                self.0.ledger().had(in_use);
                Ok(DeviceBuffer::new(Block { address, bytes }, length, self, stream))
            }
            Ok(None) => {
                let error = self.exhausted(bytes);
                self.release(bytes);
                Err(error)
            }
            Err(error) => {
                self.release(bytes);
                Err(error)
            }
        }
    }

    /// Lets go of the kept blocks where, with so many bytes in use, they are more than the budget.
    fn keep_within(&self, in_use: u64) {
        let over = self.0.ledger().is_over(in_use);
        if over {
            self.0.release_kept();
        }
    }

    /// A kept block, if one fits and the budget has room for it.
    fn reuse(&self, bytes: u64, stream: &Stream) -> Result<Option<Block<Handle>>, Error> {
        self.0.device.select()?;
        Ok(self.0.ledger().reuse(bytes, |of| of.id() == stream.id()))
    }

    /// Takes a block back that was had for so many bytes. All work with it has been queued on the stream, or is waited for there.
    pub(crate) fn give_back(&self, block: Block<Handle>, asked: u64, stream: &Stream) {
        let small = self.0.ledger().keep(block, stream);
        if let Some(block) = small {
            free(block.address, stream);
        }
        self.forget(block, asked);
    }

    /// Counts a block as in use no more that was had for so many bytes.
    pub(crate) fn forget(&self, block: Block<Handle>, asked: u64) {
        self.0.ledger().release(block.bytes, block.bytes - asked);
    }

    /// Memory from the cache or the driver, if there is any. The cache may have enough of it, but in pieces: then it goes back to the
    /// driver, which takes a tenth of a second, and the device is asked once more.
    fn obtain(&self, bytes: u64, stream: &Stream) -> Result<Option<Handle>, Error> {
        self.0.device.select()?;
        let allocate = || ffi::allocate(self.0.handle, stream.handle(), bytes);
        if let Some(address) = allocate()? {
            return Ok(Some(address));
        }
        self.trim(0)?;
        let address = allocate()?;
        tracing::debug!(bytes, found = address.is_some(), "device memory was in pieces");
        Ok(address)
    }

    /// A buffer with a copy of the slice; waits for the copy.
    pub fn upload<T: Pod>(&self, from: &[T], stream: &Stream) -> Result<DeviceBuffer<T>, Error> {
        let mut buffer = self.allocate(from.len(), stream)?;
        buffer.upload(stream, from)?;
        Ok(buffer)
    }

    /// Takes memory for buffers of so many bytes in all from the driver now, beside those that are in use, and sees to it that so many can
    /// be had later. A pool otherwise grows when it has to, at the expense of the work that comes first.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when the budget or the device has less.
    pub fn reserve(&self, bytes: u64, stream: &Stream) -> Result<(), Error> {
        if bytes > self.available() {
            return Err(self.exhausted(bytes));
        }
        if bytes == 0 {
            return Ok(());
        }
        self.0.ledger().expect(bytes);
        self.keep_within(self.in_use().saturating_add(bytes));
        match self.obtain(bytes, stream)? {
            Some(address) => ffi::free(address, stream.handle()),
            None => Err(self.exhausted(bytes)),
        }
    }

    /// Hands cached memory beyond `keep` bytes back to the driver, after waiting for the device.
    pub fn trim(&self, keep: u64) -> Result<(), Error> {
        self.0.release_kept();
        self.0.device.synchronize()?;
        ffi::pool_trim(self.0.handle, keep)
    }

    /// Counts the bytes as in use; answers how many are then.
    pub(crate) fn claim(&self, bytes: u64) -> Result<u64, Error> {
        let claimed = self.0.ledger().claim(bytes);
        claimed.ok_or_else(|| self.exhausted(bytes))
    }

    pub(crate) fn release(&self, bytes: u64) {
        self.0.ledger().release(bytes, 0);
    }

    fn exhausted(&self, requested: u64) -> Error {
        let ledger = self.0.ledger();
        Error::OutOfMemory { requested, in_use: ledger.in_use(), limit: ledger.limit() }
    }
}

#[cfg(test)]
mod tests {
    use super::Pool;

    #[test]
    fn buffers_take_whole_granules() {
        assert_eq!(Pool::bytes_for::<u64>(0), 0);
        assert_eq!(Pool::bytes_for::<u64>(1), 512);
        assert_eq!(Pool::bytes_for::<u64>(64), 512);
        assert_eq!(Pool::bytes_for::<u64>(65), 1024);
        assert_eq!(Pool::bytes_for::<u64>(usize::MAX), u64::MAX);
    }
}
