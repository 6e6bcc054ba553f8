//! Many proofs on several provers: order, sharing, and what becomes of the others when one fails.

mod common;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};

use assignment::PackedWitness;
use blstrs::Scalar;
use common::{Mimc, compile, rng, waste, witness};
use ff::Field;
use groth16::testing::faulty;
use groth16::{
    Backend, Fleet, FleetError, Outcome, Parameters, ProveError, ProveManyError, Prover, VerificationError,
    setup,
};
use r1cs::CompiledCircuit;

const ROUNDS: u64 = 9;

fn of(i: u64) -> PackedWitness<Scalar> {
    witness(Mimc { preimage: Scalar::from(i), rounds: ROUNDS })
}

fn witnesses(count: u64) -> impl Iterator<Item = Result<PackedWitness<Scalar>, &'static str>> + Send {
    (0..count).map(|i| Ok(of(i)))
}

fn circuit() -> (Arc<CompiledCircuit>, Arc<Parameters>) {
    let circuit = compile(Mimc { preimage: Scalar::ONE, rounds: ROUNDS });
    let parameters = setup(&circuit, waste(5)).unwrap();
    (Arc::new(circuit), Arc::new(parameters))
}

fn lost() -> ProveError {
    let (message, call) = ("unspecified launch failure".into(), "cudaStreamSynchronize".into());
    gpu::Error::DeviceLost { ordinal: 1, code: 719, message, call }.into()
}

fn out_of_memory() -> ProveError {
    gpu::Error::OutOfMemory { requested: 3, in_use: 2, limit: 1 }.into()
}

fn go_on<E>(_: &Outcome<E>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// For each outcome whether it is the proof of the witness in its place.
fn right<E>(outcomes: &[Outcome<E>]) -> Vec<bool> {
    let of = |(i, outcome): (usize, &Outcome<E>)| {
        outcome.as_ref().is_ok_and(|proved| proved.public_inputs == of(i as u64).inputs()[1..])
    };
    outcomes.iter().enumerate().map(of).collect()
}

#[test]
fn outcomes_come_in_order_and_an_error_is_that_of_its_proof() {
    let (circuit, parameters) = circuit();
    let prover = Prover::new(circuit, parameters, Backend::Cpu).unwrap();
    let mut outcomes = Vec::new();
    let some = (0..6).map(|i| match i {
        2 => Err("gone"),
        4 => Ok(PackedWitness::from_assignment(vec![Scalar::ONE; 2], &[Scalar::ZERO; 1]).unwrap()),
        i => Ok(of(i)),
    });
    prover.prove_many(some, &mut rng(6), |outcome| {
        outcomes.push(outcome);
        ControlFlow::Continue(())
    });
    assert_eq!(right(&outcomes), [true, true, false, true, false, true]);
    assert_eq!(outcomes[2].as_ref().unwrap_err().to_string(), "witness 2: gone");
    assert!(matches!(&outcomes[4], Err(ProveManyError::Prove { index: 4, source })
        if matches!(**source, ProveError::Witness(_))));

    // Nothing is begun after a `Break`: of a hundred witnesses few are made.
    let (made, mut done) = (AtomicUsize::new(0), 0);
    let endless = (0..100).map(|i| {
        made.fetch_add(1, Ordering::SeqCst);
        Ok::<_, ProveError>(of(i))
    });
    prover.prove_many(endless, &mut rng(6), |_| {
        done += 1;
        if done == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(done, 2);
    assert!(made.into_inner() <= 4);
}

/// Whichever prover makes a proof, and in whatever order they end, the bytes are those that one prover makes.
#[test]
fn a_fleet_makes_the_proofs_of_one_prover() {
    let (circuit, parameters) = circuit();
    let fleet =
        |count: usize| Fleet::with_parameters(&circuit, &parameters, &vec![Backend::Cpu; count]).unwrap();
    let bytes = |fleet: &Fleet, count| -> Vec<_> {
        let batch = fleet.prove_all(witnesses(count), &mut rng(6), go_on);
        assert!(batch.verify.is_some());
        let proofs = batch.into_proofs().unwrap();
        proofs.iter().map(|proved| (proved.proof.to_bytes(), proved.public_inputs.clone())).collect()
    };
    let expected = bytes(&fleet(1), 13);
    assert_eq!(bytes(&fleet(3), 13), expected);
    assert_eq!(bytes(&fleet(3), 1), expected[..1]);
    assert_eq!(bytes(&fleet(3), 0), []);
    let made = Fleet::with_test_parameters(&circuit, waste(5), &[Backend::Cpu; 2]).unwrap();
    assert_eq!(bytes(&made, 5), expected[..5]);
}

/// A worker that finds no more witnesses while another one has just taken the last.
#[test]
fn every_witness_has_an_outcome() {
    let (circuit, parameters) = circuit();
    let prover = || {
        let prover = Prover::new(circuit.clone(), parameters.clone(), Backend::Cpu).unwrap();
        faulty(prover, || Err(out_of_memory()))
    };
    let fleet = Fleet::new((0..4).map(|_| prover()).collect()).unwrap();
    let ready = of(1);
    for round in 0..3000 {
        let witnesses = (0..round % 4).map(|_| Ok::<_, ()>(ready.clone()));
        assert_eq!(fleet.prove_all(witnesses, &mut rng(1), go_on).outcomes.len(), round % 4, "round {round}");
    }
}

/// Two provers that each wait for the other one to have begun: a fleet that used one alone would never end.
#[test]
fn all_provers_work_at_the_same_time() {
    let (circuit, parameters) = circuit();
    let barrier = Arc::new(Barrier::new(2));
    let prover = |_| {
        let barrier = barrier.clone();
        let prover = Prover::new(circuit.clone(), parameters.clone(), Backend::Cpu).unwrap();
        faulty(prover, move || {
            barrier.wait();
            Ok(())
        })
    };
    let fleet = Fleet::new((0..2).map(prover).collect()).unwrap();
    let batch = fleet.prove_all(witnesses(4), &mut rng(6), go_on);
    assert_eq!(right(&batch.outcomes), [true; 4]);
    // Single proofs of two callers too do not both go to the first.
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| fleet.prove(&of(1), &mut rng(1)).unwrap());
        }
    });
}

