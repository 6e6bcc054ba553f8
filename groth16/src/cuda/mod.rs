//! The pipeline on a CUDA device: a packed witness goes in, five sums come out, and nothing else travels but points that
//! the [plan](crate::Plan) leaves elsewhere.

mod query;
mod retry;
mod setup;
mod srs;
mod target;
mod workshop;

use std::sync::{Arc, Mutex, PoisonError};

use assignment::{Bitmap, PackedWitness};
use blstrs::{G1Projective, G2Projective, Scalar};
use gpu::clock::Recording;
use gpu::{Clock, DeviceBuffer, Fr};
use msm_gpu::device::{Dense, DeviceCurve, DeviceDensity, DevicePacked, Source, WindowSums};
use msm_gpu::{Density, G1, G2, cpu};
use ntt_gpu::{Natural, device};
use r1cs::CompiledCircuit;
use r1cs::device::DeviceWitness;
use tracing::{debug_span, info_span};

use crate::pipeline::{Pipeline, Stage, Staged, Sums};
use crate::times::{Clocks, SumTimes, stage};
use crate::turns::Turns;
use crate::{Budgets, Origin, Plan, ProveError, StageTimes, ToxicWaste, VerifyingKey};

pub(crate) use query::HostParameters;
use query::{Group, Query};
use retry::retry;
use srs::Srs;
use workshop::Workshop;
pub(crate) use workshop::{parameter_file, parameters};

/// A compiled circuit and its parameters on a device.
#[derive(Debug)]
pub(crate) struct Cuda {
    workshop: Workshop,
    plan: Plan,
    ntt: device::Ntt,
    srs: Srs,
    a_density: DeviceDensity,
    b_density: DeviceDensity,
    pinned: Stage,
    /// One proof at a time has the device's memory and its clock, in the order in which they come.
    turns: Turns,
    clock: Mutex<Clock>,
}

impl Cuda {
    /// Brings parameters, whose shape has been checked, to where the budgets let them be. With `check_subgroups` all of their points
    /// are checked to be in the subgroup of prime order.
    pub(crate) fn with_parameters(
        device: u32,
        budgets: &Budgets,
        circuit: &Arc<CompiledCircuit>,
        parameters: &HostParameters,
        check_subgroups: bool,
    ) -> Result<Self, ProveError> {
        retry(device, budgets, circuit, parameters.origin(), |pool, plan| {
            let workshop = Workshop::new::<ProveError>(circuit.clone(), pool)?;
            let srs = Srs::load(parameters, &plan, check_subgroups, &workshop)?;
            Self::new(workshop, plan, srs)
        })
    }

    /// Makes test parameters where the budgets let them be.
    pub(crate) fn with_test_parameters(
        device: u32,
        budgets: &Budgets,
        circuit: &Arc<CompiledCircuit>,
        waste: &ToxicWaste,
    ) -> Result<(VerifyingKey, Self), ProveError> {
        retry(device, budgets, circuit, Origin::Made, |pool, plan| {
            let workshop = Workshop::new::<ProveError>(circuit.clone(), pool)?;
            let (vk, srs) = Srs::make(&plan, &workshop, |targets| setup::setup(&workshop, waste, targets))?;
            Ok((vk, Self::new(workshop, plan, srs)?))
        })
    }

    fn new(workshop: Workshop, plan: Plan, srs: Srs) -> Result<Self, ProveError> {
        let density = |bitmap: &Bitmap| -> Result<DeviceDensity, ProveError> {
            Ok(workshop.msm.upload_density(&Density::new(bitmap.len(), bitmap.words())?)?)
        };
        let a_density = density(&workshop.densities.a_aux)?;
        let b_density = density(&workshop.densities.b_aux)?;
        let ntt = device::Ntt::within(plan.quotient, workshop.domain, &workshop.pool, workshop.stream())?;
        workshop.reserve(plan.device_peak)?;
        let clock = Clock::new(workshop.pool.device(), &workshop.msm.streams())?;
        let pinned = Stage::new(workshop.pool.device())?;
        Ok(Self {
            workshop,
            plan,
            ntt,
            srs,
            a_density,
            b_density,
            pinned,
            turns: Turns::new(1),
            clock: Mutex::new(clock),
        })
    }

