//! The CUDA backend against the CPU: the same parameters from the same trapdoor, the same bytes for the same randomness.

mod common;
#[path = "common/plans.rs"]
mod plans;

use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use assignment::{PackedWitness, native_witness};
use blstrs::Scalar;
use circuits::FilecoinCircuit;
use circuits::input;
use circuits::sample::sample;
use common::{Mimc, Random, compile, outside_subgroup, parameters, rng, waste, witness};
use ff::Field;
use gpu::testing::device_or_skip;
use groth16::{
    Backend, Budgets, FileOptions, Origin, ParameterError, Place, Plan, PlanError, PointError, ProveError,
    Prover, Randomness, Section, Sizes, filecoin, setup, setup_file, setup_on,
};
use ntt_gpu::device::Memory;
use plans::{PIECES, budgets_of_many_plans};
use r1cs::CheckError;
use rand_core::RngCore;

const CUDA: Backend = Backend::cuda(0);

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

/// The proofs of a witness alone, and of a batch of it. Those of a batch are sent from copies, where the plan has room for them.
fn proofs(prover: &Prover, witness: &PackedWitness<Scalar>, seed: u64) -> Vec<[u8; 192]> {
    let mut proofs = vec![prover.prove_with_randomness(witness, randomness(seed)).unwrap()];
    let batch = (0..3).map(|_| Ok::<_, ProveError>(witness.clone()));
    prover.prove_many(batch, &mut rng(seed), |outcome| {
        proofs.push(outcome.unwrap());
        ControlFlow::Continue(())
    });
    proofs.iter().map(|proved| proved.proof.to_bytes()).collect()
}

#[test]
fn every_plan_gives_the_same_bytes() {
    if no_device("every_plan_gives_the_same_bytes") {
        return;
    }
    for name in ["porep-2KiB", "window-2KiB"] {
        let name = name.parse().unwrap();
        let circuit = Arc::new(filecoin::compile(name).unwrap());
        let seed = fresh();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.params");
        let parameters = Arc::new(setup_on(&circuit, waste(seed), CUDA).unwrap());
        let key = setup_file(&circuit, waste(seed), CUDA, &path).unwrap();
        assert_eq!(key, parameters.vk);
        let mut bytes = Vec::new();
        parameters.write(&mut bytes).unwrap();
        assert!(std::fs::read(&path).unwrap() == bytes, "{name}: the file");

        let partitions = input::read(name, &[sample(name).unwrap()]).unwrap();
        let circuits = FilecoinCircuit::all(name, partitions).unwrap();
        let witness = native_witness(&circuits[0]).unwrap();
        let prove = |prover: &Prover| proofs(prover, &witness, seed);
        let expected = prove(&Prover::new(circuit.clone(), parameters.clone(), CUDA).unwrap());
        let mut seen = [false; 5];
        for origin in [Origin::Made, Origin::Memory, Origin::File] {
            for (plan, budgets) in budgets_of_many_plans(&circuit, origin) {
                println!("{name}, {origin:?}: {plan}");
                let backend = Backend::Cuda { device: 0, budgets };
                let circuit = circuit.clone();
                let prover = match origin {
                    Origin::Made => Prover::with_test_parameters(circuit, waste(seed), backend),
                    Origin::Memory => Prover::new(circuit, parameters.clone(), backend),
                    Origin::File => {
                        Prover::with_parameter_file(circuit, &path, FileOptions::default(), backend)
                    }
                };
                let prover = prover.unwrap();
                let got = *prover.plan().unwrap();
                assert_eq!((got.h, got.b_g2, got.quotient), (plan.h, plan.b_g2, plan.quotient), "{got}");
                assert_eq!(prove(&prover), expected, "{name}, {origin:?}: {plan}");
                let peak = prover.device_peak().unwrap();
                println!("{peak} bytes were in use at the peak");
                assert!(peak <= got.device_budget);
                let long = 32 * witness.dense_values().len() as u64 > got.witness_room;
                let now = [
                    got.queries_in(Place::Device).count() == 5,
                    got.queries_in(Place::Pinned).count() == 5,
                    got.queries_in(Place::Origin).count() == 5,
                    got.quotient == Memory::Tight,
                    long,
                ];
                seen.iter_mut().zip(now).for_each(|(seen, now)| *seen |= now);
            }
        }
        // The witness of a PoRep is short.
        assert_eq!(seen[..4], [true; 4], "{name}");
        assert!(seen[4] || name.to_string() != "window-2KiB");
        for gigabytes in [4, 8, 16, 24] {
            let budgets = Budgets { device: Some(gigabytes * 1_000_000_000), host: None };
            let backend = Backend::Cuda { device: 0, budgets };
            let prover = Prover::with_test_parameters(circuit.clone(), waste(seed), backend).unwrap();
            assert_eq!(prove(&prover), expected, "{name}, {gigabytes} GB");
            let plan = *prover.plan().unwrap();
            assert_eq!(plan.pinned_room, u64::MAX);
            // No room for a copy of the witness.
            let budgets = Budgets { host: Some(plan.host_peak), ..budgets };
            let backend = Backend::Cuda { device: 0, budgets };
            drop(prover);
            let prover = Prover::with_test_parameters(circuit.clone(), waste(seed), backend).unwrap();
            assert_eq!(prover.plan().unwrap().pinned_room, 0);
            assert_eq!(prove(&prover), expected, "{name}, {gigabytes} GB, without copies");
        }
    }
}

