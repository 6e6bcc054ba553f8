//! The boundary to CUDA, and the only unsafe code of this crate.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};

use crate::{Absence, Error, Stream, context};

mod field;
#[cfg(feature = "host-arithmetic")]
pub mod host;
mod memory;
mod pinned;

pub use field::Fr;
pub(crate) use memory::HostMemory;
pub use pinned::PinnedBuffer;

/// What a CUDA entry point answers; mirrors `gpu_status` in `status.cuh`. Only entry points make one.
#[repr(C)]
#[derive(Debug)]
#[must_use = "a status may be an error"]
pub struct Status {
    code: i32,
    call: *const c_char,
    message: *const c_char,
}

/// The code of [`Status::no_device`]; CUDA's own are not negative.
const NO_CUDA: i32 = -1;
const CUDA_ERROR_MEMORY_ALLOCATION: i32 = 2;
const CUDA_ERROR_INSUFFICIENT_DRIVER: i32 = 35;
const CUDA_ERROR_NO_DEVICE: i32 = 100;
/// Errors after which CUDA's manual lets nothing work any more until the process is started again: of a kernel (a trap, an
/// address, an instruction, a time limit), of memory or links beyond correction, of a device that is gone.
const CUDA_ERRORS_OF_A_LOST_DEVICE: [i32; 16] =
    [214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911];

impl Status {
    /// The answer of every entry point in a build without CUDA.
    #[doc(hidden)]
    pub const fn no_device() -> Self {
        Self { code: NO_CUDA, call: std::ptr::null(), message: std::ptr::null() }
    }

    /// The error, if it is one. The call was made on the device that the calling thread has selected
    /// ([`crate::Stream::raw`] selects); an error that costs the process this device is noted for all who use it.
    pub fn into_result(self) -> Result<(), Error> {
        match self.code {
            0 => Ok(()),
            NO_CUDA => Err(Error::NoDevice(Absence::BuiltWithoutCuda)),
            CUDA_ERROR_INSUFFICIENT_DRIVER => Err(Error::NoDevice(Absence::NoDriver)),
            CUDA_ERROR_NO_DEVICE => Err(Error::NoDevice(Absence::NoneFound)),
            code => {
                let (message, call) = (text(self.message), text(self.call));
                if CUDA_ERRORS_OF_A_LOST_DEVICE.contains(&code)
                    && let Some(ordinal) = device_current()
                {
                    return Err(context::lose(Error::DeviceLost { ordinal, code, message, call }));
                }
                Err(Error::Cuda { code, message, call })
            }
        }
    }

    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.code == CUDA_ERROR_MEMORY_ALLOCATION
    }
}

fn text(string: *const c_char) -> String {
    if string.is_null() {
        return String::new();
    }
    // SAFETY: entry points answer null or a static, terminated string, and nothing else makes a `Status`.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}

/// Declares CUDA entry points, each answering a [`Status`]: `fn name(argument: Type, …);`.
///
/// In a build with CUDA these are foreign functions; in a stub build, unsafe functions of the same shape that answer "no
/// device". Put it in the crate's private `ffi` module.
#[cfg(cuda)]
#[macro_export]
macro_rules! entry_points {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?);)*) => {
        unsafe extern "C" {
            $(pub(crate) fn $name($($argument: $type),*) -> $crate::Status;)*
        }
    };
}

/// Declares CUDA entry points, each answering a [`Status`]: `fn name(argument: Type, …);`.
///
/// In a build with CUDA these are foreign functions; in a stub build, unsafe functions of the same shape that answer "no
/// device". Put it in the crate's private `ffi` module.
#[cfg(not(cuda))]
#[macro_export]
macro_rules! entry_points {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?);)*) => {
        $(pub(crate) unsafe fn $name($($argument: $type),*) -> $crate::Status {
            $(let _ = $argument;)*
            $crate::Status::no_device()
        })*
    };
}

/// Mirrors `gpu_device_info` in `runtime.cu`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Zeroable)]
pub(crate) struct RawDeviceInfo {
    pub(crate) name: [u8; 256],
    pub(crate) major: i32,
    pub(crate) minor: i32,
    pub(crate) multiprocessors: i32,
    pub(crate) memory_pools: i32,
    pub(crate) memory_bytes: u64,
    pub(crate) l2_bytes: u64,
}

mod raw {
    use super::{RawDeviceInfo, c_void};