    /// The sums over the inputs, of which there are few, on the processor.
    fn input_sums(&self, inputs: &[Scalar]) -> Result<InputSums, msm_gpu::Error> {
        let in_b: Vec<Scalar> = self.workshop.densities.b_inputs.ones().map(|i| inputs[i]).collect();
        let points = &self.srs.of_inputs;
        Ok(InputSums {
            a: cpu::msm::<G1>(&points.a, inputs)?,
            b_g1: cpu::msm::<G1>(&points.b_g1, &in_b)?,
            b_g2: cpu::msm::<G2>(&points.b_g2, &in_b)?,
        })
    }

    /// The sums on the device. A witness that did not stay there is sent again: the first sum over it waits for that.
    fn device_sums(
        &self,
        witness: Where<'_>,
        quotient: DeviceBuffer<Fr>,
        recording: &Recording<'_>,
        times: &mut SumTimes,
    ) -> Result<Sums, ProveError> {
        let (msm, srs) = (&self.workshop.msm, &self.srs);
        let mut sums = Sums::zero();
        let Sums { a, b_g1, b_g2, l, h } = &mut sums;
        // The last additions of each sum are made on other threads, while the device works on the next one. G2 has more of them
        // and is not last.
        rayon::in_place_scope(|scope| {
            let unjoined = self.sum("h", &srs.h, &mut times.h, recording, |points| {
                let sums = msm.window_sums::<G1>(points, Dense::Montgomery(Source::Device(&quotient)));
                drop(quotient);
                sums
            })?;
            scope.spawn(move |_| *h = joined("h", &unjoined));
            let mut sent_again = None;
            let witness = match witness {
                Where::Device(witness) => witness,
                Where::Host(witness, staged) => {
                    recording.stage("l");
                    self.upload(witness, staged.as_ref(), &mut sent_again)?
                }
            };
            let (len, dense) = (witness.host().num_aux(), witness.dense());
            let packed = DevicePacked::on_device(len, witness.ones(), witness.is_dense(), dense)?;
            let g1 = |name, query: &Query<G1>, density, slot: &mut _| {
                self.sum(name, query, slot, recording, |points| {
                    msm.window_sums_packed::<G1>(points, &packed, density)
                })
            };
            let unjoined = g1("l", &srs.l, None, &mut times.l)?;
            if let (Some(clocks), Some(sent)) = (&mut times.l, sent_again) {
                clocks.add(&sent);
            }
            scope.spawn(move |_| *l = joined("l", &unjoined));
            let unjoined = self.sum("b_g2", &srs.b_g2, &mut times.b_g2, recording, |points| {
                msm.window_sums_packed::<G2>(points, &packed, Some(&self.b_density))
            })?;
            scope.spawn(move |_| *b_g2 = joined("b_g2", &unjoined));
            let unjoined = g1("a", &srs.a, Some(&self.a_density), &mut times.a)?;
            scope.spawn(move |_| *a = joined("a", &unjoined));
            let unjoined = g1("b_g1", &srs.b_g1, Some(&self.b_density), &mut times.b_g1)?;
            *b_g1 = joined("b_g1", &unjoined);
            Ok::<_, ProveError>(())
        })?;
        Ok(sums)
    }

