//! Faults of a device: too little memory and a kernel that fails, at every stage of a proof, and what comes after.

mod common;

use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use blstrs::Scalar;
use common::{Random, compile, rng, waste, witness};
use ff::Field;
use gpu::Device;
use gpu::testing::{Fault, allocations, device_or_skip, inject};
use groth16::{Backend, DropOut, Fleet, ProveError, Prover, Randomness, until_error};
use r1cs::CompiledCircuit;

const CUDA: [Backend; 1] = [Backend::cuda(0)];

/// The faults are injected into whatever the process does next.
static ALONE: Mutex<()> = Mutex::new(());

/// Set in a process that loses its device on purpose: the number of the allocation before which the kernel fails.
const CHILD: &str = "GROTH16_FAULT_TEST_CHILD";

fn circuit() -> (Arc<CompiledCircuit>, Random) {
    let random = Random::new(77, 3000);
    (Arc::new(compile(random.clone())), random)
}

fn randomness() -> Randomness {
    let mut rng = rng(9);
    Randomness::fixed(Scalar::random(&mut rng), Scalar::random(&mut rng)).unwrap()
}

/// A prover of the circuit, and a function that makes its proof with fixed randomness.
fn prover(
    circuit: &Arc<CompiledCircuit>,
    random: &Random,
    backend: Backend,
) -> (Prover, impl Fn(&Prover) -> Result<[u8; 192], ProveError> + use<>) {
    let prover = Prover::with_test_parameters(circuit.clone(), waste(3), backend).unwrap();
    let packed = witness(random.clone());
    let prove =
        move |prover: &Prover| Ok(prover.prove_with_randomness(&packed, randomness())?.proof.to_bytes());
    (prover, prove)
}

/// The allocations of one proof, after one that has warmed up.
fn allocations_of_a_proof(prover: &Prover, prove: &impl Fn(&Prover) -> Result<[u8; 192], ProveError>) -> u64 {
    prove(prover).unwrap();
    let before = allocations();
    prove(prover).unwrap();
    allocations() - before
}

#[test]
fn device_out_of_memory_at_any_point_of_a_proof_is_typed_and_passes() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if device_or_skip("device_out_of_memory_at_any_point_of_a_proof_is_typed_and_passes").unwrap().is_none() {
        return;
    }
    let (circuit, random) = circuit();
    let (cpu, prove) = prover(&circuit, &random, Backend::Cpu);
    let expected = prove(&cpu).unwrap();
    let (on_device, _) = prover(&circuit, &random, CUDA[0]);
    let count = allocations_of_a_proof(&on_device, &prove);
    assert!(count > 10, "{count} allocations");
    let mut errors = 0;
    for number in 0..count {
        inject(Fault::OutOfMemory, number);
        match prove(&on_device) {
            // A sum may do with less.
            Ok(proof) => assert_eq!(proof, expected, "with less at allocation {number}"),
            Err(error) => {
                errors += 1;
                assert!(
                    matches!(error.device(), Some(gpu::Error::OutOfMemory { .. }))
                        && error.failed_device().is_none(),
                    "allocation {number}: {error}"
                );
            }
        }
        assert_eq!(prove(&on_device).unwrap(), expected, "after allocation {number}");
    }
    assert!(errors > 0);
    // The first allocation of a setup is the self-test's, and no plan for less memory makes that smaller.
    inject(Fault::OutOfMemory, 0);
    let error = Prover::with_test_parameters(circuit.clone(), waste(3), CUDA[0]).unwrap_err();
    assert!(matches!(error.device(), Some(gpu::Error::OutOfMemory { .. })), "{error}");
    // With the others it tries again with less.
    for number in [1, 5, 20] {
        inject(Fault::OutOfMemory, number);
        let (made, _) = prover(&circuit, &random, CUDA[0]);
        assert_eq!(prove(&made).unwrap(), expected, "setup, allocation {number}");
    }
    assert_eq!(prove(&prover(&circuit, &random, CUDA[0]).0).unwrap(), expected);
    println!("{count} allocations a proof, {errors} of which it cannot do without");
}

