//! Several provers of one circuit, for as many devices.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assignment::PackedWitness;
use blstrs::Scalar;
use r1cs::CompiledCircuit;
use rand_core::{CryptoRng, RngCore};
use thiserror::Error;

use crate::many::{Outcome, ProveManyError, prove_each};
use crate::pipeline::Staged;
use crate::turns::Turns;
use crate::worker::WorkerError;
use crate::{
    Backend, FileOptions, Parameters, Plan, PreparedVerifyingKey, Proof, ProveError, Proved, Prover,
    Randomness, ToxicWaste, VerificationError, VerifyingKey,
};

/// Provers that do not make a fleet.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FleetError {
    /// There is none.
    #[error("no prover")]
    Empty,
    /// A device is named twice: both provers would need its memory, and neither would be faster for the other.
    #[error("CUDA device {0} is named twice")]
    Twice(u32),
    /// The provers' parameters differ.
    #[error("prover {index} has another verifying key than prover 0")]
    OtherKey {
        /// Whose.
        index: usize,
    },
    /// A prover could not be made.
    #[error("prover {index}: {source}")]
    Prover {
        /// Which.
        index: usize,
        /// Why.
        source: Box<ProveError>,
    },
}

/// Why a prover of a fleet is not used any more.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DropOut {
    /// Its device failed.
    #[error(transparent)]
    Device(#[from] gpu::Error),
    /// Its worker ended, and there is no new one: the whole of that error.
    #[error("{0}")]
    Worker(String),
}

impl DropOut {
    /// What a proof's error means for its prover.
    fn of(error: &ProveError, prover: &Prover) -> Option<Self> {
        match error {
            ProveError::Worker(WorkerError::NoneLeft(_)) => Some(Self::Worker(error.to_string())),
            _ if prover.pipeline.recovers() => None,
            _ => error.failed_device().cloned().map(Self::Device),
        }
    }

    /// The device's error, where it is one.
    pub fn device(&self) -> Option<&gpu::Error> {
        match self {
            Self::Device(error) => Some(error),
            Self::Worker(_) => None,
        }
    }
}

