//! Multi-scalar multiplication in BLS12-381 G1 and G2 over dense and packed scalars, on the CPU and on CUDA.
//!
//! ```
//! use blstrs::{G1Affine, Scalar};
//! use group::{Curve as _, prime::PrimeCurveAffine};
//! use msm_gpu::{G1, cpu};
//! # fn main() -> Result<(), msm_gpu::Error> {
//! let scalars = [Scalar::from(3), Scalar::from(4)];
//! let bases = cpu::FixedBase::<G1>::new(&G1Affine::generator(), scalars.len()).multiply(&scalars);
//! let sum = cpu::msm::<G1>(&bases, &scalars)?;
//! assert_eq!(sum.to_affine(), (G1Affine::generator() * Scalar::from(25)).to_affine());
//! # Ok(())
//! # }
//! ```

pub mod cpu;
mod curve;
pub mod device;
mod error;
mod ffi;
mod field;
mod packed;

pub use curve::{Curve, G1, G2};
pub use error::Error;
pub use packed::{Density, PackedScalars};
