//! Every production circuit up to 8 MiB on the processor and on the device, with all of the device's memory and under budgets of it:
//! the same bytes for the same randomness.
//!
//! On a machine with a device, from a prebuilt binary: `same_bytes --ignored --nocapture`, all of it some minutes on 16 cores. One
//! test a circuit, so that `same_bytes --ignored update_` runs those of SnapDeals.

mod common;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use assignment::native_witness;
use blstrs::Scalar;
use circuits::FilecoinCircuit;
use circuits::shape::CircuitName;
use circuits::synthetic::synthetic;
use common::{rng, waste};
use ff::Field;
use gpu::testing::device_or_skip;
use groth16::{Backend, Budgets, Prover, Randomness, filecoin, setup_on};

/// Budgets of device memory, in GB.
const BUDGETS: [u64; 4] = [4, 8, 16, 24];

/// Tests take turns: each wants the device and all cores.
static TURN: Mutex<()> = Mutex::new(());

/// Partition 0 of a fresh synthetic sector, under fresh test parameters made on the device.
fn check(name: &str) {
    // Another circuit's failure is no reason to skip this one.
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if device_or_skip(&format!("same bytes of {name}")).unwrap().is_none() {
        return;
    }
    let seed = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    let circuit_name: CircuitName = name.parse().unwrap();
    let start = Instant::now();
    let mut clock = start;
    let mut lap = || {
        let now = Instant::now();
        let seconds = (now - std::mem::replace(&mut clock, now)).as_secs_f64();
        format!("{seconds:.2} s")
    };

    let circuit = Arc::new(filecoin::compile(circuit_name).unwrap());
    let sector = FilecoinCircuit::all(circuit_name, synthetic(circuit_name, seed, 1)).unwrap();
    let witness = native_witness(&sector[0]).unwrap();
    let inputs = lap();

    let cuda = Backend::cuda(0);
    let parameters = Arc::new(setup_on(&circuit, waste(seed), cuda).unwrap());
    let setup = lap();

    let randomness = || {
        let mut rng = rng(seed);
        Randomness::fixed(Scalar::random(&mut rng), Scalar::random(&mut rng)).unwrap()
    };
    let prove = |backend| {
        let prover = Prover::new(circuit.clone(), parameters.clone(), backend).unwrap();
        prover.prove_with_randomness(&witness, randomness()).unwrap()
    };
    let expected = prove(Backend::Cpu);
    let on_cpu = lap();
    let same = |backend, what: &str| {
        let got = prove(backend);
        assert_eq!(got.proof.to_bytes(), expected.proof.to_bytes(), "{name}, {what}, seed {seed}");
        assert_eq!(got.public_inputs, expected.public_inputs, "{name}, {what}, seed {seed}");
    };
    same(cuda, "all device memory");
    let on_device = lap();
    for gigabytes in BUDGETS {
        let budgets = Budgets { device: Some(gigabytes * 1_000_000_000), host: None };
        same(Backend::Cuda { device: 0, budgets }, &format!("{gigabytes} GB"));
    }
    let budgets = lap();
    println!(
        "{name}: {} rows, the same bytes (seed {seed}); inputs {inputs}, setup {setup}, cpu {on_cpu}, cuda {on_device}, under budgets of {BUDGETS:?} GB {budgets}, in all {:.2} s",
        circuit.num_rows(),
        start.elapsed().as_secs_f64()
    );
}

macro_rules! tests {
    ($($test:ident: $name:literal;)*) => {$(
        #[test]
        #[ignore = "a device, and seconds of 16 cores"]
        fn $test() {
            check($name);
        }
    )*};
}

tests! {
    winning_2kib: "winning-2KiB";
    winning_4kib: "winning-4KiB";
    winning_16kib: "winning-16KiB";
    winning_32kib: "winning-32KiB";
    winning_8mib: "winning-8MiB";
    window_2kib: "window-2KiB";
    window_4kib: "window-4KiB";
    window_16kib: "window-16KiB";
    window_32kib: "window-32KiB";
    window_8mib: "window-8MiB";
    porep_2kib: "porep-2KiB";
    porep_synth_2kib: "porep-synth-2KiB";
    porep_ni_2kib: "porep-ni-2KiB";
    porep_4kib: "porep-4KiB";
    porep_16kib: "porep-16KiB";
    porep_32kib: "porep-32KiB";
    porep_8mib: "porep-8MiB";
    update_2kib: "update-2KiB";
    update_4kib: "update-4KiB";
    update_16kib: "update-16KiB";
    update_32kib: "update-32KiB";
    update_8mib: "update-8MiB";
}
