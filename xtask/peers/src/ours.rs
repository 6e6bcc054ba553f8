//! This project's prover behind the few operations that the comparisons need.

use std::{error::Error, path::Path, sync::Arc};

use assignment::{CircuitId, ProvingAssignment, native_witness};
use bellpepper_core::Circuit;
use blstrs::Scalar;
use circuits::{FilecoinCircuit, input, sample::sample, shape::CircuitName};
use groth16::{
    Backend, FileOptions, Parameters, PreparedVerifyingKey, Proof, Prover, Randomness, ReadOptions, Shape,
    ToxicWaste, VerificationError,
};
use r1cs::CompiledCircuit;

use crate::theirs::Secrets;

/// A circuit compiled under a name of its own.
pub fn compile(circuit: impl Circuit<Scalar>) -> Result<CompiledCircuit, Box<dyn Error>> {
    Ok(CompiledCircuit::compile_plain(CircuitId::new("peers", [0; 32]), circuit)?)
}

/// Parameters from known secrets, as a file's bytes.
pub fn setup(circuit: &CompiledCircuit, secrets: &Secrets) -> Result<Vec<u8>, Box<dyn Error>> {
    let [alpha, beta, gamma, delta, tau] = *secrets;
    let parameters = groth16::setup(circuit, ToxicWaste::new(alpha, beta, gamma, delta, tau)?)?;
    let mut bytes = Vec::new();
    parameters.write(&mut bytes)?;
    Ok(bytes)
}

/// Reads parameters for this circuit; all points are checked to be in the subgroup.
pub fn parse(bytes: &[u8], circuit: &CompiledCircuit) -> Result<Parameters, Box<dyn Error>> {
    let shape = Shape::from(circuit);
    let parameters =
        Parameters::read(bytes, bytes.len() as u64, ReadOptions { digest: None, shape: Some(&shape) })?;
    parameters.check_subgroups(&mut rand_core::OsRng)?;
    Ok(parameters)
}

/// The proof for these r and s by the classic path, from any circuit.
pub fn prove_classic(
    circuit: impl Circuit<Scalar>,
    parameters: &Parameters,
    [r, s]: [Scalar; 2],
) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut assignment = ProvingAssignment::with_hint(None);
    circuit.synthesize(&mut assignment)?;
    let proved = groth16::prove_assignment(parameters, assignment, Randomness::fixed(r, s)?, None)?;
    Ok(proved.proof.to_bytes().to_vec())
}

/// The proof for these r and s from the compiled circuit and a packed witness.
pub fn prove_packed(
    circuit: impl Circuit<Scalar>,
    compiled: CompiledCircuit,
    parameters: Parameters,
    [r, s]: [Scalar; 2],
) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut witness = assignment::WitnessCS::with_hint(None);
    circuit.synthesize(&mut witness)?;
    let prover = Prover::new(Arc::new(compiled), Arc::new(parameters), Backend::Cpu)?.verify_proofs(false);
    let proved = prover.prove_with_randomness(&witness.into_witness(), Randomness::fixed(r, s)?)?;
    Ok(proved.proof.to_bytes().to_vec())
}

/// Whether the proof verifies; `inputs` are without ONE.
pub fn verify(parameters: &Parameters, proof: &[u8], inputs: &[Scalar]) -> Result<bool, Box<dyn Error>> {
    let key = PreparedVerifyingKey::new(&parameters.vk)?;
    match key.verify(&Proof::from_bytes(proof)?, inputs) {
        Ok(()) => Ok(true),
        Err(VerificationError::InvalidProof) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A production circuit with its built-in vanilla proof, ready to prove.
pub struct Production {
    prover: Prover,
    circuit: FilecoinCircuit,
}

impl Production {
    /// The only partition of the built-in proof of this circuit, under parameters that are read from a file as the proof is made.
    pub fn new(name: CircuitName, parameters: &Path) -> Result<Self, Box<dyn Error>> {
        let file = sample(name).ok_or("no built-in proof")?;
        let partitions = input::read(name, &[file])?;
        let circuit = FilecoinCircuit::all(name, partitions)?.pop().ok_or("no partition")?;
        let compiled = CompiledCircuit::compile(&circuit)?;
        let (compiled, options) = (Arc::new(compiled), FileOptions::default());
        let prover =
            Prover::with_parameter_file(compiled, parameters, options, Backend::Cpu)?.verify_proofs(false);
        Ok(Self { prover, circuit })
    }

    /// From vanilla proof to proof, for these r and s.
    pub fn prove(&self, [r, s]: [Scalar; 2]) -> Result<Vec<u8>, Box<dyn Error>> {
        let witness = native_witness(&self.circuit)?;
        let proved = self.prover.prove_with_randomness(&witness, Randomness::fixed(r, s)?)?;
        Ok(proved.proof.to_bytes().to_vec())
    }
}
