//! Proofs whose points are read from a file while the sums are made.

mod common;

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::sync::Arc;

use blstrs::Scalar;
use common::{Cubic, Mimc, Random, compile, outside_subgroup, parameters, waste, witness};
use groth16::{
    Backend, FileOptions, ParameterError, PointError, ProveError, Prover, Randomness, Section, SetupError,
    VerifyingKey, setup, setup_file,
};
use proptest::prelude::*;

fn randomness() -> Randomness {
    Randomness::fixed(Scalar::from(5), Scalar::from(6)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// The same bytes as from memory, more than once from one prover.
    #[test]
    fn proofs_equal_those_from_memory(structure: u64, constraints in 1usize..60) {
        let circuit = Random::new(structure, constraints);
        let (compiled, witness) = (Arc::new(compile(circuit.clone())), witness(circuit));
        let parameters = parameters(&compiled);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.params");
        parameters.write_file(&path).unwrap();
        let from_memory = Prover::new(compiled.clone(), Arc::new(parameters), Backend::Cpu).unwrap();
        let options = FileOptions { check_subgroups: true, digest: None };
        let from_file = Prover::with_parameter_file(compiled, &path, options, Backend::Cpu).unwrap();
        let expected = from_memory.prove_with_randomness(&witness, randomness()).unwrap().proof;
        for _ in 0..2 {
            let got = from_file.prove_with_randomness(&witness, randomness()).unwrap().proof;
            prop_assert_eq!(&got, &expected);
        }
    }
}

#[test]
fn bad_files_are_refused() {
    let circuit = Mimc { preimage: Scalar::from(7), rounds: 20 };
    let (compiled, witness) = (Arc::new(compile(circuit.clone())), witness(circuit));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.params");
    let good = parameters(&compiled);
    good.write_file(&path).unwrap();
    let with = |digest, check_subgroups| {
        let options = FileOptions { digest, check_subgroups };
        Prover::with_parameter_file(compiled.clone(), &path, options, Backend::Cpu)
    };
    let open = |digest| with(digest, false);

    let error = open(Some("00112233445566778899aabbccddeeff")).unwrap_err();
    let got = match &error {
        ProveError::Parameters(ParameterError::Digest { got, .. }) => got.clone(),
        _ => panic!("{error}"),
    };
    let prover = open(Some(&got)).unwrap();

    // Another circuit's.
    let other = Arc::new(compile(Cubic(3)));
    let error = Prover::with_parameter_file(other, &path, FileOptions::default(), Backend::Cpu).unwrap_err();
    assert!(matches!(error, ProveError::Parameters(ParameterError::Shape { .. })), "{error}");

    // Changed after it was opened.
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let error = prover.prove_with_randomness(&witness, randomness()).unwrap_err();
    assert!(matches!(error, ProveError::Parameters(ParameterError::Changed { .. })), "{error}");

    // A point that is not on the curve: the last byte of B in G2.
    let len = std::fs::metadata(&path).unwrap().len();
    (&file).seek(SeekFrom::Start(len - 1)).unwrap();
    let last = std::fs::read(&path).unwrap()[len as usize - 1];
    (&file).write_all(&[last ^ 1]).unwrap();
    let error = open(None).unwrap().prove_with_randomness(&witness, randomness()).unwrap_err();
    let at = good.b_g2.len() - 1;
    let named = matches!(
        error,
        ProveError::Parameters(ParameterError::Point { section: Section::BG2, index, .. }) if index == at
    );
    assert!(named, "{error}");
    // With the check of all subgroups it is found before the first proof.
    let error = with(None, true).unwrap_err();
    assert!(matches!(error, ProveError::Parameters(ParameterError::Point { .. })), "{error}");

    // Cut off within the last section, and within the key.
    for len in [len - 1, 500] {
        file.set_len(len).unwrap();
        let error = open(None).unwrap_err();
        assert!(matches!(error, ProveError::Parameters(_)), "{error}");
    }
}

/// On the curve, but outside the subgroup: only the check of all points finds it before the proof does not verify.
#[test]
fn points_outside_the_subgroup_are_found_when_asked_for() {
    let circuit = Mimc { preimage: Scalar::from(7), rounds: 20 };
    let compiled = Arc::new(compile(circuit));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.params");
    let mut parameters = parameters(&compiled);
    let at = parameters.l.len() / 2;
    parameters.l[at] = outside_subgroup();
    parameters.write_file(&path).unwrap();
    let open = |check_subgroups| {
        let options = FileOptions { check_subgroups, digest: None };
        Prover::with_parameter_file(compiled.clone(), &path, options, Backend::Cpu)
    };
    open(false).unwrap();
    let error = open(true).unwrap_err();
    let named = matches!(
        error,
        ProveError::Parameters(ParameterError::Point {
            section: Section::L,
            index,
            source: PointError::NotInSubgroup,
        }) if index == at
    );
    assert!(named, "{error}");
}

/// A setup into a file writes the bytes that writing its parameters does, all of them or none.
#[test]
fn setups_into_files() {
    let circuit = Arc::new(compile(Random::new(5, 40)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.params");
    let key = setup_file(&circuit, waste(5), Backend::Cpu, &path).unwrap();
    let expected = setup(&circuit, waste(5)).unwrap();
    assert_eq!(key, expected.vk);
    assert_eq!(VerifyingKey::read_parameter_file(&path).unwrap(), expected.vk);
    let mut bytes = Vec::new();
    expected.write(&mut bytes).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);

    let absent = folder.path().join("absent.params");
    assert!(setup_file(&circuit, waste(5), Backend::cuda(4096), &absent).is_err());
    assert!(!absent.exists());
    let ceremony = folder.path().join("v28-test.params");
    let error = setup_file(&circuit, waste(5), Backend::Cpu, &ceremony).unwrap_err();
    let refused = matches!(error, SetupError::Parameters(ParameterError::CeremonyPlace { .. }));
    assert!(refused, "{error}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
}
