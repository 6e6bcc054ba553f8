//! Two devices of one process: a batch spread over both, and what the loss of one means for the other.

mod common;

use std::process::Command;
use std::sync::Arc;

use common::{Random, compile, rng, waste, witness};
use gpu::testing::{Fault, inject, skip};
use groth16::{Backend, Batch, Fleet, ProveError, ProveManyError};
use r1cs::CompiledCircuit;

const CUDA: [Backend; 2] = [Backend::cuda(0), Backend::cuda(1)];
const PROOFS: usize = 9;
/// Set in a process that loses a device on purpose.
const CHILD: &str = "GROTH16_DEVICES_TEST_CHILD";

fn circuit() -> (Arc<CompiledCircuit>, Random) {
    let random = Random::new(78, 3000);
    (Arc::new(compile(random.clone())), random)
}

fn two_devices_or_skip(test: &str) -> bool {
    let two = gpu::devices().is_ok_and(|devices| devices.len() > 1);
    if !two {
        skip("no two CUDA devices", test);
    }
    two
}

fn fleet(circuit: &Arc<CompiledCircuit>, backends: &[Backend]) -> Fleet {
    Fleet::with_test_parameters(circuit, waste(3), backends).unwrap()
}

fn batch(fleet: &Fleet, random: &Random) -> Batch<ProveError> {
    let packed = witness(random.clone());
    let witnesses = (0..PROOFS).map(|_| Ok(packed.clone()));
    fleet.prove_all(witnesses, &mut rng(4), |_| std::ops::ControlFlow::Continue(()))
}

fn bytes(fleet: &Fleet, random: &Random) -> Vec<[u8; 192]> {
    let proofs = batch(fleet, random).into_proofs().unwrap();
    proofs.iter().map(|proved| proved.proof.to_bytes()).collect()
}

#[test]
fn devices_share_a_batch_and_make_the_processor_s_bytes() {
    if !two_devices_or_skip("devices_share_a_batch_and_make_the_processor_s_bytes") {
        return;
    }
    let (circuit, random) = circuit();
    let expected = bytes(&fleet(&circuit, &[Backend::Cpu]), &random);
    let both = fleet(&circuit, &CUDA);
    for _ in 0..3 {
        assert_eq!(bytes(&both, &random), expected);
    }
    assert_eq!(both.plans().count(), 2);
    // Whoever proves alone, on the second device too.
    for backend in CUDA {
        assert_eq!(bytes(&fleet(&circuit, &[backend]), &random), expected);
    }
}

/// CUDA takes all devices from the process then, sooner or later: each outcome is the right proof or says so, the processor goes on, and
/// so does another process on both devices. (Provers in workers, `worker.rs`, lose one proof.)
#[test]
fn a_kernel_fault_on_one_device_is_typed_on_both() {
    const NAME: &str = "a_kernel_fault_on_one_device_is_typed_on_both";
    if !two_devices_or_skip(NAME) {
        return;
    }
    let (circuit, random) = circuit();
    if let Ok(number) = std::env::var(CHILD) {
        return lose_one(&circuit, &random, number.parse().unwrap());
    }
    let both = fleet(&circuit, &CUDA);
    let expected = bytes(&both, &random);
    for number in [3, 30, 90] {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let output = command.args(["--exact", NAME, "--nocapture"]).env(CHILD, number.to_string()).output();
        let output = output.unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && out.contains("lost: "), "{number}: {out}{err}");
        println!("{out}");
        assert_eq!(bytes(&both, &random), expected, "another process, after fault {number}");
    }
}

fn lose_one(circuit: &Arc<CompiledCircuit>, random: &Random, number: u64) {
    let processor = fleet(circuit, &[Backend::Cpu]);
    let expected = bytes(&processor, random);
    let both = fleet(circuit, &CUDA);
    assert_eq!(bytes(&both, random), expected);
    inject(Fault::Kernel, number);
    for _ in 0..2 {
        let outcomes = batch(&both, random).outcomes;
        let mut made = 0;
        for (outcome, expected) in outcomes.into_iter().zip(&expected) {
            match outcome {
                Ok(proved) => {
                    made += 1;
                    assert_eq!(proved.proof.to_bytes(), *expected);
                }
                Err(ProveManyError::Prove { source, .. }) => {
                    assert!(matches!(source.device(), Some(gpu::Error::DeviceLost { .. })), "{source:?}");
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert!(made < PROOFS);
        println!("lost: {:?}; {made} of {PROOFS} proofs", both.failures());
        assert!(both.failures().iter().flatten().count() > 0);
    }
    for backend in CUDA {
        if let Err(error) = Fleet::with_test_parameters(circuit, waste(3), &[backend]) {
            let device = error.prover().and_then(ProveError::device);
            assert!(matches!(device, Some(gpu::Error::DeviceLost { .. })), "{error}");
            println!("again: {error}");
        }
    }
    assert_eq!(bytes(&processor, random), expected);
}
