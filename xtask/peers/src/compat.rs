//! storage-proofs' own circuits, written for bellpepper-core 0.2, through feature `bellperson-compat`, unchanged.

use std::{error::Error, sync::Arc};

use assignment::{CircuitId, ProvingAssignment, WitnessCS};
use bellpepper_core_02::Circuit;
use blstrs::Scalar;
use groth16::{Backend, Parameters, Prover, Randomness};
use r1cs::{CompiledCircuit, Recorder};
use serde_json::{Value, json};

use crate::{
    fixtures::{POST_RANDOMNESS, PROVER_ID, vanilla},
    ours,
    reference::Post,
    theirs,
};

/// The digest of `window-2KiB` that storage-proofs' own synthesis gives.
const DIGEST: &str = "107fca41fccc137e1c5054d715aa0b02bb7f179d5434d0f94de904dab4177752";

/// Compiles and proves storage-proofs' WindowPoSt circuit by both of our paths.
pub fn run() -> Result<Value, Box<dyn Error>> {
    let post = Post::window(vanilla("window-2KiB")?, POST_RANDOMNESS, PROVER_ID)?;
    let compiled = compile(post.circuit()?)?;
    let digest = hex::encode(compiled.digest());
    if digest != DIGEST {
        return Err(format!("the compiled circuit's digest: expected {DIGEST}, got {digest}").into());
    }
    let secrets = [41, 42, 43, 44, 0x7a_75a7].map(Scalar::from);
    let randomness = [51, 52].map(Scalar::from);
    let file = ours::setup(&compiled, &secrets)?;
    let theirs = theirs::parse(&file)?;
    let [r, s] = randomness;
    let expected = theirs::prove(post.circuit()?, &theirs, r, s)?;
    let parameters = ours::parse(&file, &compiled)?;
    let proofs = [
        ("classic", prove_classic(post.circuit()?, &parameters, randomness)?),
        ("packed", prove_packed(post.circuit()?, compiled, parameters, randomness)?),
    ];
    for (path, proof) in &proofs {
        if *proof != expected {
            return Err(format!("the {path} path's proof differs from bellperson's").into());
        }
    }
    if !post.verify(&theirs, &expected)? {
        return Err("storage-proofs does not accept the proof".into());
    }
    eprintln!("window-2KiB of storage-proofs 19: the golden digest, the same proof by both paths, accepted");
    Ok(json!({ "circuit": "window-2KiB", "digest": digest, "same_proof": true }))
}

fn compile(circuit: impl Circuit<Scalar>) -> Result<CompiledCircuit, Box<dyn Error>> {
    let mut recorder = Recorder::new();
    circuit.synthesize(&mut recorder)?;
    Ok(recorder.finish(CircuitId::new("storage-proofs", [0; 32]))?)
}

fn prove_classic(
    circuit: impl Circuit<Scalar>,
    parameters: &Parameters,
    [r, s]: [Scalar; 2],
) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut assignment = ProvingAssignment::with_hint(None);
    circuit.synthesize(&mut assignment)?;
    let proved = groth16::prove_assignment(parameters, assignment, Randomness::fixed(r, s)?, None)?;
    Ok(proved.proof.to_bytes().to_vec())
}

fn prove_packed(
    circuit: impl Circuit<Scalar>,
    compiled: CompiledCircuit,
    parameters: Parameters,
    [r, s]: [Scalar; 2],
) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut witness = WitnessCS::with_hint(None);
    circuit.synthesize(&mut witness)?;
    let prover = Prover::new(Arc::new(compiled), Arc::new(parameters), Backend::Cpu)?.verify_proofs(false);
    let proved = prover.prove_with_randomness(&witness.into_witness(), Randomness::fixed(r, s)?)?;
    Ok(proved.proof.to_bytes().to_vec())
}
