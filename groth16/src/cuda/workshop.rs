//! What setups and proofs of one circuit share on a device.

use std::fs::File;
use std::sync::Arc;

use gpu::{Budget, Device, Pool, Stream};
use msm_gpu::device::DeviceMsm;
use ntt_gpu::Domain;
use r1cs::CompiledCircuit;
use r1cs::device::DeviceCircuit;

use super::setup::setup;
use super::target;
use crate::shape::Densities;
use crate::{Budgets, Parameters, SetupError, Shape, ToxicWaste, VerifyingKey};

/// Device memory left to others where no budget is given: the driver's own needs grow while kernels are loaded.
const MARGIN: u64 = 1 << 30;

/// A device with everything that setups and proofs of one circuit share.
#[derive(Debug)]
pub(crate) struct Workshop {
    pub(super) circuit: DeviceCircuit,
    pub(super) densities: Densities,
    pub(super) shape: Shape,
    pub(super) domain: Domain,
    pub(super) pool: Pool,
    pub(super) msm: DeviceMsm,
}

impl Workshop {
    /// Copies the circuit to the pool's device.
    pub(super) fn new<E>(circuit: Arc<CompiledCircuit>, pool: Pool) -> Result<Self, E>
    where
        E: From<gpu::Error> + From<ntt_gpu::Error> + From<msm_gpu::Error>,
    {
        let msm = DeviceMsm::new(&pool)?;
        msm.staging().reserve()?;
        let densities = Densities::of(&circuit);
        let shape = densities.shape(circuit.num_rows());
        let domain = shape.domain()?;
        let circuit = DeviceCircuit::upload(circuit, &pool, msm.stream())?;
        Ok(Self { circuit, densities, shape, domain, pool, msm })
    }

    /// Takes memory up to a peak from the driver now, so that the first proof does not wait for it. Where the driver has less, proofs find
    /// out how much: their sums do with what there is.
    pub(super) fn reserve(&self, peak: u64) -> Result<(), gpu::Error> {
        let bytes = peak.saturating_sub(self.pool.in_use()).min(self.pool.available());
        match self.pool.reserve(bytes, self.stream()) {
            Err(error @ gpu::Error::OutOfMemory { .. }) => {
                tracing::debug!(%error, "memory for proofs was not taken ahead of them");
                Ok(())
            }
            taken => taken,
        }
    }

    /// The one stream that all work runs on.
    pub(super) fn stream(&self) -> &Stream {
        self.msm.stream()
    }
}

/// Opens a device with the memory that it may give: the budget, or what is free and not needed for the driver itself.
pub(super) fn open(ordinal: u32, budgets: &Budgets) -> Result<Pool, gpu::Error> {
    let device = Device::open(ordinal)?;
    let (free, _) = device.memory()?;
    let most = free.saturating_sub(MARGIN);
    Pool::new(&device, Budget::Bytes(budgets.device.map_or(most, |budget| budget.min(most))))
}

/// Test parameters in host memory.
pub(crate) fn parameters(
    device: u32,
    budgets: &Budgets,
    circuit: Arc<CompiledCircuit>,
    waste: &ToxicWaste,
) -> Result<Parameters, SetupError> {
    let workshop = Workshop::new::<SetupError>(circuit, open(device, budgets)?)?;
    target::in_memory(&workshop.shape, |targets| setup(&workshop, waste, targets))
}

/// Test parameters in a file.
pub(crate) fn parameter_file(
    device: u32,
    budgets: &Budgets,
    circuit: Arc<CompiledCircuit>,
    waste: &ToxicWaste,
    file: &File,
) -> Result<VerifyingKey, SetupError> {
    let workshop = Workshop::new::<SetupError>(circuit, open(device, budgets)?)?;
    target::in_file(file, &workshop.shape, |targets| setup(&workshop, waste, targets))
}