/// A proof that comes while a batch is under way waits for one proof, not for the batch.
#[test]
fn an_urgent_proof_is_not_starved_by_a_batch() {
    let (circuit, parameters) = circuit();
    let prover = Prover::new(circuit, parameters, Backend::Cpu).unwrap();
    let (begun, begins) = channel();
    let (release, released) = channel::<()>();
    let (begun, released) = (Mutex::new(begun), Mutex::new(released));
    let fleet = Fleet::from(faulty(prover, move || {
        begun.lock().unwrap().send(()).unwrap();
        released.lock().unwrap().recv().unwrap();
        Ok(())
    }));
    let finished = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let batch = scope.spawn(|| {
            fleet.prove_all(witnesses(6), &mut rng(6), |_| {
                finished.fetch_add(1, Ordering::SeqCst);
                ControlFlow::Continue(())
            })
        });
        begins.recv().unwrap();
        let urgent = scope.spawn(|| {
            let proved = fleet.prove(&of(1), &mut rng(1)).unwrap();
            (proved, finished.load(Ordering::SeqCst))
        });
        // Long enough for the urgent one to stand in line.
        std::thread::sleep(std::time::Duration::from_millis(200));
        for _ in 0..7 {
            release.send(()).unwrap();
        }
        let (_, before) = urgent.join().unwrap();
        assert!(before <= 3, "after {before} of the batch's 6");
        assert_eq!(right(&batch.join().unwrap().outcomes), [true; 6]);
    });
}