impl FleetError {
    /// The error of making a prover, where it is one.
    pub fn prover(&self) -> Option<&ProveError> {
        match self {
            Self::Prover { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// One prover for each device, all of one circuit under the same parameters.
///
/// Every proof goes to the prover that is free, or is free first; several callers are served in the order in which they come, so that
/// a single proof waits for one proof of a batch that was there before it, not for the batch.
///
/// # When a device fails
/// The proof on it has the error for its outcome. A prover whose device failed (anything but too little memory) is not used any more
/// until it is [replaced](Fleet::replace) by a new one, and when no prover is left proofs answer [`ProveError::NoProverLeft`] at once.
/// No proof is repeated elsewhere unasked.
///
/// CUDA takes **all** devices from a process one of whose kernels faults ([`gpu::Error::DeviceLost`]), so that all provers on devices
/// drop out then, one after another. Provers in [workers](crate::worker), one for each device, do not: the worker of the one starts
/// again, the others are not concerned. One whose worker cannot be started again drops out too: it would fail proof after proof in less
/// time than another takes to make one.
#[derive(Debug)]
pub struct Fleet {
    provers: Vec<Prover>,
    turns: Turns,
    /// Why provers dropped out.
    failed: Vec<Mutex<Option<DropOut>>>,
    verify: bool,
}

/// The outcomes of many proofs.
#[derive(Debug)]
pub struct Batch<E> {
    /// One for each witness, in order.
    pub outcomes: Vec<Outcome<E>>,
    /// How long verifying them took, if they were verified.
    pub verify: Option<Duration>,
}

impl<E> Batch<E> {
    /// All proofs, or the first error.
    pub fn into_proofs(self) -> Result<Vec<Proved>, ProveManyError<E>> {
        self.outcomes.into_iter().collect()
    }
}

impl From<Prover> for Fleet {
    fn from(prover: Prover) -> Self {
        Self::of(vec![prover])
    }
}

impl Fleet {
    /// A fleet of provers of one circuit. Whether a proof is verified is the fleet's affair from here on: see [`Fleet::verify_proofs`].
    pub fn new(provers: Vec<Prover>) -> Result<Self, FleetError> {
        let first = provers.first().ok_or(FleetError::Empty)?;
        match provers.iter().position(|prover| prover.key() != first.key()) {
            Some(index) => Err(FleetError::OtherKey { index }),
            None => Ok(Self::of(provers)),
        }
    }

    fn of(provers: Vec<Prover>) -> Self {
        let provers: Vec<_> = provers.into_iter().map(|prover| prover.verify_proofs(false)).collect();
        let turns = Turns::new(provers.len());
        let failed = provers.iter().map(|_| Mutex::default()).collect();
        Self { provers, turns, failed, verify: true }
    }

    /// A prover on each backend, made side by side; see [`Prover::new`].
    pub fn with_parameters(
        circuit: &Arc<CompiledCircuit>,
        parameters: &Arc<Parameters>,
        backends: &[Backend],
    ) -> Result<Self, FleetError> {
        Self::on(backends, |backend| Prover::new(circuit.clone(), parameters.clone(), backend))
    }

    /// A prover on each backend whose parameters are in a file; see [`Prover::with_parameter_file`].
    pub fn with_parameter_file(
        circuit: &Arc<CompiledCircuit>,
        path: impl AsRef<Path>,
        options: FileOptions<'_>,
        backends: &[Backend],
    ) -> Result<Self, FleetError> {
        let path = path.as_ref();
        Self::on(backends, |backend| Prover::with_parameter_file(circuit.clone(), path, options, backend))
    }

    /// A prover with **test parameters** on each backend, each making them for itself from the one trapdoor; see
    /// [`Prover::with_test_parameters`].
    pub fn with_test_parameters(
        circuit: &Arc<CompiledCircuit>,
        waste: ToxicWaste,
        backends: &[Backend],
    ) -> Result<Self, FleetError> {
        Self::on(backends, |backend| Prover::with_test_parameters(circuit.clone(), waste.copy(), backend))
    }

    /// A prover on each backend as `make` makes it, side by side.
    pub fn on(
        backends: &[Backend],
        make: impl Fn(Backend) -> Result<Prover, ProveError> + Sync,
    ) -> Result<Self, FleetError> {
        let mut devices = BTreeSet::new();
        for backend in backends {
            if let Backend::Cuda { device, .. } = backend
                && !devices.insert(*device)
            {
                return Err(FleetError::Twice(*device));
            }
        }
        let one = |(index, backend): (usize, &Backend)| {
            make(*backend).map_err(|source| FleetError::Prover { index, source: source.into() })
        };
        // A single one on this thread, and so on the pool of threads that the caller chose.
        let provers: Result<Vec<_>, _> = match backends {
            [_] => backends.iter().enumerate().map(one).collect(),
            _ => std::thread::scope(|scope| {
                let threads: Vec<_> =
                    backends.iter().enumerate().map(|entry| scope.spawn(move || one(entry))).collect();
                let joined = threads.into_iter().map(|thread| match thread.join() {
                    Ok(prover) => prover,
                    Err(panic) => std::panic::resume_unwind(panic),
                });
                joined.collect()
            }),
        };
        Self::new(provers?)
    }

    /// Whether proofs are verified before they are returned: they are, unless turned off here.
    pub fn verify_proofs(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// The verifying key.
    pub fn key(&self) -> &VerifyingKey {
        self.verifying_key().key()
    }

    /// The prepared verifying key.
    pub fn verifying_key(&self) -> &PreparedVerifyingKey {
        // There is a first one: `new` sees to it.
        self.provers[0].verifying_key()
    }

    /// The provers, in the order of the backends.
    pub fn provers(&self) -> &[Prover] {
        &self.provers
    }

    /// For each prover why it dropped out, if it did.
    pub fn failures(&self) -> Vec<Option<DropOut>> {
        self.failed.iter().map(|failed| lock(failed).clone()).collect()
    }

    /// Puts a new prover in the place of one that dropped out, and gives the old one back: drop it only after what it holds on a lost
    /// device is of no use any more, and open the device anew after that.
    ///
    /// # Errors
    /// [`FleetError::OtherKey`] when the new one has other parameters.
    pub fn replace(&mut self, index: usize, prover: Prover) -> Result<Option<Prover>, FleetError> {
        if prover.key() != self.key() {
            return Err(FleetError::OtherKey { index });
        }
        let (Some(place), Some(failed)) = (self.provers.get_mut(index), self.failed.get_mut(index)) else {
            return Ok(None);
        };
        let old = std::mem::replace(place, prover.verify_proofs(false));
        if failed.get_mut().unwrap_or_else(PoisonError::into_inner).take().is_some() {
            self.turns.reopen(index);
        }
        Ok(Some(old))
    }

    /// Where the provers on devices have everything, in their order.
    pub fn plans(&self) -> impl Iterator<Item = &Plan> {
        self.provers.iter().filter_map(Prover::plan)
    }

    /// The most bytes of device memory that a prover has had in use at a time. `None` without a device.
    pub fn device_peak(&self) -> Option<u64> {
        self.provers.iter().filter_map(Prover::device_peak).max()
    }

    /// A proof with fresh randomness, verified.
    ///
    /// Call it from a thread of your own, not from a task of rayon's: on a device proofs take turns, and a worker of rayon's that waits
    /// within one may take up another task, which would wait for that same turn.
    pub fn prove(
        &self,
        witness: &PackedWitness<Scalar>,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<Proved, ProveError> {
        let mut proved = self.unverified(witness, None, Randomness::random(rng))?;
        if self.verify {
            let start = Instant::now();
            self.verifying_key().verify(&proved.proof, &proved.public_inputs)?;
            proved.times.verify = Some(start.elapsed());
        }
        Ok(proved)
    }

    /// On the prover whose turn it is.
    fn unverified(
        &self,
        witness: &PackedWitness<Scalar>,
        staged: Option<Staged>,
        randomness: Randomness,
    ) -> Result<Proved, ProveError> {
        let Some(turn) = self.turns.take() else {
            let last = self.failed.iter().find_map(|failed| lock(failed).clone());
            return Err(ProveError::NoProverLeft(last.map(Box::new)));
        };
        let prover = &self.provers[turn.place()];
        let outcome = prover.prove_staged(witness, staged, randomness);
        if let Err(error) = &outcome
            && let Some(cause) = DropOut::of(error, prover)
        {
            tracing::error!(prover = turn.place(), %error, "a prover drops out");
            *lock(&self.failed[turn.place()]) = Some(cause);
            turn.close();
        }
        outcome
    }

    /// A copy of a witness for whichever prover is next, where one of those that did not fail has a place for it.
    fn stage(&self, witness: &PackedWitness<Scalar>) -> Option<Staged> {
        let mut in_use = self.provers.iter().zip(&self.failed).filter(|(_, failed)| lock(failed).is_none());
        in_use.find_map(|(prover, _)| prover.pipeline.stage(witness))
    }

    /// Proofs with fresh randomness of witnesses as they come, verified together at the end: one outcome for each witness, in order.
    ///
    /// The next witness is made on a thread of its own while others are proved; no more than one for each prover and that one are
    /// in memory. The randomness follows the order of the witnesses, whichever device proves them. `progress` sees each
    /// outcome when its turn comes, before it is verified; after `Break` no further proofs are begun and the batch ends with that
    /// outcome.
    pub fn prove_all<E: Send>(
        &self,
        witnesses: impl Iterator<Item = Result<PackedWitness<Scalar>, E>> + Send,
        rng: &mut (impl RngCore + CryptoRng + Send),
        mut progress: impl FnMut(&Outcome<E>) -> ControlFlow<()>,
    ) -> Batch<E> {
        let mut outcomes = Vec::new();
        let stage = |witness: &_| self.stage(witness);
        let prove = |witness: &_, staged, randomness| self.unverified(witness, staged, randomness);
        prove_each(self.provers.len(), stage, prove, witnesses, rng, |outcome| {
            let flow = progress(&outcome);
            outcomes.push(outcome);
            flow
        });
        let mut verify = None;
        if self.verify {
            let start = Instant::now();
            let span = tracing::info_span!("verify", proofs = outcomes.len()).entered();
            self.verify(&mut outcomes, rng);
            drop(span);
            verify = Some(start.elapsed());
        }
        Batch { outcomes, verify }
    }

    /// Turns proofs that do not verify into errors.
    fn verify<E>(&self, outcomes: &mut [Outcome<E>], rng: &mut (impl RngCore + CryptoRng)) {
        let proofs = outcomes.iter().flatten();
        let batch: Vec<(Proof, _)> =
            proofs.map(|proved| (proved.proof, proved.public_inputs.clone())).collect();
        let key = self.verifying_key();
        // One alone is verified faster by itself.
        if batch.is_empty() || batch.len() > 1 && key.verify_batch(&batch, rng).is_ok() {
            return;
        }
        let errors: Vec<Option<VerificationError>> =
            batch.iter().map(|(proof, inputs)| key.verify(proof, inputs).err()).collect();
        // A batch that fails without a bad proof means that this machine computes wrongly; then none is vouched for.
        let inconsistent = batch.len() > 1 && errors.iter().all(Option::is_none);
        let all = inconsistent.then_some(VerificationError::InvalidProof);
        let mut errors = errors.into_iter();
        for (index, outcome) in outcomes.iter_mut().enumerate() {
            if outcome.is_ok()
                && let Some(error) = errors.next().flatten().or_else(|| all.clone())
            {
                let source = Box::new(ProveError::Verification(error));
                *outcome = Err(ProveManyError::Prove { index, source });
            }
        }
    }
}

fn lock(failed: &Mutex<Option<DropOut>>) -> std::sync::MutexGuard<'_, Option<DropOut>> {
    // One assignment happens under the lock.
    failed.lock().unwrap_or_else(PoisonError::into_inner)
}
