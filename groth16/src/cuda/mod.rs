//! The pipeline on a CUDA device: a packed witness goes in, five sums come out, and nothing else travels.

mod setup;
mod srs;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assignment::{Bitmap, PackedWitness};
use blstrs::{G1Projective, G2Projective, Scalar};
use gpu::{Budget, Device, DeviceBuffer, Fr, Pool, Stream, Timer};
use msm_gpu::device::{Dense, DeviceDensity, DeviceMsm, DevicePacked, Source};
use msm_gpu::{Density, G1, G2, cpu};
use ntt_gpu::{Domain, Natural, device};
use r1cs::CompiledCircuit;
use r1cs::device::{DeviceCircuit, DeviceWitness};

use crate::pipeline::{Pipeline, Sums, timed};
use crate::shape::Densities;
use crate::{Parameters, ProveError, StageTimes};

pub(crate) use setup::{parameters, setup};
use srs::Srs;

/// Device memory left to others: the driver's own needs grow while kernels are loaded.
const MARGIN: u64 = 1 << 30;

/// A device with everything that setups and proofs of one circuit share.
#[derive(Debug)]
pub(crate) struct Workshop {
    circuit: DeviceCircuit,
    densities: Densities,
    pool: Pool,
    msm: DeviceMsm,
    domain: Domain,
    ntt: device::Ntt,
}

impl Workshop {
    /// Opens the device, copies the circuit to it and makes the twiddles.
    pub(crate) fn open<E>(ordinal: u32, circuit: Arc<CompiledCircuit>) -> Result<Self, E>
    where
        E: From<gpu::Error> + From<ntt_gpu::Error> + From<msm_gpu::Error>,
    {
        let device = Device::open(ordinal)?;
        let (free, _) = device.memory()?;
        let pool = Pool::new(&device, Budget::Bytes(free.saturating_sub(MARGIN)))?;
        let msm = DeviceMsm::new(&pool)?;
        msm.staging().reserve()?;
        let domain = Domain::covering(circuit.num_rows())?;
        let ntt = device::Ntt::new(domain, &pool, msm.stream())?;
        let densities = Densities::of(&circuit);
        let circuit = DeviceCircuit::upload(circuit, &pool, msm.stream())?;
        Ok(Self { circuit, densities, pool, msm, domain, ntt })
    }

    /// The one stream that all work runs on.
    fn stream(&self) -> &Stream {
        self.msm.stream()
    }
}

/// A compiled circuit and its parameters on a device.
#[derive(Debug)]
pub(crate) struct Cuda {
    workshop: Workshop,
    srs: Srs,
    a_density: DeviceDensity,
    b_density: DeviceDensity,
    /// One proof at a time has the device's memory.
    turn: Mutex<()>,
}

impl Cuda {
    /// Copies parameters, whose shape has been checked, to the device.
    pub(crate) fn with_parameters(workshop: Workshop, parameters: &Parameters) -> Result<Self, ProveError> {
        let srs = Srs::upload(&workshop, parameters)?;
        Self::with_srs(workshop, srs)
    }

    pub(crate) fn with_srs(workshop: Workshop, srs: Srs) -> Result<Self, ProveError> {
        let density = |bitmap: &Bitmap| -> Result<DeviceDensity, ProveError> {
            Ok(workshop.msm.upload_density(&Density::new(bitmap.len(), bitmap.words())?)?)
        };
        let a_density = density(&workshop.densities.a_aux)?;
        let b_density = density(&workshop.densities.b_aux)?;
        Ok(Self { workshop, srs, a_density, b_density, turn: Mutex::new(()) })
    }

    /// The sums over the inputs, of which there are few, on the processor.
    fn input_sums(&self, inputs: &[Scalar]) -> Result<InputSums, msm_gpu::Error> {
        let in_b: Vec<Scalar> = self.workshop.densities.b_inputs.ones().map(|i| inputs[i]).collect();
        let srs = &self.srs;
        Ok(InputSums {
            a: cpu::msm::<G1>(&srs.a_inputs, inputs)?,
            b_g1: cpu::msm::<G1>(&srs.b_g1_inputs, &in_b)?,
            b_g2: cpu::msm::<G2>(&srs.b_g2_inputs, &in_b)?,
        })
    }

