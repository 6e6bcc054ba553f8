//! The device under the prover: discovery, streams, buffers, pinned staging, and the CUDA headers for BLS12-381 fields
//! and groups.
//!
//! # With and without CUDA
//! The build script looks for nvcc (see `build.rs`). Where it finds none, the crate builds to a stub with the same
//! interface, in which every call that would reach a device answers [`Error::NoDevice`]. Feature `cuda` turns a missing
//! compiler into a build error. [`BUILT_WITH_CUDA`] says which it is.
//!
//! # Order of work
//! Work runs on a [`Stream`]; work on one stream runs in order, work on two streams may overlap. A buffer knows what is
//! still going on with it: [`DeviceBuffer::read`] and [`DeviceBuffer::write`] make a stream wait for whatever other streams
//! have left to do, and a buffer that is dropped goes back to its pool only behind the last work on it. So neither a race
//! nor a dangling copy can be written with the safe interface; [`PinnedBuffer`] extends the same rule to host memory.
//!
//! # Host memory
//! [`DeviceBuffer::upload`] and its kin are for a few kilobytes. [`PinnedBuffer`] travels at the speed of the link while other
//! work goes on, but pinning takes time and memory. [`Staging`] gives pageable memory, and elements that are read or computed, nearly the
//! same speed through a few pinned pieces.
//!
//! # Kernel crates
//! A crate with kernels compiles them with the metadata that `build.rs` emits, declares them in a private module with
//! [`entry_points!`], and turns each [`Status`] into a [`Result`]. The headers in `cuda/` are `status.cuh` (how an entry
//! point answers), `platform.cuh`, `carry.cuh`, `mont.cuh` and the fields and groups. All of the arithmetic compiles for
//! the host too; feature `host-arithmetic` does so, for tests.
//!
//! ```no_run
//! # fn main() -> Result<(), gpu::Error> {
//! let device = gpu::Device::open(0)?;
//! let stream = device.stream()?;
//! let pool = gpu::Pool::new(&device, gpu::Budget::Bytes(1 << 30))?;
//! let mut buffer = pool.allocate::<u64>(1024, &stream)?;
//! buffer.upload(&stream, &vec![7; 1024])?;
//! assert_eq!(buffer.download(&stream)?, vec![7; 1024]);
//! # Ok(())
//! # }
//! ```

mod access;
mod buffer;
pub mod clock;
mod context;
mod device;
mod error;
mod ffi;
mod kept;
mod ledger;
mod pool;
pub mod selftest;
mod staging;
mod stream;
pub mod testing;

pub use access::{Read, Write};
pub use buffer::DeviceBuffer;
pub use clock::Clock;
pub use device::{Device, DeviceInfo, devices};
pub use error::{Absence, Error};
#[cfg(feature = "host-arithmetic")]
pub use ffi::host;
pub use ffi::{Fr, PinnedBuffer, Status};
pub use pool::{Budget, Pool};
pub use staging::Staging;
pub use stream::{Event, Stream, Timer};

/// Whether this build contains CUDA code. If not, every call that would reach a device answers [`Error::NoDevice`].
pub const BUILT_WITH_CUDA: bool = cfg!(cuda);