/// Nine faults, from a proof's first allocation to its last. The process that meets one loses the device and goes on without it; other
/// processes, with contexts on the device at that time or later, do not notice.
#[test]
fn device_kernel_fault_in_mid_proof_is_typed_and_final_for_the_process_alone() {
    const NAME: &str = "device_kernel_fault_in_mid_proof_is_typed_and_final_for_the_process_alone";
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if device_or_skip(NAME).unwrap().is_none() {
        return;
    }
    let (circuit, random) = circuit();
    if let Ok(number) = std::env::var(CHILD) {
        return lose_the_device(&circuit, &random, number.parse().unwrap());
    }
    let (cpu, prove) = prover(&circuit, &random, Backend::Cpu);
    let expected = prove(&cpu).unwrap();
    let (on_device, _) = prover(&circuit, &random, CUDA[0]);
    let count = allocations_of_a_proof(&on_device, &prove);
    let mut stages = Vec::new();
    for eighth in 0..=8 {
        let number = eighth * (count - 1) / 8;
        let mut command = Command::new(std::env::current_exe().unwrap());
        let output = command.args(["--exact", NAME, "--nocapture"]).env(CHILD, number.to_string()).output();
        let output = output.unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{number}: {text}{}", String::from_utf8_lossy(&output.stderr));
        stages.extend(text.lines().filter_map(|line| Some(line.split_once("fault: ")?.1.to_owned())));
        assert_eq!(prove(&on_device).unwrap(), expected, "beside a process that lost the device");
    }
    println!("{stages:#?}");
    // Which call meets the error depends on who waits next.
    assert_eq!(stages.len(), 9);
}

fn lose_the_device(circuit: &Arc<CompiledCircuit>, random: &Random, number: u64) {
    let (cpu, prove) = prover(circuit, random, Backend::Cpu);
    let expected = prove(&cpu).unwrap();
    let (on_device, _) = prover(circuit, random, CUDA[0]);
    let (other, _) = prover(circuit, random, CUDA[0]);
    assert_eq!(prove(&on_device).unwrap(), expected);
    let device = Device::open(0).unwrap();

    inject(Fault::Kernel, number);
    let error = prove(&on_device).unwrap_err();
    println!("fault: {error}");
    let lost = |error: Option<&gpu::Error>| matches!(error, Some(gpu::Error::DeviceLost { ordinal: 0, .. }));
    assert!(lost(error.failed_device()), "{error}");
    // All provers on the device say so, every time, and so does a new one.
    for prover in [&on_device, &other, &on_device] {
        assert!(lost(prove(prover).unwrap_err().device()));
    }
    let new = || Prover::with_test_parameters(circuit.clone(), waste(3), CUDA[0]);
    assert!(lost(new().unwrap_err().device()));
    assert!(lost(device.check().err().as_ref()));
    // The rest of the process is none the worse.
    let packed = witness(random.clone());
    let mut fleet = Fleet::new(vec![other, cpu]).unwrap();
    let witnesses = (0..4).map(|_| Ok::<_, ()>(packed.clone()));
    let outcomes = fleet.prove_all(witnesses, &mut rng(1), |_| std::ops::ControlFlow::Continue(())).outcomes;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_err()).count(), 1);
    assert!(lost(fleet.failures()[0].as_ref().and_then(DropOut::device)));
    let batch = fleet.prove_all((0..2).map(|_| Ok::<_, ()>(packed.clone())), &mut rng(1), until_error);
    assert_eq!(batch.into_proofs().unwrap().len(), 2);
    // Nothing touches the device when all that was on it goes, and a driver that gives it back must give it back whole.
    let (cpu, _) = prover(circuit, random, Backend::Cpu);
    drop(fleet.replace(0, cpu).unwrap());
    drop((on_device, device));
    match new() {
        Ok(prover) => assert_eq!(prove(&prover).unwrap(), expected),
        Err(error) => assert!(lost(error.device()), "{error}"),
    }
}

/// Device and host memory after each ten proofs of a hundred. Prints the figures.
#[test]
#[ignore = "a minute on a device"]
fn device_memory_is_flat_over_a_hundred_proofs() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(device) = device_or_skip("device_memory_is_flat_over_a_hundred_proofs").unwrap() else { return };
    for name in ["winning-2KiB", "porep-2KiB"] {
        let name = name.parse().unwrap();
        let circuit = Arc::new(groth16::filecoin::compile(name).unwrap());
        let fleet = Fleet::with_test_parameters(&circuit, waste(3), &CUDA).unwrap();
        let mut samples: Vec<(u64, u64)> = Vec::new();
        for _ in 0..10 {
            let partitions = circuits::synthetic::synthetic(name, 5, 10);
            let circuits = circuits::FilecoinCircuit::all(name, partitions).unwrap();
            let circuits = circuits.into_iter().take(10).collect::<Vec<_>>();
            assert_eq!(circuits.len(), 10);
            let witnesses = circuits.into_iter().map(|circuit| assignment::native_witness(&circuit));
            let batch = fleet.prove_all(witnesses, &mut rng(1), until_error);
            assert_eq!(batch.into_proofs().unwrap().len(), 10);
            assignment::reaper::flush();
            let (free, total) = device.memory().unwrap();
            samples.push((total - free, resident()));
        }
        println!("{name}: (device bytes in use, resident bytes) after each ten proofs: {samples:?}");
        // The first proofs grow the pool and the allocator's arenas.
        let (settled, last) = (samples[2], samples[9]);
        assert!(last.0 <= settled.0, "device memory grew");
        assert!(last.1 <= settled.1 + (32 << 20), "host memory grew");
    }
}

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() << 10
}
