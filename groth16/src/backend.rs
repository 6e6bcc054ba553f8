//! Where a proof is computed.

use std::sync::Arc;

use r1cs::CompiledCircuit;

use crate::cpu::Cpu;
use crate::cuda::{Cuda, HostParameters};
use crate::pipeline::Pipeline;
use crate::shape::Densities;
use crate::{Budgets, Parameters, ProveError};

/// The hardware that does a prover's work. One is chosen; none is ever replaced by another silently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// This machine's cores, by rayon's current pool.
    Cpu,
    /// A CUDA device.
    Cuda {
        /// The device's number.
        device: u32,
        /// How much memory it may take, there and on the host.
        budgets: Budgets,
    },
}

impl Backend {
    /// A CUDA device, by its number, and all its memory.
    pub const fn cuda(device: u32) -> Self {
        Self::Cuda { device, budgets: Budgets { device: None, host: None } }
    }

    /// The pipeline that proves one circuit under one set of parameters, whose shape has been checked.
    pub(crate) fn open(
        self,
        circuit: Arc<CompiledCircuit>,
        densities: Densities,
        parameters: &Arc<Parameters>,
    ) -> Result<Box<dyn Pipeline>, ProveError> {
        match self {
            Self::Cpu => {
                let queries = parameters.clone();
                Ok(Box::new(Cpu { circuit, densities, queries }))
            }
            Self::Cuda { device, budgets } => {
                let parameters = HostParameters::Memory(parameters.clone());
                Ok(Box::new(Cuda::with_parameters(device, &budgets, &circuit, &parameters, false)?))
            }
        }
    }
}