#[test]
fn a_failed_device_costs_its_proof_and_the_others_go_on() {
    let (circuit, parameters) = circuit();
    let prover = || Prover::new(circuit.clone(), parameters.clone(), Backend::Cpu).unwrap();
    // The second prover makes one proof and fails from then on.
    let calls = AtomicUsize::new(0);
    let failing = faulty(prover(), move || match calls.fetch_add(1, Ordering::SeqCst) {
        0 => Ok(()),
        _ => Err(lost()),
    });
    // The first one waits for the failure, so that it cannot make all the proofs before.
    let mut fleet = Fleet::new(vec![prover(), failing]).unwrap();
    let mut outcomes = Vec::new();
    while fleet.failures()[1].is_none() {
        outcomes = fleet.prove_all(witnesses(8), &mut rng(6), go_on).outcomes;
    }
    let failed: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    assert!(matches!(&failed[..], [ProveManyError::Prove { source, .. }]
        if matches!(source.device(), Some(gpu::Error::DeviceLost { ordinal: 1, .. }))));
    assert_eq!(right(&outcomes).iter().filter(|right| **right).count(), 7);
    assert_eq!(fleet.failures().iter().filter(|failure| failure.is_some()).count(), 1);

    // The one that is left does all of it, until another one is put in the place of the failed one.
    assert_eq!(right(&fleet.prove_all(witnesses(4), &mut rng(6), go_on).outcomes), [true; 4]);
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let new = faulty(prover(), move || {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
    assert!(fleet.replace(1, new).unwrap().is_some());
    assert_eq!(fleet.failures(), [None, None]);
    for _ in 0..2 {
        fleet.prove(&of(1), &mut rng(1)).unwrap();
    }
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[test]
fn when_no_device_is_left_every_proof_says_so() {
    let (circuit, parameters) = circuit();
    let prover = || Prover::new(circuit.clone(), parameters.clone(), Backend::Cpu).unwrap();
    let fleet = Fleet::from(faulty(prover(), || Err(lost())));
    let outcomes = fleet.prove_all(witnesses(3), &mut rng(6), go_on).outcomes;
    let kinds: Vec<_> = outcomes
        .iter()
        .map(|outcome| match outcome {
            Err(ProveManyError::Prove { index, source }) => {
                assert!(matches!(source.device(), Some(gpu::Error::DeviceLost { .. })));
                (*index, matches!(**source, ProveError::NoProverLeft(Some(_))))
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kinds, [(0, false), (1, true), (2, true)]);
    let error = fleet.prove(&of(1), &mut rng(1)).unwrap_err();
    assert!(error.to_string().contains("unspecified launch failure"), "{error}");
}

/// Too little memory is no reason not to try again.
#[test]
fn out_of_memory_leaves_the_prover_in_use() {
    let (circuit, parameters) = circuit();
    let calls = AtomicUsize::new(0);
    let prover = Prover::new(circuit, parameters, Backend::Cpu).unwrap();
    let fleet = Fleet::from(faulty(prover, move || match calls.fetch_add(1, Ordering::SeqCst) {
        1 => Err(out_of_memory()),
        _ => Ok(()),
    }));
    let outcomes = fleet.prove_all(witnesses(4), &mut rng(6), go_on).outcomes;
    assert_eq!(right(&outcomes), [true, false, true, true]);
    assert_eq!(fleet.failures(), [None]);
}

/// Parameters of the same shape and key with two points exchanged: the proofs do not verify, and only those are errors.
#[test]
fn proofs_that_do_not_verify_are_errors() {
    let (circuit, parameters) = circuit();
    let mut exchanged = Parameters::clone(&parameters);
    exchanged.h.swap(0, 1);
    let provers = [exchanged.into(), parameters]
        .map(|parameters| Prover::new(circuit.clone(), parameters, Backend::Cpu).unwrap());
    let fleet = Fleet::new(provers.into()).unwrap();
    let batch = fleet.prove_all(witnesses(6), &mut rng(6), go_on);
    let unverified = |outcome: &Outcome<_>| {
        matches!(outcome, Err(ProveManyError::Prove { source, .. })
            if matches!(**source, ProveError::Verification(VerificationError::InvalidProof)))
    };
    let bad = batch.outcomes.iter().filter(|outcome| unverified(outcome)).count();
    let good = right(&batch.outcomes).into_iter().filter(|right| *right).count();
    assert!(bad > 0 && good + bad == 6, "{bad} bad, {good} good");
    // Unless asked not to.
    let batch = fleet.verify_proofs(false).prove_all(witnesses(6), &mut rng(6), go_on);
    assert!(batch.verify.is_none() && batch.outcomes.iter().all(Result::is_ok));
}

#[test]
fn provers_that_make_no_fleet() {
    let (circuit, parameters) = circuit();
    let on = |backends: &[Backend]| Fleet::with_parameters(&circuit, &parameters, backends);
    assert!(matches!(on(&[]), Err(FleetError::Empty)));
    let cuda = Backend::cuda;
    assert!(matches!(on(&[cuda(4096), Backend::Cpu, cuda(4096)]), Err(FleetError::Twice(4096))));
    let error = on(&[Backend::Cpu, cuda(4096)]).unwrap_err();
    assert!(matches!(error, FleetError::Prover { index: 1, .. }), "{error}");
    assert!(error.prover().and_then(ProveError::device).is_some());
    let prover = |seed| Prover::with_test_parameters(circuit.clone(), waste(seed), Backend::Cpu).unwrap();
    let error = Fleet::new(vec![prover(1), prover(1), prover(2)]).unwrap_err();
    assert!(matches!(error, FleetError::OtherKey { index: 2 }), "{error}");
    let mut fleet = on(&[Backend::Cpu]).unwrap();
    assert!(matches!(fleet.replace(0, prover(1)), Err(FleetError::OtherKey { index: 0 })));
}