#[test]
fn setups_in_chunks_write_the_processor_s_file() {
    if no_device("setups_in_chunks_write_the_processor_s_file") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.params");
    for constraints in [1, 700, 30_000] {
        let seed = fresh();
        let circuit = Arc::new(compile(Random::new(seed, constraints)));
        let mut expected = Vec::new();
        setup(&circuit, waste(seed)).unwrap().write(&mut expected).unwrap();
        // From a chunk of 4,096 points to all at once.
        for megabytes in [440, 480, 1000] {
            let budgets = Budgets { device: Some(megabytes << 20), host: None };
            let backend = Backend::Cuda { device: 0, budgets };
            setup_file(&circuit, waste(seed), backend, &path).unwrap();
            let written = std::fs::read(&path).unwrap();
            assert!(written == expected, "{constraints} constraints, {megabytes} MiB");
        }
    }
}

#[test]
fn budgets_that_cannot_work_and_files_that_change() {
    if no_device("budgets_that_cannot_work_and_files_that_change") {
        return;
    }
    let circuit = Arc::new(compile(Random::new(7, 300)));
    let packed = witness(Random::new(7, 300));
    let cuda = |device, host| Backend::Cuda { device: 0, budgets: Budgets { device, host } };
    let error =
        Prover::with_test_parameters(circuit.clone(), waste(7), cuda(Some(1 << 20), None)).unwrap_err();
    assert!(matches!(error, ProveError::Plan(PlanError::Device { budget: 1_048_576, .. })), "{error}");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.params");
    let key = setup_file(&circuit, waste(7), CUDA, &path).unwrap();
    let sizes = Sizes::of(&circuit, Origin::File, 132).unwrap();
    let Err(PlanError::Device { needed, .. }) = Plan::new(&sizes, &Budgets { device: Some(0), host: None })
    else {
        panic!("no memory is enough");
    };
    // Nothing fits beside the least, neither there nor on the host.
    let backend = cuda(Some(needed), Some(PIECES));
    let error = Prover::with_test_parameters(circuit.clone(), waste(7), backend).unwrap_err();
    assert!(matches!(error, ProveError::Plan(PlanError::Host { .. })), "{error}");
    let backend = cuda(Some(needed), Some(PIECES));
    let open = || Prover::with_parameter_file(circuit.clone(), &path, FileOptions::default(), backend);
    let prover = open().unwrap();
    assert_eq!(prover.plan().unwrap().queries_in(Place::Origin).count(), 5);
    assert_eq!(prover.key(), &key);
    prover.prove(&packed, &mut rng(7)).unwrap();

    // A bad point is named, and the file's next proof is right again.
    let good = std::fs::read(&path).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    let at = good.len() - 1;
    file.write_all_at(&[good[at] ^ 1], at as u64).unwrap();
    let error = prover.prove(&packed, &mut rng(7)).unwrap_err();
    assert!(matches!(error, ProveError::Parameters(ParameterError::Changed { .. })), "{error}");
    let prover = open().unwrap();
    let error = prover.prove(&packed, &mut rng(7)).unwrap_err();
    let last = sizes.shape.b_inputs + sizes.shape.b_aux - 1;
    let named = matches!(
        error,
        ProveError::Parameters(ParameterError::Point { section: Section::BG2, index, .. }) if index == last
    );
    assert!(named, "{error}");
    let whole = FileOptions { check_subgroups: true, digest: None };
    let error = Prover::with_parameter_file(circuit.clone(), &path, whole, backend).unwrap_err();
    assert!(matches!(error, ProveError::Parameters(ParameterError::Point { .. })), "{error}");
    file.write_all_at(&good[at..], at as u64).unwrap();
    open().unwrap().prove(&packed, &mut rng(7)).unwrap();
}

