//! Multiplication on a CUDA device.
//!
//! A [`DeviceMsm`] works in the memory of one [`gpu::Pool`] and stays within its budget: it takes more or fewer windows and more
//! or fewer points at a time, with the same result. Bases and scalars may be on the device, on the host or in a file ([`Source`]); they
//! travel while earlier ones are worked on. Bases may come in a file's encoding, which the device decodes ([`Encoded`]). [`Demand`] says how much memory a multiplication takes.
//!
//! The method is Pippenger's with signed windows of about 20 bits. Points are sorted by bucket; buckets are summed by trees of affine
//! additions, hundreds to thousands of which share one inversion, and so are rows and columns of buckets when the windows are put
//! together. See `cuda/batch_add.cuh` for the addition, `cuda/tree.cuh` for the trees and `cuda/reduce.cuh` for the rest.
//!
//! ```no_run
//! use msm_gpu::{G1, device::{DeviceMsm, Dense, FixedBase, Source}};
//! # fn main() -> Result<(), msm_gpu::Error> {
//! let device = gpu::Device::open(0)?;
//! let msm = DeviceMsm::new(&gpu::Pool::new(&device, gpu::Budget::WholeDevice)?)?;
//! let scalars: Vec<gpu::Fr> = (1..=1000u64).map(|k| gpu::Fr(k.into())).collect();
//! let generator = <blstrs::G1Affine as group::prime::PrimeCurveAffine>::generator();
//! let bases = FixedBase::<G1>::new(&msm, &generator, scalars.len())?.multiply(Source::Host(&scalars))?;
//! let sum = msm.msm::<G1>(Source::Device(&bases), Dense::Montgomery(Source::Host(&scalars)))?;
//! # Ok(())
//! # }
//! ```

pub mod bench;
mod decode;
mod ffi;
mod fixed_base;
#[cfg(all(test, feature = "host-arithmetic"))]
mod host_tests;
mod memory;
mod msm;
mod packed;
mod plan;
mod source;
mod subgroup;
mod window_sums;
mod windows;
mod workspace;

pub use decode::{Decoder, Encoded};
pub use ffi::DeviceCurve;
pub use fixed_base::FixedBase;
pub use memory::{Demand, Memory, Scalars};
pub use msm::DeviceMsm;
pub use packed::{DeviceDensity, DevicePacked};
pub use source::{Dense, Integer, Reader, Source};
pub use window_sums::WindowSums;
