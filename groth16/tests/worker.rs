//! Provers in processes of their own: the same bytes, and what the loss of one costs.

mod common;

use std::fs::OpenOptions;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use blstrs::Scalar;
use common::{Random, compile, rng, waste, witness};
use ff::Field;
use gpu::testing::{Fault, inject, skip};
use groth16::testing::faulty;
use groth16::worker::{WorkerError, serve};
use groth16::{Backend, Batch, DropOut, Fleet, ProveError, Prover, Randomness};
use r1cs::{CheckError, CompiledCircuit};

const CONSTRAINTS: usize = 300;

/// Set in a worker: its backend, `cpu` or a device's number.
const BACKEND: &str = "GROTH16_WORKER_TEST_BACKEND";
/// Set in a worker: a file with a line for each start of it.
const STARTS: &str = "GROTH16_WORKER_TEST_STARTS";
/// Set in a worker: what befalls it when it is started for the first time.
const FAULT: &str = "GROTH16_WORKER_TEST_FAULT";

/// A shell's process that keeps the connection open.
const CHILD: &str = "exec 3<&0; sleep 30 >/dev/null 2>&1 &";

fn circuit() -> (Arc<CompiledCircuit>, Random) {
    let random = Random::new(79, CONSTRAINTS);
    (Arc::new(compile(random.clone())), random)
}

fn randomness() -> Randomness {
    let mut rng = rng(9);
    Randomness::fixed(Scalar::random(&mut rng), Scalar::random(&mut rng)).unwrap()
}

fn prove(prover: &Prover, random: &Random) -> Result<[u8; 192], ProveError> {
    let proved = prover.prove_with_randomness(&witness(random.clone()), randomness())?;
    Ok(proved.proof.to_bytes())
}

/// What the worker's process does. In the test run itself it does nothing.
#[test]
fn this_process_as_a_worker() {
    let Ok(backend) = std::env::var(BACKEND) else { return };
    let starts = std::env::var(STARTS).unwrap();
    let first = std::fs::read(&starts).map_or(true, |lines| lines.is_empty());
    let mut file = OpenOptions::new().create(true).append(true).open(starts).unwrap();
    writeln!(file, "{}", std::process::id()).unwrap();
    let fault = if first { std::env::var(FAULT).unwrap_or_default() } else { String::new() };
    let (fault, number) = fault.split_once(' ').unwrap_or((&fault, "0"));
    let number: usize = number.parse().unwrap();
    let backend = match backend.as_str() {
        "cpu" => Backend::Cpu,
        ordinal => Backend::cuda(ordinal.parse().unwrap()),
    };
    let trapdoor = if fault == "key" { 4 } else { 3 };
    let mut prover = Prover::with_test_parameters(circuit().0, waste(trapdoor), backend).unwrap();
    match fault {
        "exit" => std::process::exit(7),
        "abort" => {
            let count = AtomicUsize::new(0);
            prover = faulty(prover, move || {
                if count.fetch_add(1, Ordering::Relaxed) == number {
                    std::process::abort();
                }
                Ok(())
            });
        }
        "child" => {
            // It has the connection too, and for longer.
            let shell = Command::new("sh").args(["-c", CHILD]).status();
            assert!(shell.unwrap().success());
            prover = faulty(prover, || std::process::abort());
        }
        "kernel" => inject(Fault::Kernel, number as u64),
        _ => {}
    }
    serve(&prover).unwrap();
}

/// Starts the worker, in a folder of its own.
fn start(folder: &Path, backend: &str, fault: &str) -> impl Fn() -> Command + Send + Sync + use<> {
    let (starts, backend, fault) =
        (folder.join(format!("{backend}.starts")), backend.to_owned(), fault.to_owned());
    move || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "this_process_as_a_worker", "--nocapture"]);
        command.env(BACKEND, &backend).env(STARTS, &starts).env(FAULT, &fault);
        command.stdout(std::process::Stdio::null());
        command
    }
}

