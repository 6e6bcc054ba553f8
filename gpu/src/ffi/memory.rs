//! Host memory that can be pinned and outlives every context of CUDA's.

use memmap2::MmapMut;
use zeroize::Zeroize;

use crate::Error;
use crate::ffi::{self, Handle};

/// Pages are touched by as many threads as there are cores, up to so many.
const THREADS: usize = 16;
/// A thread is worth its start for so many bytes.
const BYTES_PER_THREAD: usize = 16 << 20;
const PAGE: usize = 4096;

/// Pages of this process's own, zero at first. CUDA allocates pinned memory of its own more slowly (0.45 s per GiB against
/// 0.05 s for touching on 16 threads and registering), and takes it away with its context.
#[derive(Debug)]
pub(crate) struct HostMemory {
    map: MmapMut,
    wipe: bool,
}

impl HostMemory {
    /// At least one byte, on whole pages.
    pub(crate) fn new(bytes: usize) -> std::io::Result<Self> {
        let mut map = MmapMut::map_anon(bytes)?;
        // Large pages are pinned faster; where there are none, small ones do.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        touch(&mut map);
        Ok(Self { map, wipe: false })
    }

    pub(crate) fn address(&mut self) -> Handle {
        Handle(self.map.as_mut_ptr().cast())
    }

    pub(crate) fn wipe_on_release(&mut self) {
        self.wipe = true;
    }

    /// Pins it for all devices; `false` when the host cannot pin so much.
    pub(crate) fn register(&mut self) -> Result<bool, Error> {
        let (address, bytes) = (self.address(), self.map.len() as u64);
        // SAFETY: a mapping of this length, which stays until it is unregistered or the context that knows it is gone.
        let status = unsafe { ffi::raw::gpu_host_register(address.0, bytes) };
        if status.is_out_of_memory() {
            return Ok(false);
        }
        status.into_result().map(|()| true)
    }

    /// Nothing may be under way with it.
    pub(crate) fn unregister(&mut self) -> Result<(), Error> {
        // SAFETY: a mapping that `register` registered; the entry point only takes its address.
        unsafe { ffi::raw::gpu_host_unregister(self.address().0) }.into_result()
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        if self.wipe {
            self.map.zeroize();
        }
    }
}

/// Has the system provide every page, by several threads: one would take most of the time of pinning.
fn touch(map: &mut [u8]) {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(THREADS));
    let threads = (map.len() / BYTES_PER_THREAD).clamp(1, cores);
    let share = map.len().div_ceil(threads).next_multiple_of(PAGE);
    std::thread::scope(|scope| {
        for part in map.chunks_mut(share) {
            let mut provide =
                || part.iter_mut().step_by(PAGE).for_each(|byte| *std::hint::black_box(byte) = 0);
            if threads == 1 { provide() } else { drop(scope.spawn(provide)) }
        }
    });
}