    fn upload<'w>(
        &self,
        witness: &'w PackedWitness<Scalar>,
        staged: Option<&Staged>,
        slot: &mut Option<Clocks>,
    ) -> Result<DeviceWitness<'w>, gpu::Error> {
        let (pool, msm) = (&self.workshop.pool, &self.workshop.msm);
        let copy = staged.and_then(Staged::copy);
        stage(slot, info_span!("upload", bytes = witness.memory(), staged = copy.is_some()), |calls| {
            calls.call(debug_span!("r1cs::upload", aux = witness.num_aux()), || match copy {
                Some(copy) => DeviceWitness::upload_pinned(witness, copy, pool, msm.stream()),
                None => DeviceWitness::upload(witness, msm.staging(), pool, msm.stream()),
            })
        })
    }

    /// One sum of products over a query, which waits for the device: until it has also wiped what the sum leaves there.
    fn sum<C: Group, T>(
        &self,
        name: &'static str,
        query: &Query<C>,
        slot: &mut Option<Clocks>,
        recording: &Recording<'_>,
        sum: impl FnOnce(Source<'_, C::Words>) -> Result<T, msm_gpu::Error>,
    ) -> Result<T, ProveError> {
        let points = query.source();
        let len = points.len();
        recording.stage(name);
        stage(slot, info_span!("sum", query = name, len), |calls| {
            calls.call(debug_span!("msm_gpu::msm", len), || {
                let sums = sum(points).map_err(|error| query.explain(error))?;
                self.workshop.stream().synchronize()?;
                Ok(sums)
            })
        })
    }

    /// The stages, whose times lack the device's clock.
    fn stages(
        &self,
        witness: &PackedWitness<Scalar>,
        staged: Option<Staged>,
        recording: &Recording<'_>,
        times: &mut StageTimes,
    ) -> Result<Sums, ProveError> {
        let Workshop { circuit, pool, domain, .. } = &self.workshop;
        let (stream, rows, size) = (self.workshop.stream(), circuit.circuit().num_rows(), domain.size());
        let mut upload = None;
        let products = stage(&mut times.products, info_span!("products", rows), |calls| {
            recording.stage("upload");
            let uploaded = self.upload(witness, staged.as_ref(), &mut upload)?;
            calls.include([upload]);
            recording.stage("products");
            let products = calls.call(debug_span!("r1cs::satisfied_products", rows), || {
                circuit.satisfied_products(&uploaded, pool, stream)
            })?;
            // The upload is over, so that this does not wait.
            let now = match self.plan.keeps(witness) {
                true => {
                    drop(staged);
                    Where::Device(uploaded)
                }
                false => Where::Host(witness, staged),
            };
            Ok::<_, ProveError>((now, products))
        });
        times.upload = upload;
        let (on_device, products) = products?;
        recording.stage("quotient");
        let h = stage(&mut times.quotient, info_span!("quotient", domain = size), |calls| {
            let [a, b] = products.map(|values| device::Polynomial::<_, Natural>::new(*domain, values));
            let (a, b) = (a?, b?);
            calls.call(debug_span!("ntt_gpu::quotient", size), || self.ntt.quotient(stream, a, b))
        })?;
        let h = h.into_buffer();
        let sums = &mut times.sums;
        stage(&mut times.msm, info_span!("msm"), |calls| {
            let (of_inputs, of_aux) = beside(
                || self.input_sums(witness.inputs()),
                || self.device_sums(on_device, h, recording, sums),
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

/// Does two things at a time. Not by rayon's `join`, whose wait would take up other work, such as the making of a witness.
fn beside<A: Send, B>(other: impl Fn() -> A + Sync, own: impl FnOnce() -> B) -> (A, B) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, &other);
        let own = own();
        let other = match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // The system has no more threads.
            Err(_) => other(),
        };
        (other, own)
    })
}

/// The result of a sum.
fn joined<C: DeviceCurve>(query: &'static str, sums: &WindowSums<C>) -> C::Projective {
    debug_span!("msm_gpu::join", query).in_scope(|| sums.join())
}

/// Where a witness is after the products.
enum Where<'w> {
    /// Still on the device.
    Device(DeviceWitness<'w>),
    /// On the host alone, with its copy.
    Host(&'w PackedWitness<Scalar>, Option<Staged>),
}

struct InputSums {
    a: G1Projective,
    b_g1: G1Projective,
    b_g2: G2Projective,
}

impl Pipeline for Cuda {
    fn sums(
        &self,
        witness: &PackedWitness<Scalar>,
        staged: Option<Staged>,
    ) -> Result<(Sums, StageTimes), ProveError> {
        let _turn = self.turns.take();
        // A panic under the lock leaves nothing behind: every buffer belongs to its call.
        let clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
        self.srs.check_unchanged()?;
        let recording = clock.record()?;
        let mut times = StageTimes::default();
        let mut whole = None;
        let sums = stage(&mut whole, info_span!("sums"), |calls| {
            let sums = self.stages(witness, staged, &recording, &mut times);
            calls.include([times.products, times.quotient, times.msm]);
            sums
        });
        times.whole = whole;
        // Read even where a stage failed: what the device did until then is traced.
        let spans = recording.read();
        let sums = sums?;
        self.srs.check_unchanged()?;
        times.set_device(&spans?);
        Ok((sums, times))
    }

    fn stage(&self, witness: &PackedWitness<Scalar>) -> Option<Staged> {
        let fits = self.plan.pins(witness);
        fits.then(|| self.pinned.copy(witness)).flatten()
    }

    fn plan(&self) -> Option<&Plan> {
        Some(&self.plan)
    }

    fn device_peak(&self) -> Option<u64> {
        Some(self.workshop.pool.peak())
    }
}