    fn aux_sums(&self, witness: &DeviceWitness<'_>, h: &DeviceBuffer<Fr>) -> Result<Sums, msm_gpu::Error> {
        let (msm, srs) = (&self.workshop.msm, &self.srs);
        let h = clocked("h", h.len(), || {
            msm.msm::<G1>(Source::Device(&srs.h), Dense::Montgomery(Source::Device(h)))
        })?;
        let (len, dense) = (witness.host().num_aux(), witness.dense());
        let packed = DevicePacked::on_device(len, witness.ones(), witness.is_dense(), dense)?;
        let g1 = |query, points: &DeviceBuffer<_>, density| -> Result<G1Projective, msm_gpu::Error> {
            clocked(query, points.len(), || msm.msm_packed::<G1>(Source::Device(points), &packed, density))
        };
        let l = g1("l", &srs.l, None)?;
        let a = g1("a", &srs.a, Some(&self.a_density))?;
        let b_g1 = g1("b_g1", &srs.b_g1, Some(&self.b_density))?;
        let b_g2 = clocked("b_g2", srs.b_g2.len(), || {
            msm.msm_packed::<G2>(Source::Device(&srs.b_g2), &packed, Some(&self.b_density))
        })?;
        Ok(Sums { a, b_g1, b_g2, l, h })
    }
}

/// Runs one sum of products, which waits for the device, and says how long it took.
fn clocked<T>(query: &'static str, len: usize, sum: impl FnOnce() -> T) -> T {
    let _span = tracing::info_span!("msm", query, len).entered();
    let start = Instant::now();
    let out = sum();
    tracing::debug!(query, len, ms = start.elapsed().as_secs_f64() * 1e3, "multiplied");
    out
}

struct InputSums {
    a: G1Projective,
    b_g1: G1Projective,
    b_g2: G2Projective,
}

impl Pipeline for Cuda {
    fn sums(&self, witness: &PackedWitness<Scalar>) -> Result<(Sums, StageTimes), ProveError> {
        // A panic under the lock leaves nothing behind: every buffer belongs to its call.
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let Workshop { circuit, pool, msm, domain, ntt, .. } = &self.workshop;
        let stream = self.workshop.stream();
        let mut times = StageTimes::default();
        let mut on_device = Duration::ZERO;
        let products = timed(&mut times.products, || {
            let _span = tracing::info_span!("products", rows = circuit.circuit().num_rows()).entered();
            let timer = Timer::start(stream)?;
            let start = Instant::now();
            let witness = DeviceWitness::upload(witness, msm.staging(), pool, stream)?;
            tracing::debug!(
                bytes = witness.host().memory(),
                ms = start.elapsed().as_secs_f64() * 1e3,
                "witness uploaded"
            );
            let products = circuit.satisfied_products(&witness, pool, stream)?;
            on_device += timer.stop()?;
            Ok::<_, ProveError>((witness, products))
        });
        let (uploaded, products) = products?;
        let h = timed(&mut times.quotient, || {
            let _span = tracing::info_span!("quotient", domain = domain.size()).entered();
            let timer = Timer::start(stream)?;
            let [a, b] = products.map(|values| device::Polynomial::<_, Natural>::new(*domain, values));
            let h = ntt.quotient(stream, a?, b?)?.into_buffer();
            on_device += timer.stop()?;
            Ok::<_, ProveError>(h)
        })?;
        let sums = timed(&mut times.msm, || {
            let timer = Timer::start(stream)?;
            let (of_inputs, of_aux) =
                rayon::join(|| self.input_sums(witness.inputs()), || self.aux_sums(&uploaded, &h));
            let (of_inputs, mut sums) = (of_inputs?, of_aux?);
            sums.a += of_inputs.a;
            sums.b_g1 += of_inputs.b_g1;
            sums.b_g2 += of_inputs.b_g2;
            on_device += timer.stop()?;
            Ok::<_, ProveError>(sums)
        })?;
        times.device = Some(on_device);
        Ok((sums, times))
    }
}
