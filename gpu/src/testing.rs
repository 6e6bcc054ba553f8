//! For the tests of crates with kernels: the device, or a skip that says so; and faults on demand.

use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Device, Error, Pool};

/// The first device. Where there is none, says by name which test does not run, past the capture of test output.
///
/// # Errors
/// Any error but [`Error::NoDevice`]: a device that does not work is no reason to skip.
pub fn device_or_skip(test: &str) -> Result<Option<Device>, Error> {
    match Device::open(0) {
        Ok(device) => Ok(Some(device)),
        Err(Error::NoDevice(_)) => {
            skip("no CUDA device", test);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// A part of a pool's budget that nothing is allocated for.
#[derive(Debug)]
pub struct Claim<'a> {
    pool: &'a Pool,
    bytes: u64,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.pool.release(self.bytes);
    }
}

/// Takes all of a pool's budget but `bytes`, for as long as the claim lives: how a test sees that a call takes no more.
///
/// # Errors
/// [`Error::OutOfMemory`] when the pool has less than that.
pub fn leave(pool: &Pool, bytes: u64) -> Result<Claim<'_>, Error> {
    let (in_use, limit) = (pool.in_use(), pool.limit());
    let less = Error::OutOfMemory { requested: bytes, in_use, limit };
    let rest = pool.available().checked_sub(bytes).ok_or(less)?;
    pool.claim(rest)?;
    Ok(Claim { pool, bytes: rest })
}

/// Writes `skipped: <reason>: <test>` to standard error, past the capture of test output.
pub fn skip(reason: &str, test: &str) {
    // A closed standard error is no reason to fail a test.
    let _ = writeln!(std::io::stderr(), "skipped: {reason}: {test}");
}

/// What is made to go wrong by [`inject`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The allocation answers [`Error::OutOfMemory`].
    OutOfMemory,
    /// A kernel that traps is queued before the allocation, on its stream.
    Kernel,
}

/// Pool allocations of this process so far.
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
/// The number of the allocation at which something goes wrong.
static DUE: AtomicU64 = AtomicU64::new(u64::MAX);
static FAULT: Mutex<Option<Fault>> = Mutex::new(None);

/// How many allocations the pools of this process have been asked for.
#[doc(hidden)]
pub fn allocations() -> u64 {
    ALLOCATIONS.load(Ordering::SeqCst)
}

/// Makes one allocation go wrong, whoever asks for it: the `number`th of this process from now on, counted from 0.
#[doc(hidden)]
pub fn inject(fault: Fault, number: u64) {
    *FAULT.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(fault);
    DUE.store(allocations().saturating_add(number), Ordering::SeqCst);
}

/// Counts an allocation, and says what is to go wrong with it.
pub(crate) fn on_allocation() -> Option<Fault> {
    if ALLOCATIONS.fetch_add(1, Ordering::SeqCst) != DUE.load(Ordering::SeqCst) {
        return None;
    }
    FAULT.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
}
