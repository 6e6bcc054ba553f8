//! Random circuits through both provers: files, proofs and verdicts must agree, byte for byte.

use std::error::Error;

use blstrs::Scalar;
use ff::Field;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use serde_json::{Value, json};

use crate::{
    ours,
    random::{Feature, RandomCircuit},
    theirs::{self, Secrets},
};

/// Runs `cases` random circuits of each kind; the first disagreement is an error that names its seed.
pub fn run(cases: u32, seed: Option<u64>) -> Result<Value, Box<dyn Error>> {
    let seed = seed.unwrap_or_else(|| rand_core::OsRng.next_u64());
    let mut circuits = 0;
    for feature in Feature::ALL {
        for case in 0..cases {
            let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_add(u64::from(case)));
            let constraints = 4 + rng.next_u32() as usize % 300;
            let circuit = RandomCircuit::new(feature, constraints, &mut rng);
            compare(&circuit, &mut rng).map_err(|error| {
                format!("{feature:?}, {constraints} constraints, --seed {seed}, case {case}: {error}")
            })?;
            circuits += 1;
        }
        eprintln!("{feature:?}: {cases} circuits agree");
    }
    Ok(json!({ "seed": seed, "circuits": circuits, "agree": true }))
}

fn compare(circuit: &RandomCircuit, rng: &mut ChaCha8Rng) -> Result<(), Box<dyn Error>> {
    let secrets: Secrets = std::array::from_fn(|_| Scalar::random(&mut *rng));
    let [r, s] = std::array::from_fn(|_| Scalar::random(&mut *rng));
    let compiled = ours::compile(circuit.clone())?;

    // The same secrets give the same file, and each side reads the other's.
    let our_file = ours::setup(&compiled, &secrets)?;
    let their_file = theirs::setup(circuit.clone(), &secrets)?;
    same("parameter files", &our_file, &their_file)?;
    let our_parameters = ours::parse(&their_file, &compiled)?;
    let their_parameters = theirs::parse(&our_file)?;
    let mut written = Vec::new();
    our_parameters.write(&mut written)?;
    same("a parameter file read and written", &written, &their_file)?;

    // Equal r and s give equal proofs, by both of our paths.
    let their_proof = theirs::prove(circuit.clone(), &their_parameters, r, s)?;
    let classic = ours::prove_classic(circuit.clone(), &our_parameters, [r, s])?;
    same("proofs of the classic path", &classic, &their_proof)?;
    let parameters = our_parameters.clone();
    let packed = ours::prove_packed(circuit.clone(), compiled, parameters, [r, s])?;
    same("proofs of the packed path", &packed, &their_proof)?;

    // Each verifies the other's, and refuses it for other inputs.
    let inputs = circuit.public_inputs();
    let mut wrong = inputs.to_vec();
    if let Some(last) = wrong.last_mut() {
        *last += Scalar::ONE;
    }
    for (inputs, expected) in [(inputs, true), (&wrong, false)] {
        agree("their verdict on our proof", theirs::verify(&their_parameters, &packed, inputs)?, expected)?;
        agree("our verdict on their proof", ours::verify(&our_parameters, &their_proof, inputs)?, expected)?;
    }

    // A variable that no constraint names has no point: both refuse the setup.
    let unused = circuit.clone().with_unused_aux();
    agree(
        "their setup with an unconstrained variable",
        theirs::setup(unused.clone(), &secrets).is_ok(),
        false,
    )?;
    agree(
        "our setup with an unconstrained variable",
        ours::setup(&ours::compile(unused)?, &secrets).is_ok(),
        false,
    )
}

fn same(what: &str, ours: &[u8], theirs: &[u8]) -> Result<(), Box<dyn Error>> {
    if ours == theirs {
        return Ok(());
    }
    let first = ours.iter().zip(theirs).position(|(ours, theirs)| ours != theirs);
    let offset = first.unwrap_or(ours.len().min(theirs.len()));
    Err(format!("{what} differ from byte {offset} ({} and {} bytes)", ours.len(), theirs.len()).into())
}

fn agree(what: &str, got: bool, expected: bool) -> Result<(), Box<dyn Error>> {
    if got == expected { Ok(()) } else { Err(format!("{what}: expected {expected}, got {got}").into()) }
}