/// The processes that were started so far.
fn started(folder: &Path, backend: &str) -> Vec<u32> {
    let lines = std::fs::read_to_string(folder.join(format!("{backend}.starts"))).unwrap();
    lines.lines().map(|line| line.parse().unwrap()).collect()
}

fn is_alive(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

#[test]
fn worker_makes_the_bytes_of_a_prover() {
    let folder = tempfile::tempdir().unwrap();
    let (circuit, random) = circuit();
    let own = Prover::with_test_parameters(circuit, waste(3), Backend::Cpu).unwrap();
    let remote = Prover::in_worker(start(folder.path(), "cpu", "")).unwrap();
    assert_eq!(remote.key(), own.key());
    let expected = prove(&own, &random).unwrap();
    assert_eq!(prove(&remote, &random).unwrap(), expected);
    // An error is the witness's, and the worker goes on.
    let wrong = Random { wrong: Some(CONSTRAINTS / 2), ..random.clone() };
    let row = |prover: &Prover| match prove(prover, &wrong) {
        Err(ProveError::Witness(error @ CheckError::Unsatisfied { .. })) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(row(&remote), row(&own));
    let other = witness(Random::new(80, 10));
    let error = remote.prove(&other, &mut rng(1)).unwrap_err().to_string();
    assert_eq!(format!("the worker: {}", own.prove(&other, &mut rng(1)).unwrap_err()), error);
    let batch = |prover: &Prover| {
        let mut proofs = Vec::new();
        let witnesses = (0..4).map(|_| Ok::<_, ProveError>(witness(random.clone())));
        prover.prove_many(witnesses, &mut rng(2), |outcome| {
            proofs.push(outcome.unwrap());
            ControlFlow::Continue(())
        });
        assert!(proofs.iter().all(|proved| proved.times.whole.is_some() && proved.times.witness.is_some()));
        proofs.iter().map(|proved| proved.proof.to_bytes()).collect::<Vec<_>>()
    };
    assert_eq!(batch(&remote), batch(&own));
    assert_eq!((remote.plan(), remote.device_peak()), (None, None));
    let processes = started(folder.path(), "cpu");
    assert_eq!(processes.len(), 1);
    assert!(is_alive(processes[0]));
    drop(remote);
    assert!(!is_alive(processes[0]), "the worker has outlived its prover");
}

#[test]
fn the_end_of_a_worker_costs_one_proof() {
    let folder = tempfile::tempdir().unwrap();
    let (circuit, random) = circuit();
    let expected =
        prove(&Prover::with_test_parameters(circuit, waste(3), Backend::Cpu).unwrap(), &random).unwrap();
    let remote = Prover::in_worker(start(folder.path(), "cpu", "abort 1")).unwrap();
    assert_eq!(prove(&remote, &random).unwrap(), expected);
    match prove(&remote, &random) {
        Err(ProveError::Worker(WorkerError::Ended { status })) => {
            assert!(status.contains("signal: 6"), "{status}")
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(prove(&remote, &random).unwrap(), expected);
    let processes = started(folder.path(), "cpu");
    assert_eq!(processes.len(), 2);
    // One that is killed in between of proofs, too.
    assert!(Command::new("kill").args(["-9", &processes[1].to_string()]).status().unwrap().success());
    match prove(&remote, &random) {
        Err(ProveError::Worker(WorkerError::Ended { status })) => {
            assert!(status.contains("signal: 9"), "{status}")
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(prove(&remote, &random).unwrap(), expected);
    assert_eq!(started(folder.path(), "cpu").len(), 3);
}

/// A process that a worker has started may have the connection too, and does not keep anybody waiting for one that has ended.
#[test]
fn children_of_a_worker_do_not_hide_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let start_of = Instant::now();
    let error = Prover::in_worker(|| {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{CHILD} exit 7")]);
        command
    });
    match error {
        Err(ProveError::Worker(WorkerError::Ended { status })) => assert_eq!(status, "exit status: 7"),
        other => panic!("{other:?}"),
    }
    let remote = Prover::in_worker(start(folder.path(), "cpu", "child")).unwrap();
    match prove(&remote, &circuit().1) {
        Err(ProveError::Worker(WorkerError::Ended { status })) => {
            assert!(status.contains("signal: 6"), "{status}")
        }
        other => panic!("{other:?}"),
    }
    assert!(start_of.elapsed() < Duration::from_secs(20), "{:?}", start_of.elapsed());
}

#[test]
fn workers_that_do_not_come_up_are_named() {
    let folder = tempfile::tempdir().unwrap();
    match Prover::in_worker(start(folder.path(), "cpu", "exit")) {
        Err(ProveError::Worker(WorkerError::Ended { status })) => assert_eq!(status, "exit status: 7"),
        other => panic!("{other:?}"),
    }
    let missing = folder.path().join("missing");
    let error = Prover::in_worker(move || Command::new(&missing)).unwrap_err();
    assert!(matches!(error, ProveError::Worker(WorkerError::Start(_))), "{error}");
    // What says something else is no worker.
    let error = Prover::in_worker(|| {
        let mut command = Command::new("sh");
        command.args(["-c", "printf 'hello, world' >&0"]);
        command
    });
    let error = error.unwrap_err();
    assert!(matches!(error, ProveError::Worker(WorkerError::Message(_))), "{error}");

    // Another key than before is refused, once and again; the first worker has it here.
    let (_, random) = circuit();
    let remote = Prover::in_worker(start(folder.path(), "cpu", "key"));
    // `exit` has been its first start.
    assert!(prove(&remote.unwrap(), &random).is_ok());
    let folder = tempfile::tempdir().unwrap();
    let remote = Prover::in_worker(start(folder.path(), "cpu", "key")).unwrap();
    let process = started(folder.path(), "cpu")[0];
    assert!(Command::new("kill").args(["-9", &process.to_string()]).status().unwrap().success());
    assert!(matches!(prove(&remote, &random), Err(ProveError::Worker(WorkerError::Ended { .. }))));
    for _ in 0..2 {
        match prove(&remote, &random) {
            Err(ProveError::Worker(WorkerError::NoneLeft(error))) => {
                assert!(matches!(*error, WorkerError::OtherKey), "{error}")
            }
            other => panic!("{other:?}"),
        }
    }
}

const PROOFS: usize = 9;

fn batch(fleet: &Fleet, random: &Random) -> Batch<ProveError> {
    let packed = witness(random.clone());
    let witnesses = (0..PROOFS).map(|_| Ok(packed.clone()));
    fleet.prove_all(witnesses, &mut rng(4), |_| ControlFlow::Continue(()))
}

/// Of two workers one has an accident: one proof of the batch fails, and the next batch is right, on both.
fn one_of_two(backends: [&str; 2], fault: &str, check: impl Fn(&ProveError)) {
    let folder = tempfile::tempdir().unwrap();
    let (circuit, random) = circuit();
    let own = Fleet::with_test_parameters(&circuit, waste(3), &[Backend::Cpu]).unwrap();
    let expected: Vec<_> =
        batch(&own, &random).into_proofs().unwrap().iter().map(|proved| proved.proof.to_bytes()).collect();
    let folders = [folder.path().join("0"), folder.path().join("1")];
    let worker = |which: usize, fault| {
        std::fs::create_dir(&folders[which]).unwrap();
        Prover::in_worker(start(&folders[which], backends[which], fault)).unwrap()
    };
    let fleet = Fleet::new(vec![worker(0, fault), worker(1, "")]).unwrap();
    let outcomes = batch(&fleet, &random).outcomes;
    let mut errors = 0;
    for (outcome, expected) in outcomes.iter().zip(&expected) {
        match outcome {
            Ok(proved) => assert_eq!(proved.proof.to_bytes(), *expected),
            Err(groth16::ProveManyError::Prove { source, .. }) => {
                errors += 1;
                println!("{source}");
                check(source);
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(errors, 1);
    assert!(fleet.failures().iter().all(Option::is_none));
    for _ in 0..2 {
        let proofs = batch(&fleet, &random).into_proofs().unwrap();
        assert!(proofs.iter().map(|proved| proved.proof.to_bytes()).eq(expected.iter().copied()));
    }
    let starts = [0, 1].map(|which| started(&folders[which], backends[which]).len());
    assert_eq!(starts, [2, 1]);
}

#[test]
fn a_fleet_of_workers_loses_one_proof() {
    one_of_two(["cpu", "cpu"], "abort 2", |error| {
        assert!(matches!(error, ProveError::Worker(WorkerError::Ended { .. })), "{error:?}");
    });
}

/// A worker that does not come up again would be free for the next proof at once, and fail that too.
#[test]
fn a_worker_that_does_not_come_up_again_drops_out() {
    let folder = tempfile::tempdir().unwrap();
    let (circuit, random) = circuit();
    let own = Prover::with_test_parameters(circuit, waste(3), Backend::Cpu).unwrap();
    let first = start(folder.path(), "cpu", "abort 0");
    let starts = AtomicUsize::new(0);
    let remote = Prover::in_worker(move || match starts.fetch_add(1, Ordering::SeqCst) {
        0 => first(),
        _ => Command::new("false"),
    });
    let mut fleet = Fleet::new(vec![remote.unwrap(), own]).unwrap();
    let mut lost = 0;
    while fleet.failures()[0].is_none() {
        lost += batch(&fleet, &random).outcomes.iter().filter(|outcome| outcome.is_err()).count();
    }
    // One with the worker, and one by which it was seen that there is no other.
    assert_eq!(lost, 2);
    match &fleet.failures()[..] {
        [Some(DropOut::Worker(error)), None] => {
            assert_eq!(error, "no new worker: the worker ended: exit status: 1")
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(batch(&fleet, &random).into_proofs().unwrap().len(), PROOFS);
    let new = Prover::in_worker(start(folder.path(), "cpu", "")).unwrap();
    drop(fleet.replace(0, new).unwrap());
    assert_eq!(fleet.failures(), [None, None]);
    assert_eq!(batch(&fleet, &random).into_proofs().unwrap().len(), PROOFS);
}

fn check_lost(error: &ProveError) {
    assert!(matches!(error, ProveError::Device(gpu::Error::DeviceLost { .. })), "{error:?}");
}

/// The same device, for the same process: what a kernel's fault takes from the worker its caller does not lose.
#[test]
fn device_is_there_for_the_proof_after_a_kernel_fault() {
    const NAME: &str = "device_is_there_for_the_proof_after_a_kernel_fault";
    if !gpu::devices().is_ok_and(|devices| !devices.is_empty()) {
        return skip("no CUDA device", NAME);
    }
    let (circuit, random) = circuit();
    let expected =
        prove(&Prover::with_test_parameters(circuit, waste(3), Backend::Cpu).unwrap(), &random).unwrap();
    for number in [1, 10, 40, 90] {
        let folder = tempfile::tempdir().unwrap();
        let remote = Prover::in_worker(start(folder.path(), "0", &format!("kernel {number}"))).unwrap();
        assert!(remote.plan().is_some());
        let outcomes = (0..PROOFS).map(|_| prove(&remote, &random));
        let errors: Vec<_> =
            outcomes.filter_map(|outcome| outcome.map(|bytes| assert_eq!(bytes, expected)).err()).collect();
        assert_eq!(errors.len(), 1, "{number}: {errors:?}");
        check_lost(&errors[0]);
        println!("{number}: {}, then the right bytes", errors[0]);
        assert!(remote.device_peak().is_some());
        assert_eq!(started(folder.path(), "0").len(), 2);
    }
}

/// A worker for each of two devices.
#[test]
fn device_of_another_worker_goes_on_after_a_kernel_fault() {
    const NAME: &str = "device_of_another_worker_goes_on_after_a_kernel_fault";
    if !gpu::devices().is_ok_and(|devices| devices.len() > 1) {
        return skip("no two CUDA devices", NAME);
    }
    for number in [3, 30, 90] {
        one_of_two(["0", "1"], &format!("kernel {number}"), check_lost);
        one_of_two(["1", "0"], &format!("kernel {number}"), check_lost);
    }
}
