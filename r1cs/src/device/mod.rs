//! Matrix-vector products on a CUDA device.
//!
//! A [`DeviceCircuit`] is uploaded once: the prefix, one unit, and the table of bindings; copies are expanded while they are
//! multiplied. A [`DeviceWitness`] is a packed witness, whose bits stay bits.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use r1cs::{CompiledCircuit, device::{DeviceCircuit, DeviceError, DeviceWitness}};
//! # fn products(circuit: Arc<CompiledCircuit>, witness: assignment::PackedWitness<blstrs::Scalar>) -> Result<(), DeviceError> {
//! let device = gpu::Device::open(0)?;
//! let (pool, stream) = (gpu::Pool::new(&device, gpu::Budget::WholeDevice)?, device.stream()?);
//! let circuit = DeviceCircuit::upload(circuit, &pool, &stream)?;
//! let witness = DeviceWitness::upload(&witness, &gpu::Staging::new(&device), &pool, &stream)?;
//! let [a, b] = circuit.satisfied_products(&witness, &pool, &stream)?;
//! # Ok(())
//! # }
//! ```

mod circuit;
mod columns;
mod witness;

pub use circuit::DeviceCircuit;
pub use witness::{DeviceWitness, PinnedWitness};

use crate::{CheckError, SizeError};

/// Rows with more terms than this in some matrix are computed by a warp; mirrors `SHORT_TERMS` in `matrix.cuh`.
const SHORT_TERMS: u32 = 16;

/// Products that were not made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The witness is another circuit's or does not satisfy this one.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] gpu::Error),
    /// The device says that a row does not hold, and the processor that it does.
    #[error("the device finds row {row} unsatisfied, the processor does not: one of them computes wrongly")]
    Disagreement {
        /// The row.
        row: usize,
    },
}

impl From<SizeError> for DeviceError {
    fn from(error: SizeError) -> Self {
        Self::Check(error.into())
    }
}