/// On the curve, but outside the subgroup, wherever the query is kept: the check of all points names it.
#[test]
fn points_outside_the_subgroup_are_named() {
    if no_device("points_outside_the_subgroup_are_named") {
        return;
    }
    let circuit = Arc::new(compile(Random::new(12, 3000)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.params");
    let good = parameters(&circuit);
    let options = FileOptions { check_subgroups: true, digest: None };
    let plans = budgets_of_many_plans(&circuit, Origin::File);
    let mut places = [false; 3];
    for (plan, budgets) in plans {
        let backend = Backend::Cuda { device: 0, budgets };
        let open = || Prover::with_parameter_file(circuit.clone(), &path, options, backend);
        good.write_file(&path).unwrap();
        let prover = open().unwrap();
        prover.prove(&witness(Random::new(12, 3000)), &mut rng(1)).unwrap();
        for (seen, place) in places.iter_mut().zip([Place::Device, Place::Pinned, Place::Origin]) {
            *seen |= prover.plan().unwrap().queries_in(place).count() > 0;
        }
        drop(prover);
        for section in [Section::H, Section::L, Section::A, Section::BG1] {
            let mut bad = good.clone();
            let points = match section {
                Section::H => &mut bad.h,
                Section::L => &mut bad.l,
                Section::A => &mut bad.a,
                _ => &mut bad.b_g1,
            };
            let at = points.len() - 1;
            points[at] = outside_subgroup();
            bad.write_file(&path).unwrap();
            let error = open().unwrap_err();
            let named = matches!(
                error,
                ProveError::Parameters(ParameterError::Point {
                    section: of,
                    index,
                    source: PointError::NotInSubgroup,
                }) if of == section && index == at
            );
            assert!(named, "{section}, {plan}: {error}");
        }
    }
    assert_eq!(places, [true; 3]);
}

#[test]
fn a_missing_device_is_an_error() {
    let circuit = Arc::new(compile(Mimc { preimage: Scalar::ONE, rounds: 3 }));
    let absent = Backend::cuda(4096);
    let error = Prover::with_test_parameters(circuit.clone(), waste(5), absent).unwrap_err();
    assert!(
        matches!(error.device(), Some(gpu::Error::NoDevice(_) | gpu::Error::NoSuchDevice { .. })),
        "{error}"
    );
    assert!(setup_on(&circuit, waste(5), absent).unwrap_err().device().is_some());
}
