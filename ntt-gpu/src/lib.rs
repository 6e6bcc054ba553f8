//! Number-theoretic transforms over the BLS12-381 scalar field, on the CPU and on CUDA.
//!
//! ```
//! use ntt_gpu::{Domain, Evaluations, Natural, Polynomial, cpu::Ntt};
//! # fn main() -> Result<(), ntt_gpu::Error> {
//! let domain = Domain::covering(1000)?;
//! let ntt = Ntt::new(domain);
//! let values = (0..domain.size() as u64).map(blstrs::Scalar::from).collect();
//! let poly = Polynomial::<Evaluations, Natural>::new(domain, values)?;
//! let coefficients = ntt.inverse(poly.clone())?; // bit-reversed: each transform flips the order
//! assert_eq!(ntt.forward(coefficients)?, poly);
//! # Ok(())
//! # }
//! ```

pub mod cpu;
pub mod device;
mod domain;
mod error;
mod ffi;
mod poly;

pub use domain::Domain;
pub use error::Error;
pub use poly::{Basis, BitReversed, Coefficients, CosetEvaluations, Evaluations, Natural, Order, Polynomial};
