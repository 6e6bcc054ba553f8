//! Proofs whose points are read from a file while the sums are made.

mod common;

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::sync::Arc;

use blstrs::Scalar;
use common::{Cubic, Mimc, Random, compile, parameters, witness};
use groth16::{Backend, ParameterError, ProveError, Prover, Randomness, Section};
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
        let from_file = Prover::with_parameter_file(compiled, &path, None).unwrap();
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
    let open = |digest| Prover::with_parameter_file(compiled.clone(), &path, digest);

    let error = open(Some("00112233445566778899aabbccddeeff")).unwrap_err();
    let got = match &error {
        ProveError::Parameters(ParameterError::Digest { got, .. }) => got.clone(),
        _ => panic!("{error}"),
    };
    let prover = open(Some(&got)).unwrap();

    // Another circuit's.
    let error = Prover::with_parameter_file(Arc::new(compile(Cubic(3))), &path, None).unwrap_err();
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

    // Cut off within the last section, and within the key.
    for len in [len - 1, 500] {
        file.set_len(len).unwrap();
        let error = open(None).unwrap_err();
        assert!(matches!(error, ProveError::Parameters(_)), "{error}");
    }
}
