//! Compiled circuits on disk, and every way to damage them.

mod common;

use assignment::{CircuitId, StructuredCircuit};
use common::Synthetic;
use proptest::prelude::*;
use r1cs::{CompiledCircuit, FileError, Source};

fn written(circuit: &CompiledCircuit) -> Vec<u8> {
    let mut bytes = vec![];
    circuit.write_to(&mut bytes).unwrap();
    bytes
}

fn read(bytes: &[u8], id: &CircuitId) -> Result<CompiledCircuit, FileError> {
    CompiledCircuit::read_from(bytes, bytes.len() as u64, id)
}

fn small() -> (Synthetic, Vec<u8>) {
    let circuit = Synthetic { steps: (2, 4), bound: 2, ..Synthetic::new(11, 3) }.blank();
    let compiled = CompiledCircuit::compile(&circuit).unwrap();
    compiled.digest();
    (circuit, written(&compiled))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn comes_back_whole(seed in any::<u64>(), units in 1usize..4, digest in any::<bool>()) {
        let circuit = Synthetic::new(seed, units).blank();
        let compiled = CompiledCircuit::compile(&circuit).unwrap();
        if digest {
            compiled.digest();
        }
        let bytes = written(&compiled);
        let back = read(&bytes, &circuit.id()).unwrap();
        prop_assert_eq!(back.known_digest(), compiled.known_digest());
        prop_assert_eq!(back.stats(), compiled.stats());
        prop_assert_eq!(back.digest(), compiled.digest());
        prop_assert_eq!(back.b_aux_density(), compiled.b_aux_density());
        if digest {
            prop_assert_eq!(written(&back), bytes);
        }
    }
}

#[test]
fn every_flipped_byte_is_noticed() {
    let (circuit, bytes) = small();
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut bad = bytes.clone();
            bad[at] ^= flip;
            let error = read(&bad, &circuit.id()).expect_err("damage");
            match at {
                0..8 => assert!(matches!(error, FileError::Foreign)),
                8..12 => assert!(matches!(error, FileError::Version { .. })),
                _ => assert!(
                    matches!(
                        error,
                        FileError::Checksum { .. } | FileError::Content { .. } | FileError::Truncated { .. }
                    ),
                    "{at}: {error}"
                ),
            }
        }
    }
}

#[test]
fn every_truncation_is_noticed() {
    let (circuit, bytes) = small();
    for len in 0..bytes.len() {
        let error = read(&bytes[..len], &circuit.id()).expect_err("truncated");
        assert!(matches!(error, FileError::Truncated { got, .. } if got == len as u64), "{len}: {error}");
        // The same, when the file shrinks after its length was taken.
        let error = CompiledCircuit::read_from(&bytes[..len], bytes.len() as u64, &circuit.id());
        assert!(matches!(error, Err(FileError::Truncated { .. })), "{len}");
    }
    let longer = [bytes.as_slice(), &[0]].concat();
    assert!(matches!(read(&longer, &circuit.id()), Err(FileError::Trailing { .. })));
}

#[test]
fn others_and_earlier_forms_are_told_apart() {
    let (circuit, bytes) = small();
    let other = CircuitId::new("other", *circuit.id().digest());
    assert!(matches!(read(&bytes, &other), Err(FileError::OtherCircuit { .. })));
    let changed = CircuitId::new("synthetic", [9; 32]);
    assert!(matches!(read(&bytes, &changed), Err(FileError::Stale { .. })));
    assert!(matches!(read(b"", &changed), Err(FileError::Truncated { section: "magic", .. })));
    assert!(matches!(read(b"something else entirely", &changed), Err(FileError::Foreign)));
}

/// A file with good checksums and these header numbers or body bytes changed.
fn forged(bytes: &[u8], change: impl FnOnce(&mut [u8], usize)) -> Vec<u8> {
    let name = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let sizes = 16 + name + 32 + 1 + 32;
    let header = sizes + 15 * 8;
    let mut bytes = bytes.to_vec();
    change(&mut bytes, sizes);
    let seal = |bytes: &[u8]| *blake3::hash(bytes).as_bytes();
    let checksum = seal(&bytes[..header]);
    bytes[header..header + 32].copy_from_slice(&checksum);
    let end = bytes.len() - 32;
    let checksum = seal(&bytes[header + 32..end]);
    bytes[end..].copy_from_slice(&checksum);
    bytes
}

#[test]
fn sizes_that_lie_allocate_nothing() {
    let (circuit, bytes) = small();
    assert!(read(&forged(&bytes, |_, _| ()), &circuit.id()).is_ok());
    for which in 0..15 {
        for value in [0u64, 1 << 20, 1 << 32, u64::MAX / 5, u64::MAX] {
            let bad = forged(&bytes, |bytes, sizes| {
                bytes[sizes + 8 * which..][..8].copy_from_slice(&value.to_le_bytes());
            });
            // Some sizes are zero in truth.
            assert!(bad == bytes || read(&bad, &circuit.id()).is_err(), "size {which} = {value}");
        }
    }
}

#[test]
fn contents_that_lie_are_typed_errors() {
    let (circuit, bytes) = small();
    let header = bytes.len() - 32;
    let mut refused = 0;
    for at in 0..header {
        for value in [0, 0xff] {
            let bad = forged(&bytes, |bytes, sizes| {
                if at >= sizes + 15 * 8 + 32 {
                    bytes[at] = value;
                }
            });
            // A forged number may still make some circuit; then all of it must be usable.
            match read(&bad, &circuit.id()) {
                Ok(read) => {
                    assert_eq!(read.stats().constraints, read.num_constraints(), "{:?}", read.digest())
                }
                Err(FileError::Content { .. }) => refused += 1,
                Err(error) => panic!("{at}: {error}"),
            }
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn rebuilt_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("synthetic.r1cs");
    let circuit = Synthetic::new(2, 3).blank();
    let (first, source) = CompiledCircuit::load_or_compile(&path, &circuit).unwrap();
    assert!(matches!(source, Source::Compiled { reason: None, not_written: None }));
    let (second, source) = CompiledCircuit::load_or_compile(&path, &circuit).unwrap();
    assert!(matches!(source, Source::File));
    assert_eq!(first.digest(), second.digest());

    let changed = Synthetic { seed: 3, ..circuit.clone() };
    let (_, source) = CompiledCircuit::load_or_compile(&path, &changed).unwrap();
    assert!(matches!(source, Source::Compiled { reason: Some(FileError::Stale { .. }), not_written: None }));

    let mut bytes = std::fs::read(&path).unwrap();
    bytes.pop();
    std::fs::write(&path, &bytes).unwrap();
    let (_, source) = CompiledCircuit::load_or_compile(&path, &changed).unwrap();
    assert!(matches!(source, Source::Compiled { reason: Some(FileError::Truncated { .. }), .. }));

    let nowhere = folder.path().join("missing/folder/file");
    let (_, source) = CompiledCircuit::load_or_compile(&nowhere, &circuit).unwrap();
    assert!(matches!(source, Source::Compiled { reason: None, not_written: Some(FileError::Io { .. }) }));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "a file was left behind");
}