    entry_points! {
        fn gpu_device_count(count: *mut i32);
        fn gpu_device_describe(ordinal: i32, info: *mut RawDeviceInfo);
        fn gpu_device_select(ordinal: i32);
        fn gpu_device_current(ordinal: *mut i32);
        fn gpu_device_reset();
        fn gpu_device_memory(free: *mut u64, total: *mut u64);
        fn gpu_device_synchronize();
        fn gpu_stream_create(stream: *mut *mut c_void);
        fn gpu_stream_destroy(stream: *mut c_void);
        fn gpu_stream_synchronize(stream: *mut c_void);
        fn gpu_stream_wait(stream: *mut c_void, event: *mut c_void);
        fn gpu_event_create(timing: bool, event: *mut *mut c_void);
        fn gpu_event_destroy(event: *mut c_void);
        fn gpu_event_record(event: *mut c_void, stream: *mut c_void);
        fn gpu_event_synchronize(event: *mut c_void);
        fn gpu_event_elapsed(start: *mut c_void, end: *mut c_void, milliseconds: *mut f32);
        fn gpu_pool_create(ordinal: i32, pool: *mut *mut c_void);
        fn gpu_pool_destroy(pool: *mut c_void);
        fn gpu_pool_trim(pool: *mut c_void, keep: u64);
        fn gpu_allocate(pool: *mut c_void, stream: *mut c_void, bytes: u64, pointer: *mut *mut c_void);
        fn gpu_free(pointer: *mut c_void, stream: *mut c_void);
        fn gpu_fill(pointer: *mut c_void, byte: u8, bytes: u64, stream: *mut c_void);
        fn gpu_copy(to: *mut c_void, from: *const c_void, bytes: u64, stream: *mut c_void);
        fn gpu_host_register(pointer: *mut c_void, bytes: u64);
        fn gpu_host_unregister(pointer: *mut c_void);
        fn gpu_selftest_fr(scratch: *mut c_void, stream: *mut c_void, answer: *mut u32);
        fn gpu_selftest_trap(stream: *mut c_void);
    }
}

/// A handle or address of CUDA's: a stream, an event, a pool, device memory or pinned memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle(*mut c_void);

// SAFETY: the handle is only a name; CUDA's runtime may be called with it from any thread.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    pub(crate) const NULL: Handle = Handle(std::ptr::null_mut());

    pub(crate) fn pointer(self) -> *mut c_void {
        self.0
    }

    /// The address `bytes` further on. The caller keeps within the allocation.
    pub(crate) fn offset(self, bytes: usize) -> Self {
        Self(self.0.wrapping_byte_add(bytes))
    }
}

/// Calls an entry point that writes one result through its last argument.
macro_rules! answer {
    ($initial:expr, |$out:ident| $call:expr) => {{
        let mut value = $initial;
        let $out = &raw mut value;
        // SAFETY: the entry point writes at most this value, and only during the call.
        unsafe { $call }.into_result()?;
        Ok(value)
    }};
}

/// Calls an entry point on handles that are alive; CUDA checks the rest.
macro_rules! call {
    ($call:expr) => {{
        // SAFETY: the handles were made by CUDA and are not yet destroyed: their owners in this crate see to it.
        unsafe { $call }.into_result()
    }};
}

pub(crate) fn device_count() -> Result<i32, Error> {
    answer!(0, |out| raw::gpu_device_count(out))
}

pub(crate) fn device_describe(ordinal: i32) -> Result<RawDeviceInfo, Error> {
    answer!(bytemuck::Zeroable::zeroed(), |out| raw::gpu_device_describe(ordinal, out))
}

pub(crate) fn device_select(ordinal: i32) -> Result<(), Error> {
    call!(raw::gpu_device_select(ordinal))
}

/// The calling thread's device. Not by [`Status::into_result`], which asks this.
fn device_current() -> Option<u32> {
    let mut ordinal = 0;
    // SAFETY: the entry point writes only `ordinal`.
    let status = unsafe { raw::gpu_device_current(&mut ordinal) };
    (status.code == 0).then_some(ordinal as u32)
}

/// Destroys the selected device's context. Nothing of it may be in use, nor be used afterwards.
pub(crate) fn device_reset() -> Result<(), Error> {
    call!(raw::gpu_device_reset())
}

/// (free, total) bytes of the selected device.
pub(crate) fn device_memory() -> Result<(u64, u64), Error> {
    let (mut free, mut total) = (0, 0);
    call!(raw::gpu_device_memory(&mut free, &mut total))?;
    Ok((free, total))
}

pub(crate) fn device_synchronize() -> Result<(), Error> {
    call!(raw::gpu_device_synchronize())
}

pub(crate) fn stream_create() -> Result<Handle, Error> {
    answer!(std::ptr::null_mut(), |out| raw::gpu_stream_create(out)).map(Handle)
}

pub(crate) fn stream_destroy(stream: Handle) -> Result<(), Error> {
    call!(raw::gpu_stream_destroy(stream.0))
}

