//! The CUDA backend against the CPU: the same parameters from the same trapdoor, the same bytes for the same randomness.

mod common;

use std::sync::Arc;

use assignment::native_witness;
use blstrs::Scalar;
use circuits::FilecoinCircuit;
use circuits::input;
use circuits::sample::sample;
use common::{Mimc, Random, compile, rng, waste, witness};
use ff::Field;
use gpu::testing::device_or_skip;
use groth16::{Backend, ProveError, Prover, Randomness, filecoin, setup, setup_on};
use r1cs::CheckError;
use rand_core::RngCore;

const CUDA: Backend = Backend::Cuda { device: 0 };

fn no_device(test: &str) -> bool {
    device_or_skip(test).unwrap().is_none()
}

fn fresh() -> u64 {
    let seed = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    println!("seed {seed}");
    seed
}

fn randomness(seed: u64) -> Randomness {
    let mut rng = rng(seed);
    Randomness::fixed(Scalar::random(&mut rng), Scalar::random(&mut rng)).unwrap()
}

#[test]
fn cuda_equals_cpu_on_random_circuits() {
    if no_device("cuda_equals_cpu_on_random_circuits") {
        return;
    }
    let mut seeds = rng(fresh());
    for constraints in [1, 2, 5, 40, 300, 3000] {
        let random = Random::new(seeds.next_u64(), constraints);
        let circuit = Arc::new(compile(random.clone()));
        let seed = seeds.next_u64();
        let parameters = setup(&circuit, waste(seed)).unwrap();
        let on_device = setup_on(&circuit, waste(seed), CUDA).unwrap();
        assert!(on_device == parameters, "{constraints} constraints: parameters");
        let parameters = Arc::new(parameters);
        let packed = witness(random.clone());
        let cpu = Prover::new(circuit.clone(), parameters.clone(), Backend::Cpu).unwrap();
        let expected = cpu.prove_with_randomness(&packed, randomness(seed)).unwrap();
        let uploaded = Prover::new(circuit.clone(), parameters, CUDA).unwrap();
        let made = Prover::with_test_parameters(circuit, waste(seed), CUDA).unwrap();
        assert_eq!(made.key(), cpu.key());
        for prover in [&uploaded, &made] {
            for _ in 0..2 {
                let got = prover.prove_with_randomness(&packed, randomness(seed)).unwrap();
                assert_eq!(got.proof.to_bytes(), expected.proof.to_bytes(), "{constraints} constraints");
                assert_eq!(got.public_inputs, expected.public_inputs);
            }
        }
        // A wrong row is named, and the next proof is right.
        let wrong = Random { wrong: Some(constraints / 2), ..random };
        let error = |prover: &Prover| match prover.prove(&witness(wrong.clone()), &mut rng(1)) {
            Err(ProveError::Witness(CheckError::Unsatisfied { row, .. })) => row,
            other => panic!("{other:?}"),
        };
        assert_eq!(error(&made), error(&cpu));
        let got = made.prove_with_randomness(&packed, randomness(seed)).unwrap();
        assert_eq!(got.proof.to_bytes(), expected.proof.to_bytes());
    }
}

#[test]
fn cuda_equals_cpu_on_small_filecoin_circuits() {
    if no_device("cuda_equals_cpu_on_small_filecoin_circuits") {
        return;
    }
    for name in ["winning-2KiB", "window-2KiB", "porep-2KiB", "update-2KiB"] {
        let name = name.parse().unwrap();
        let circuit = Arc::new(filecoin::compile(name).unwrap());
        let seed = fresh();
        let parameters = Arc::new(setup(&circuit, waste(seed)).unwrap());
        let made = Prover::with_test_parameters(circuit.clone(), waste(seed), CUDA).unwrap();
        let uploaded = Prover::new(circuit.clone(), parameters.clone(), CUDA).unwrap();
        let cpu = Prover::new(circuit, parameters, Backend::Cpu).unwrap();
        let partitions = input::read(name, &[sample(name).unwrap()]).unwrap();
        let partitions = FilecoinCircuit::all(name, partitions).unwrap();
        let witnesses: Vec<_> = partitions.iter().map(|circuit| native_witness(circuit).unwrap()).collect();
        for witness in &witnesses {
            let expected = cpu.prove_with_randomness(witness, randomness(seed)).unwrap();
            for prover in [&made, &uploaded] {
                let got = prover.prove_with_randomness(witness, randomness(seed)).unwrap();
                assert_eq!(got.proof.to_bytes(), expected.proof.to_bytes(), "{name}");
            }
        }
    }
}

#[test]
fn a_missing_device_is_an_error() {
    let circuit = Arc::new(compile(Mimc { preimage: Scalar::ONE, rounds: 3 }));
    let absent = Backend::Cuda { device: 4096 };
    let error = Prover::with_test_parameters(circuit.clone(), waste(5), absent).unwrap_err();
    assert!(
        matches!(error.device(), Some(gpu::Error::NoDevice(_) | gpu::Error::NoSuchDevice { .. })),
        "{error}"
    );
    assert!(setup_on(&circuit, waste(5), absent).unwrap_err().device().is_some());
}
