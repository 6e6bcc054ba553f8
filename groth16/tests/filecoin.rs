//! Filecoin's proofs, from the reference's vanilla proofs, against the reference's own bytes.

mod common;

use std::sync::Arc;

use assignment::{ProvingAssignment, StructuredCircuit, native_witness};
use blstrs::Scalar;
use circuits::FilecoinCircuit;
use circuits::error::CircuitError;
use circuits::input::{self, Partitions};
use circuits::sample::sample;
use circuits::shape::CircuitName;
use common::{rng, waste};
use groth16::filecoin::{self, FilecoinError, FilecoinProver};
use groth16::{Backend, Parameters, Prover, Randomness, ToxicWaste, prove_assignment, setup};

fn partitions(name: CircuitName) -> Partitions {
    input::read(name, &[sample(name).unwrap()]).unwrap()
}

fn named(name: &str) -> CircuitName {
    name.parse().unwrap()
}

/// The trapdoor of bellperson's test parameters for window-2KiB, which are known by their digest.
fn window_2kib() -> (Arc<r1cs::CompiledCircuit>, Arc<Parameters>) {
    let circuit = filecoin::compile(named("window-2KiB")).unwrap();
    let [alpha, beta, gamma, delta, tau] =
        [2717515777u64, 3195666434, 1781727235, 3726049284, 2046820357].map(Scalar::from);
    let waste = ToxicWaste::new(alpha, beta, gamma, delta, tau).unwrap();
    let parameters = setup(&circuit, waste).unwrap();
    (Arc::new(circuit), Arc::new(parameters))
}

#[test]
fn window_2kib_equals_bellpersons_byte_for_byte() {
    use sha2::{Digest, Sha256};
    let (circuit, parameters) = window_2kib();
    let mut file = Vec::new();
    parameters.write(&mut file).unwrap();
    assert_eq!(file.len(), 11_501_496);
    let digest: String = Sha256::digest(&file).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, "327892def0a3789ecdfc0d9ac763ebe651677d8c51c8d3a3e16856a13f2f69c7");
    let read = Parameters::read(&*file, file.len() as u64, Default::default()).unwrap();
    assert_eq!(read, *parameters);
    drop((file, read));
    let mut key = Vec::new();
    parameters.vk.write(&mut key).unwrap();
    assert_eq!(key, include_bytes!("data/window-2KiB.vk"));

    let expected = include_bytes!("data/window-2KiB.proof");
    let randomness = || {
        Randomness::fixed(Scalar::from(18_765_284_782_899u64), Scalar::from(75_060_280_125_030u64)).unwrap()
    };
    let partitions = FilecoinCircuit::all(named("window-2KiB"), partitions(named("window-2KiB"))).unwrap();
    let [partition] = &partitions[..] else { panic!("one partition") };
    let prover = Prover::new(circuit, parameters.clone(), Backend::Cpu).unwrap();
    let witness = native_witness(partition).unwrap();
    let proved = prover.prove_with_randomness(&witness, randomness()).unwrap();
    assert_eq!(&proved.proof.to_bytes(), expected);
    let inputs: Vec<String> = proved
        .public_inputs
        .iter()
        .map(|input| input.to_bytes_le().iter().map(|byte| format!("{byte:02x}")).collect())
        .collect();
    assert_eq!(inputs, include_str!("data/window-2KiB.public").lines().collect::<Vec<_>>());

    // The classic path gives the same proof.
    let mut assignment = ProvingAssignment::with_hint(None);
    partition.synthesize_all(&mut assignment).unwrap();
    let classic =
        prove_assignment(&parameters, assignment, randomness(), Some(prover.verifying_key())).unwrap();
    assert_eq!(&classic.proof.to_bytes(), expected);
}

#[test]
fn entry_points_prove_and_refuse() {
    let (circuit, parameters) = window_2kib();
    let name = named("window-2KiB");
    let prover = FilecoinProver::new(name, circuit.clone(), parameters.clone(), &[Backend::Cpu]).unwrap();
    let Partitions::Post(post) = partitions(name) else { panic!("a PoSt") };
    let proof = prover.window_post(post.clone(), &mut rng(1)).unwrap();
    assert_eq!(proof.to_bytes().len(), 192);
    assert!(proof.partitions[0].times.witness.is_some());

    // Another proof's vanilla proof, another circuit, and a damaged vanilla proof.
    let Partitions::Porep(porep) = partitions(named("porep-2KiB")) else { panic!("a PoRep") };
    let error = prover.porep_sector(porep, &mut rng(1)).unwrap_err();
    assert!(matches!(error, FilecoinError::Circuit(CircuitError::Proof { .. })), "{error}");
    let error = FilecoinProver::new(named("winning-2KiB"), circuit, parameters, &[Backend::Cpu]).unwrap_err();
    assert!(matches!(error, FilecoinError::OtherCircuit { .. }), "{error}");
    let mut damaged = post;
    Arc::make_mut(&mut damaged[0].sectors[1]).comm_c += Scalar::from(1);
    let error = prover.window_post(damaged, &mut rng(1)).unwrap_err();
    assert!(matches!(error, FilecoinError::Witness { partition: 0, .. }), "{error}");
}

#[test]
fn winning_2kib_proves() {
    let name = named("winning-2KiB");
    let circuit = Arc::new(filecoin::compile(name).unwrap());
    let parameters = Arc::new(setup(&circuit, waste(1)).unwrap());
    let prover = FilecoinProver::new(name, circuit, parameters, &[Backend::Cpu]).unwrap();
    let Partitions::Post(mut post) = partitions(name) else { panic!("a PoSt") };
    let proof = prover.winning_post(post.remove(0), &mut rng(1)).unwrap();
    assert_eq!(proof.partitions[0].public_inputs.len(), 132);
}

/// Prints the time of each stage and the rate of setup: 2.7 million constraints.
#[test]
#[ignore = "a minute or two, and 3 GiB of memory"]
fn porep_2kib_proves() {
    let name = named("porep-2KiB");
    let circuit = Arc::new(filecoin::compile(name).unwrap());
    let start = std::time::Instant::now();
    let parameters = Arc::new(setup(&circuit, waste(1)).unwrap());
    println!("setup {:.1} s", start.elapsed().as_secs_f64());
    let prover = FilecoinProver::new(name, circuit, parameters, &[Backend::Cpu]).unwrap();
    let Partitions::Porep(porep) = partitions(name) else { panic!("a PoRep") };
    let proof = prover.porep_sector(porep, &mut rng(1)).unwrap();
    println!("{:?}", proof.partitions[0].times);
    assert_eq!(proof.partitions[0].public_inputs.len(), 39);
}