pub(crate) fn stream_synchronize(stream: Handle) -> Result<(), Error> {
    call!(raw::gpu_stream_synchronize(stream.0))
}

pub(crate) fn stream_wait(stream: Handle, event: Handle) -> Result<(), Error> {
    call!(raw::gpu_stream_wait(stream.0, event.0))
}

pub(crate) fn event_create(timing: bool) -> Result<Handle, Error> {
    answer!(std::ptr::null_mut(), |out| raw::gpu_event_create(timing, out)).map(Handle)
}

pub(crate) fn event_destroy(event: Handle) -> Result<(), Error> {
    call!(raw::gpu_event_destroy(event.0))
}

pub(crate) fn event_record(event: Handle, stream: Handle) -> Result<(), Error> {
    call!(raw::gpu_event_record(event.0, stream.0))
}

pub(crate) fn event_synchronize(event: Handle) -> Result<(), Error> {
    call!(raw::gpu_event_synchronize(event.0))
}

pub(crate) fn event_elapsed(start: Handle, end: Handle) -> Result<f32, Error> {
    answer!(0.0, |out| raw::gpu_event_elapsed(start.0, end.0, out))
}

pub(crate) fn pool_create(ordinal: i32) -> Result<Handle, Error> {
    answer!(std::ptr::null_mut(), |out| raw::gpu_pool_create(ordinal, out)).map(Handle)
}

pub(crate) fn pool_destroy(pool: Handle) -> Result<(), Error> {
    call!(raw::gpu_pool_destroy(pool.0))
}

pub(crate) fn pool_trim(pool: Handle, keep: u64) -> Result<(), Error> {
    call!(raw::gpu_pool_trim(pool.0, keep))
}

/// `None` when the device has no memory left.
pub(crate) fn allocate(pool: Handle, stream: Handle, bytes: u64) -> Result<Option<Handle>, Error> {
    let mut pointer = std::ptr::null_mut();
    // SAFETY: pool and stream are alive; the entry point writes only `pointer`.
    let status = unsafe { raw::gpu_allocate(pool.0, stream.0, bytes, &mut pointer) };
    if status.is_out_of_memory() {
        return Ok(None);
    }
    status.into_result()?;
    Ok(Some(Handle(pointer)))
}

pub(crate) fn free(pointer: Handle, stream: Handle) -> Result<(), Error> {
    call!(raw::gpu_free(pointer.0, stream.0))
}

pub(crate) fn fill(pointer: Handle, byte: u8, bytes: u64, stream: Handle) -> Result<(), Error> {
    call!(raw::gpu_fill(pointer.0, byte, bytes, stream.0))
}

/// Between allocations that outlive the copy: the callers hold them by their hazards.
pub(crate) fn copy(to: Handle, from: Handle, bytes: u64, stream: Handle) -> Result<(), Error> {
    call!(raw::gpu_copy(to.0, from.0, bytes, stream.0))
}

/// Copies to the device and waits, so that the slice may go.
pub(crate) fn copy_from_slice(to: Handle, from: &[u8], stream: &Stream) -> Result<(), Error> {
    let span = stream.span("copy to device", from.len());
    let (source, bytes, queue) = (from.as_ptr().cast(), from.len() as u64, stream.handle());
    // SAFETY: the slice lives until the synchronisation below.
    let queued = unsafe { raw::gpu_copy(to.0, source, bytes, queue.0) }.into_result();
    drop(span);
    stream_synchronize(queue).and(queued)
}

/// Copies from the device and waits.
pub(crate) fn copy_to_slice(to: &mut [u8], from: Handle, stream: &Stream) -> Result<(), Error> {
    let span = stream.span("copy to host", to.len());
    let (target, bytes, queue) = (to.as_mut_ptr().cast(), to.len() as u64, stream.handle());
    // SAFETY: the slice lives until the synchronisation below.
    let queued = unsafe { raw::gpu_copy(target, from.0, bytes, queue.0) }.into_result();
    drop(span);
    stream_synchronize(queue).and(queued)
}

/// The answer of the Fr chain of `selftest.cuh`; `scratch` is 32 bytes of device memory.
pub(crate) fn selftest_fr(scratch: Handle, stream: Handle) -> Result<[u32; 8], Error> {
    let mut answer = [0; 8];
    // SAFETY: the entry point writes 8 words before it returns.
    unsafe { raw::gpu_selftest_fr(scratch.0, stream.0, answer.as_mut_ptr()) }.into_result()?;
    Ok(answer)
}

/// Queues a kernel that fails.
pub(crate) fn selftest_trap(stream: Handle) -> Result<(), Error> {
    call!(raw::gpu_selftest_trap(stream.0))
}
