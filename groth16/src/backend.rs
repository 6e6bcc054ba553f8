//! Where a proof is computed.

use std::sync::Arc;

use r1cs::CompiledCircuit;
use thiserror::Error;

use crate::Parameters;
use crate::cpu::Cpu;
use crate::pipeline::Pipeline;
use crate::shape::Densities;

/// The hardware that does a prover's work. One is chosen; none is ever replaced by another silently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// This machine's cores, by rayon's current pool.
    Cpu,
    /// A CUDA device, by its number.
    Cuda {
        /// The device's number.
        device: u32,
    },
}

/// A backend that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the {backend:?} backend is not available: {reason}")]
pub struct BackendError {
    /// The backend.
    pub backend: Backend,
    /// Why not.
    pub reason: String,
}

impl Backend {
    /// The pipeline that proves one circuit under one set of parameters.
    pub(crate) fn open(
        self,
        circuit: Arc<CompiledCircuit>,
        densities: Densities,
        parameters: Arc<Parameters>,
    ) -> Result<Box<dyn Pipeline>, BackendError> {
        match self {
            Self::Cpu => Ok(Box::new(Cpu { circuit, densities, parameters })),
            Self::Cuda { .. } => {
                Err(BackendError { backend: self, reason: "this build proves on the CPU only".into() })
            }
        }
    }
}
