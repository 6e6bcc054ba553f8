//! Our proofs of production circuits before storage-proofs' own verifiers, which derive the public inputs themselves.

use std::error::Error;

use bellpepper_core_02::Circuit;
use bellperson::groth16::Parameters;
use blstrs::{Bls12, Scalar};
use circuits::{FilecoinCircuit, shape::CircuitName};
use serde_json::{Value, json};

use crate::{
    fixtures::{POST_RANDOMNESS, PROVER_ID, vanilla},
    ours,
    reference::Post,
    theirs,
};

/// WindowPoSt and WinningPoSt of the 2 KiB fixtures; PoRep is part of `prove`.
pub fn run() -> Result<Value, Box<dyn Error>> {
    let mut accepted = Vec::new();
    for name in ["window-2KiB", "winning-2KiB"] {
        let make = if name.starts_with("window") { Post::window } else { Post::winning };
        let post = make(vanilla(name)?, POST_RANDOMNESS, PROVER_ID)?;
        let circuit = post.circuit()?;
        same_proof(name, circuit, |parameters, proof| post.verify(parameters, proof))
            .map_err(|error| format!("{name}: {error}"))?;
        eprintln!("{name}: the same file, the same proof, accepted");
        accepted.push(name);
    }
    Ok(json!({ "accepted": accepted }))
}

fn same_proof(
    name: &str,
    theirs: impl Circuit<Scalar> + Clone + Send,
    verdict: impl Fn(&Parameters<Bls12>, &[u8]) -> Result<bool, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let secrets = [21, 22, 23, 24, 0x7a_75a7].map(Scalar::from);
    let randomness = [31, 32].map(Scalar::from);
    let blank = FilecoinCircuit::blank(name.parse::<CircuitName>()?)?;
    let file = ours::setup(&r1cs::CompiledCircuit::compile(&blank)?, &secrets)?;
    if file != theirs::setup(theirs.clone(), &secrets)? {
        return Err("the parameter files differ".into());
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("parameters");
    std::fs::write(&path, &file)?;
    let proof = ours::Production::new(name.parse()?, &path)?.prove(randomness)?;
    let parameters = theirs::parse(&file)?;
    let [r, s] = randomness;
    if proof != theirs::prove(theirs, &parameters, r, s)? {
        return Err("the proofs differ".into());
    }
    if !verdict(&parameters, &proof)? {
        return Err("storage-proofs does not accept the proof".into());
    }
    Ok(())
}
