//! The pipeline on a CUDA device: a packed witness goes in, five sums come out, and nothing else travels.

mod setup;
mod srs;

use std::sync::{Arc, Mutex, PoisonError};

use assignment::{Bitmap, PackedWitness};
use blstrs::{G1Projective, G2Projective, Scalar};
use gpu::clock::Recording;
use gpu::{Budget, Clock, Device, DeviceBuffer, Fr, Pool, Stream};
use msm_gpu::device::{Dense, DeviceDensity, DeviceMsm, DevicePacked, Source};
use msm_gpu::{Density, G1, G2, cpu};
use ntt_gpu::{Domain, Natural, device};
use r1cs::CompiledCircuit;
use r1cs::device::{DeviceCircuit, DeviceWitness};
use tracing::{debug_span, info_span};

use crate::pipeline::{Pipeline, Sums};
use crate::shape::Densities;
use crate::times::{Clocks, SumTimes, stage};
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
    /// One proof at a time has the device's memory and its clock.
    turn: Mutex<Clock>,
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
        let clock = Clock::new(workshop.pool.device(), &workshop.msm.streams())?;
        Ok(Self { workshop, srs, a_density, b_density, turn: Mutex::new(clock) })
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

    fn aux_sums(
        &self,
        witness: &DeviceWitness<'_>,
        h: &DeviceBuffer<Fr>,
        recording: &Recording<'_>,
        times: &mut SumTimes,
    ) -> Result<Sums, msm_gpu::Error> {
        let (msm, srs) = (&self.workshop.msm, &self.srs);
        let h = sum("h", h.len(), &mut times.h, recording, || {
            msm.msm::<G1>(Source::Device(&srs.h), Dense::Montgomery(Source::Device(h)))
        })?;
        let (len, dense) = (witness.host().num_aux(), witness.dense());
        let packed = DevicePacked::on_device(len, witness.ones(), witness.is_dense(), dense)?;
        let g1 = |query, points: &DeviceBuffer<_>, density, slot: &mut _| {
            sum(query, points.len(), slot, recording, || {
                msm.msm_packed::<G1>(Source::Device(points), &packed, density)
            })
        };
        let l = g1("l", &srs.l, None, &mut times.l)?;
        let a = g1("a", &srs.a, Some(&self.a_density), &mut times.a)?;
        let b_g1 = g1("b_g1", &srs.b_g1, Some(&self.b_density), &mut times.b_g1)?;
        let b_g2 = sum("b_g2", srs.b_g2.len(), &mut times.b_g2, recording, || {
            msm.msm_packed::<G2>(Source::Device(&srs.b_g2), &packed, Some(&self.b_density))
        })?;
        Ok(Sums { a, b_g1, b_g2, l, h })
    }

    /// The stages, whose times lack the device's clock.
    fn stages(
        &self,
        witness: &PackedWitness<Scalar>,
        recording: &Recording<'_>,
        times: &mut StageTimes,
    ) -> Result<Sums, ProveError> {
        let Workshop { circuit, pool, msm, domain, ntt, .. } = &self.workshop;
        let (stream, rows, size) = (self.workshop.stream(), circuit.circuit().num_rows(), domain.size());
        let mut upload = None;
        let products = stage(&mut times.products, info_span!("products", rows), |calls| {
            recording.stage("upload");
            let witness = stage(&mut upload, info_span!("upload", bytes = witness.memory()), |calls| {
                calls.call(debug_span!("r1cs::upload", aux = witness.num_aux()), || {
                    DeviceWitness::upload(witness, msm.staging(), pool, stream)
                })
            })?;
            calls.include([upload]);
            recording.stage("products");
            let products = calls.call(debug_span!("r1cs::satisfied_products", rows), || {
                circuit.satisfied_products(&witness, pool, stream)
            })?;
            Ok::<_, ProveError>((witness, products))
        });
        times.upload = upload;
        let (uploaded, products) = products?;
        recording.stage("quotient");
        let h = stage(&mut times.quotient, info_span!("quotient", domain = size), |calls| {
            let [a, b] = products.map(|values| device::Polynomial::<_, Natural>::new(*domain, values));
            let (a, b) = (a?, b?);
            calls.call(debug_span!("ntt_gpu::quotient", size), || ntt.quotient(stream, a, b))
        })?;
        let h = h.into_buffer();
        let sums = &mut times.sums;
        stage(&mut times.msm, info_span!("msm"), |calls| {
            let (of_inputs, of_aux) = rayon::join(
                || self.input_sums(witness.inputs()),
                || self.aux_sums(&uploaded, &h, recording, sums),
            );
            calls.include([sums.h, sums.l, sums.a, sums.b_g1, sums.b_g2]);
            let (of_inputs, mut sums) = (of_inputs?, of_aux?);
            sums.a += of_inputs.a;
            sums.b_g1 += of_inputs.b_g1;
            sums.b_g2 += of_inputs.b_g2;
            Ok(sums)
        })
    }
}

/// One sum of products, which waits for the device.
fn sum<T>(
    query: &'static str,
    len: usize,
    slot: &mut Option<Clocks>,
    recording: &Recording<'_>,
    sum: impl FnOnce() -> T,
) -> T {
    recording.stage(query);
    stage(slot, info_span!("sum", query, len), |calls| calls.call(debug_span!("msm_gpu::msm", len), sum))
}

struct InputSums {
    a: G1Projective,
    b_g1: G1Projective,
    b_g2: G2Projective,
}

impl Pipeline for Cuda {
    fn sums(&self, witness: &PackedWitness<Scalar>) -> Result<(Sums, StageTimes), ProveError> {
        // A panic under the lock leaves nothing behind: every buffer belongs to its call.
        let clock = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let recording = clock.record()?;
        let mut times = StageTimes::default();
        let mut whole = None;
        let sums = stage(&mut whole, info_span!("sums"), |calls| {
            let sums = self.stages(witness, &recording, &mut times);
            calls.include([times.products, times.quotient, times.msm]);
            sums
        });
        times.whole = whole;
        // Read even where a stage failed: what the device did until then is traced.
        let spans = recording.read();
        let sums = sums?;
        times.set_device(&spans?);
        Ok((sums, times))
    }

    fn device_peak(&self) -> Option<u64> {
        Some(self.workshop.pool.peak())
    }
}
