//! Proving.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use assignment::{PackedError, PackedWitness, ProvingAssignment};
use blstrs::Scalar;
use group::Curve as _;
use r1cs::{CheckError, CompiledCircuit};
use rand_core::{CryptoRng, RngCore};
use thiserror::Error;

use crate::cpu::Cpu;
use crate::cuda::{Cuda, HostParameters};
use crate::many::{Outcome, prove_each};
use crate::pipeline::{Pipeline, Staged, Sums};
use crate::points::ParameterFile;
use crate::shape::Densities;
use crate::times::timed;
use crate::worker::WorkerError;
use crate::{
    Backend, DropOut, FileOptions, KeyError, ParameterError, Parameters, Plan, PlanError,
    PreparedVerifyingKey, Proof, Randomness, SetupError, StageTimes, ToxicWaste, VerificationError,
    VerifyingKey, cpu,
};

/// A proof that was not made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProveError {
    /// The witness does not satisfy the circuit (the error names the first row), or is another circuit's.
    #[error("the witness does not fit the circuit: {0}")]
    Witness(#[from] CheckError),
    /// The parameters are another circuit's, or damaged, or not to be read, or their file has changed.
    #[error("parameters: {0}")]
    Parameters(#[from] ParameterError),
    /// The verifying key in the parameters is wrong.
    #[error("verifying key: {0}")]
    Key(#[from] KeyError),
    /// The device is missing or failed.
    #[error(transparent)]
    Device(#[from] gpu::Error),
    /// The device's products are not the processor's.
    #[error(transparent)]
    Products(r1cs::device::DeviceError),
    /// Making test parameters failed.
    #[error("setup: {0}")]
    Setup(#[from] SetupError),
    /// The assignment's values do not make a witness.
    #[error("the assignment is not a witness: {0}")]
    Packed(#[from] PackedError),
    /// A transform failed.
    #[error("quotient: {0}")]
    Transform(#[from] ntt_gpu::Error),
    /// A multi-scalar multiplication failed.
    #[error("multi-scalar multiplication: {0}")]
    Sum(msm_gpu::Error),
    /// The budgets of memory leave no room for the circuit.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// All provers of a [`Fleet`](crate::Fleet) have dropped out before; why one of them did.
    #[error("no prover is left{}", .0.as_ref().map(|cause| format!(": {cause}")).unwrap_or_default())]
    NoProverLeft(Option<Box<DropOut>>),
    /// The prover's worker.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// The finished proof does not verify: the parameters are another circuit's of the same shape, or the arithmetic went wrong.
    #[error("the finished proof does not verify: {0}")]
    Verification(#[from] VerificationError),
}

impl From<msm_gpu::Error> for ProveError {
    fn from(error: msm_gpu::Error) -> Self {
        match error {
            // Points are read from a file while they are multiplied.
            msm_gpu::Error::Reader(error) => match error.downcast::<ParameterError>() {
                Ok(error) => Self::Parameters(*error),
                Err(error) => Self::Sum(msm_gpu::Error::Reader(error)),
            },
            error => Self::Sum(error),
        }
    }
}

impl From<r1cs::device::DeviceError> for ProveError {
    fn from(error: r1cs::device::DeviceError) -> Self {
        match error {
            r1cs::device::DeviceError::Check(error) => Self::Witness(error),
            r1cs::device::DeviceError::Device(error) => Self::Device(error),
            error => Self::Products(error),
        }
    }
}

impl ProveError {
    /// The device's error, where one lies beneath.
    pub fn device(&self) -> Option<&gpu::Error> {
        match self {
            Self::Device(error)
            | Self::Transform(ntt_gpu::Error::Device(error))
            | Self::Sum(msm_gpu::Error::Device(error)) => Some(error),
            Self::Setup(error) => error.device(),
            Self::NoProverLeft(cause) => cause.as_deref().and_then(DropOut::device),
            _ => None,
        }
    }

    /// The device's error, where it says that the device should not be used any more: not when there was too little memory, nor when
    /// the call itself was wrong.
    pub fn failed_device(&self) -> Option<&gpu::Error> {
        use gpu::Error;
        self.device().filter(|error| {
            !matches!(error, Error::OutOfMemory { .. } | Error::Length { .. } | Error::OtherDevice { .. })
        })
    }
}

/// A finished proof.
#[derive(Debug, Clone)]
pub struct Proved {
    /// The proof.
    pub proof: Proof,
    /// The public inputs, without ONE.
    pub public_inputs: Vec<Scalar>,
    /// How long each stage took.
    pub times: StageTimes,
}

/// A circuit and its parameters, ready to prove witness after witness.
///
/// ```text
/// A = α + Σ w_i A_i(τ) + r·δ                                       in G1
/// B = β + Σ w_i B_i(τ) + s·δ                                       in G2, and in G1 for C
/// C = Σ_aux w_i l_i + Σ h_i τ^i t(τ)/δ + s·A + r·B - r·s·δ         in G1
/// ```
#[derive(Debug)]
pub struct Prover {
    vk: VerifyingKey,
    verifying_key: PreparedVerifyingKey,
    pub(crate) pipeline: Box<dyn Pipeline>,
    verify: bool,
}

impl Prover {
    /// A prover of `circuit` on `backend`. The parameters must have the circuit's shape and a usable verifying key.
    pub fn new(
        circuit: Arc<CompiledCircuit>,
        parameters: Arc<Parameters>,
        backend: Backend,
    ) -> Result<Self, ProveError> {
        let densities = Densities::of(&circuit);
        parameters.check_shape(&densities.shape(circuit.num_rows()))?;
        let verifying_key = PreparedVerifyingKey::new(&parameters.vk)?;
        let pipeline = backend.open(circuit, densities, &parameters)?;
        Ok(Self::of(parameters.vk.clone(), verifying_key, pipeline))
    }

    /// A prover whose parameters are in a file.
    ///
    /// On the CPU it keeps no points in memory: it reads the file anew for each proof, in stretches, as the sums go through it.
    /// Where parameters do not fit, or are used once; each proof costs reading and checking the points again, a few percent of their sums.
    /// On a device the [`Plan`] says which points are kept, and which are read for each proof; the device decodes what is read.
    ///
    /// What [`Parameters::read_file`] checks is checked here too: the key, the lengths and the digest, if one is given, at once, and
    /// each point when it is read. A file that changes fails the proof.
    pub fn with_parameter_file(
        circuit: Arc<CompiledCircuit>,
        path: impl AsRef<Path>,
        options: FileOptions<'_>,
        backend: Backend,
    ) -> Result<Self, ProveError> {
        let densities = Densities::of(&circuit);
        let shape = densities.shape(circuit.num_rows());
        let (vk, queries) = ParameterFile::open(path.as_ref(), &shape, options.digest)?;
        let verifying_key = PreparedVerifyingKey::new(&vk)?;
        let check = options.check_subgroups;
        let pipeline: Box<dyn Pipeline> = match backend {
            Backend::Cpu => {
                if check {
                    queries.check_subgroups()?;
                }
                Box::new(Cpu { circuit, densities, queries })
            }
            Backend::Cuda { device, budgets } => {
                let parameters = HostParameters::File(Arc::new(queries));
                Box::new(Cuda::with_parameters(device, &budgets, &circuit, &parameters, check)?)
            }
        };
        Ok(Self::of(vk, verifying_key, pipeline))
    }

    /// A prover with **test parameters** from a trapdoor, made where they are used: on a device they never leave it, or are pinned beside
    /// it as its [`Plan`] says. They are those of [`setup`](crate::setup).
    pub fn with_test_parameters(
        circuit: Arc<CompiledCircuit>,
        waste: ToxicWaste,
        backend: Backend,
    ) -> Result<Self, ProveError> {
        let Backend::Cuda { device, budgets } = backend else {
            let parameters = Arc::new(crate::setup(&circuit, waste)?);
            return Self::new(circuit, parameters, backend);
        };
        let (vk, pipeline) = Cuda::with_test_parameters(device, &budgets, &circuit, &waste)?;
        drop(waste);
        let verifying_key = PreparedVerifyingKey::new(&vk)?;
        Ok(Self::of(vk, verifying_key, Box::new(pipeline)))
    }

    pub(crate) fn of(
        vk: VerifyingKey,
        verifying_key: PreparedVerifyingKey,
        pipeline: Box<dyn Pipeline>,
    ) -> Self {
        Self { vk, verifying_key, pipeline, verify: true }
    }

    /// Whether each proof is verified before it is returned: it is, unless turned off here.
    pub fn verify_proofs(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Where everything is on a device's machine. `None` without a device.
    pub fn plan(&self) -> Option<&Plan> {
        self.pipeline.plan()
    }

    /// The verifying key.
    pub fn key(&self) -> &VerifyingKey {
        &self.vk
    }

    /// The prepared verifying key.
    pub fn verifying_key(&self) -> &PreparedVerifyingKey {
        &self.verifying_key
    }

    /// The most bytes of device memory that were in use at a time since the prover was made. `None` without a device.
    pub fn device_peak(&self) -> Option<u64> {
        self.pipeline.device_peak()
    }

    /// A proof with fresh randomness.
    ///
    /// Call it from a thread of your own, not from a task of rayon's: on a device proofs take turns, and a worker of rayon's that waits
    /// within one may take up another task, which would wait for that same turn.
    pub fn prove(
        &self,
        witness: &PackedWitness<Scalar>,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<Proved, ProveError> {
        self.prove_with_randomness(witness, Randomness::random(rng))
    }

    /// A proof with given randomness: a function of parameters, witness, `r` and `s`.
    pub fn prove_with_randomness(
        &self,
        witness: &PackedWitness<Scalar>,
        randomness: Randomness,
    ) -> Result<Proved, ProveError> {
        self.prove_staged(witness, None, randomness)
    }

    pub(crate) fn prove_staged(
        &self,
        witness: &PackedWitness<Scalar>,
        staged: Option<Staged>,
        randomness: Randomness,
    ) -> Result<Proved, ProveError> {
        let _span = tracing::info_span!("prove", aux = witness.num_aux()).entered();
        let (sums, times) = self.pipeline.sums(witness, staged)?;
        let key = self.verify.then_some(&self.verifying_key);
        finish(&self.vk, &sums, &randomness, witness.inputs(), times, key)
    }
}

impl Prover {
    /// Proofs with fresh randomness of witnesses as they come: `done` gets one outcome for each, in order, and ends it by `Break`. While
    /// one is proved, the next is made on a thread of its own; no more than two are in memory.
    pub fn prove_many<E: Send>(
        &self,
        witnesses: impl Iterator<Item = Result<PackedWitness<Scalar>, E>> + Send,
        rng: &mut (impl RngCore + CryptoRng + Send),
        done: impl FnMut(Outcome<E>) -> ControlFlow<()>,
    ) {
        prove_each(
            1,
            |witness| self.pipeline.stage(witness),
            |witness, staged, randomness| self.prove_staged(witness, staged, randomness),
            witnesses,
            rng,
            done,
        );
    }
}

/// A proof from the classic path's assignment, on the CPU: of any circuit, without compiling it. The input rows must not have
/// been appended yet. The proof is verified if a key is given.
pub fn prove_assignment(
    parameters: &Parameters,
    assignment: ProvingAssignment<Scalar>,
    randomness: Randomness,
    verifying_key: Option<&PreparedVerifyingKey>,
) -> Result<Proved, ProveError> {
    let _span = tracing::info_span!("prove", aux = assignment.aux().len()).entered();
    let (sums, inputs, times) = cpu::sums_of_assignment(assignment, parameters)?;
    finish(&parameters.vk, &sums, &randomness, &inputs, times, verifying_key)
}

/// Puts a proof together and verifies it. `inputs` begin with ONE.
fn finish(
    vk: &VerifyingKey,
    sums: &Sums,
    randomness: &Randomness,
    inputs: &[Scalar],
    mut times: StageTimes,
    verifying_key: Option<&PreparedVerifyingKey>,
) -> Result<Proved, ProveError> {
    let (r, s) = (randomness.r.get(), randomness.s.get());
    let a = sums.a + vk.alpha_g1 + vk.delta_g1 * r;
    let b_g1 = sums.b_g1 + vk.beta_g1 + vk.delta_g1 * s;
    let b = sums.b_g2 + vk.beta_g2 + vk.delta_g2 * s;
    let c = sums.l + sums.h + a * s + b_g1 * r - vk.delta_g1 * (r * s);
    let proof = Proof { a: a.to_affine(), b: b.to_affine(), c: c.to_affine() };
    let public_inputs = inputs.get(1..).unwrap_or_default().to_vec();
    if let Some(key) = verifying_key {
        timed(&mut times.verify, || {
            let _span = tracing::info_span!("verify", inputs = public_inputs.len()).entered();
            key.verify(&proof, &public_inputs)
        })?;
    }
    Ok(Proved { proof, public_inputs, times })
}
