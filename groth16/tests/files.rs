//! Parameter and key files: round trips, and every fault that a file can have.

mod common;

use std::fs;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;

use blstrs::{G1Affine, G2Affine, Scalar};
use common::{Mimc, Random, compile, outside_subgroup, parameters, rng};
use ff::Field;
use groth16::{
    KeyError, ParameterError, Parameters, PointError, PreparedVerifyingKey, Proof, ReadOptions, Section,
    Shape, VerifyingKey, public_inputs_from_bytes,
};

use group::prime::PrimeCurveAffine;
use proptest::prelude::*;

/// A small circuit's parameters: distinct lengths of all sections.
fn small() -> Parameters {
    parameters(&compile(Mimc { preimage: Scalar::from(5), rounds: 10 }))
}

fn bytes(parameters: &Parameters) -> Vec<u8> {
    let mut out = Vec::new();
    parameters.write(&mut out).unwrap();
    assert_eq!(out.len() as u64, parameters.file_size());
    out
}

fn read(bytes: &[u8]) -> Result<Parameters, ParameterError> {
    Parameters::read(bytes, bytes.len() as u64, ReadOptions::default())
}

/// A section's offset of its length, and the size of its elements.
fn sections(parameters: &Parameters) -> Vec<(Section, usize, usize, usize)> {
    let mut offset = 864;
    let mut out = vec![];
    for (section, len, size) in [
        (Section::Ic, parameters.vk.ic.len(), 96),
        (Section::H, parameters.h.len(), 96),
        (Section::L, parameters.l.len(), 96),
        (Section::A, parameters.a.len(), 96),
        (Section::BG1, parameters.b_g1.len(), 96),
        (Section::BG2, parameters.b_g2.len(), 192),
    ] {
        out.push((section, offset, len, size));
        offset += 4 + len * size;
    }
    out
}

type Change<'a> = &'a dyn Fn(&mut [u8]);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn reading_and_writing_changes_nothing(structure: u64, constraints in 1usize..30) {
        let circuit = compile(Random::new(structure, constraints));
        let parameters = parameters(&circuit);
        let written = bytes(&parameters);
        let shape = Shape::from(&circuit);
        let options = ReadOptions { shape: Some(&shape), ..Default::default() };
        let read = Parameters::read(&*written, written.len() as u64, options).unwrap();
        prop_assert_eq!(&read, &parameters);
        prop_assert_eq!(bytes(&read), written);
        let mut key = Vec::new();
        parameters.vk.write(&mut key).unwrap();
        prop_assert_eq!(VerifyingKey::from_bytes(&key).unwrap(), parameters.vk);
    }

    /// No byte string makes the reader panic or allocate without bound.
    #[test]
    fn damage_is_an_error_or_another_valid_file(at: prop::sample::Index, bit in 0u8..8) {
        let mut damaged = bytes(&small());
        let at = at.index(damaged.len());
        damaged[at] ^= 1 << bit;
        prop_assert!(read(&damaged).is_err());
    }

    #[test]
    fn noise_is_refused(noise in prop::collection::vec(any::<u8>(), 0..3000)) {
        prop_assert!(read(&noise).is_err());
        prop_assert!(VerifyingKey::from_bytes(&noise).is_err());
        prop_assert!(Proof::from_bytes(&noise).is_err());
    }
}

#[test]
fn cuts_are_named() {
    let parameters = small();
    let whole = bytes(&parameters);
    let mut cuts = vec![];
    for (section, offset, len, size) in sections(&parameters) {
        let end = offset + 4 + len * size;
        cuts.extend([(section, offset), (section, offset + 1), (section, offset + 3)]);
        cuts.extend([(section, offset + 4), (section, offset + 4 + size / 2), (section, end - 1)]);
    }
    for (section, at) in cuts {
        match read(&whole[..at]) {
            Err(
                ParameterError::Truncated { section: got, .. }
                | ParameterError::SectionLength { section: got, .. },
            ) => {
                assert_eq!(got, section, "cut at {at}");
            }
            other => panic!("cut at {at}: {other:?}"),
        }
    }
    // Within the single points of the key.
    for (at, section) in [
        (0, Section::AlphaG1),
        (95, Section::AlphaG1),
        (96, Section::BetaG1),
        (193, Section::BetaG2),
        (500, Section::GammaG2),
        (600, Section::DeltaG1),
        (863, Section::DeltaG2),
    ] {
        assert!(
            matches!(read(&whole[..at]), Err(ParameterError::Truncated { section: got, .. }) if got == section),
            "cut at {at}"
        );
    }
}

#[test]
fn lengths_that_lie_allocate_nothing() {
    let parameters = small();
    for (section, offset, ..) in sections(&parameters) {
        let mut lie = bytes(&parameters);
        lie[offset..offset + 4].copy_from_slice(&u32::MAX.to_be_bytes());
        match read(&lie) {
            Err(ParameterError::SectionLength { section: got, count: u32::MAX, .. }) => {
                assert_eq!(got, section)
            }
            other => panic!("{section}: {other:?}"),
        }
    }
}

#[test]
fn bad_points_are_named_wherever_they_stand() {
    let parameters = small();
    let off_curve = {
        let mut bytes = G1Affine::generator().to_uncompressed();
        bytes[95] ^= 1;
        bytes
    };
    for (section, offset, len, size) in sections(&parameters) {
        for index in [0, len / 2, len - 1] {
            let at = offset + 4 + index * size;
            let cases: [(Change<'_>, PointError); 5] = [
                (&|point| point[0] |= 0x20, PointError::Flags { flags: 0x20 }),
                (&|point| point[0] |= 0x80, PointError::Flags { flags: 0x80 }),
                (&|point| point[..48].fill(0x1f), PointError::NotCanonical),
                (
                    &|point| {
                        point.fill(0);
                        point[0] = 0x40;
                    },
                    PointError::Infinity,
                ),
                (
                    &|point| {
                        if point.len() == 96 { point.copy_from_slice(&off_curve) } else { point[191] ^= 1 }
                    },
                    PointError::NotOnCurve,
                ),
            ];
            for (change, expected) in cases {
                let mut bad = bytes(&parameters);
                change(&mut bad[at..at + size]);
                match read(&bad) {
                    Err(ParameterError::Point { section: s, index: i, source }) => {
                        assert_eq!((s, i, source), (section, index, expected));
                    }
                    other => panic!("{section} {index} {expected}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn subgroup_membership_is_checked_for_keys_always_and_parameters_on_demand() {
    let good = small();
    let mut bad = good.clone();
    bad.l[3] = outside_subgroup();
    let read_back = read(&bytes(&bad)).unwrap();
    match read_back.check_subgroups(&mut rng(1)) {
        Err(ParameterError::Point { section: Section::L, index: 3, source: PointError::NotInSubgroup }) => {}
        other => panic!("{other:?}"),
    }
    good.check_subgroups(&mut rng(1)).unwrap();
    let mut bad = good.vk.clone();
    bad.ic[1] = outside_subgroup();
    let expected = KeyError::Point { section: Section::Ic, index: 1, source: PointError::NotInSubgroup };
    assert_eq!(bad.check(), Err(expected.clone()));
    let mut file = Vec::new();
    bad.write(&mut file).unwrap();
    assert!(matches!(VerifyingKey::from_bytes(&file), Err(ParameterError::Key(error)) if error == expected));
    let mut bad = good.vk.clone();
    bad.alpha_g1 = outside_subgroup();
    assert!(matches!(bad.check(), Err(KeyError::Point { section: Section::AlphaG1, .. })));
}

#[test]
fn keys_without_meaning_are_refused() {
    let good = small().vk;
    good.check().unwrap();
    let check = |change: &dyn Fn(&mut VerifyingKey)| {
        let mut key = good.clone();
        change(&mut key);
        let error = key.check().unwrap_err();
        assert!(PreparedVerifyingKey::new(&key).is_err());
        let mut file = Vec::new();
        key.write(&mut file).unwrap();
        assert!(VerifyingKey::from_bytes(&file).is_err());
        error
    };
    assert_eq!(check(&|key| key.gamma_g2 = key.delta_g2), KeyError::GammaIsDelta);
    assert_eq!(check(&|key| key.delta_g2 = G2Affine::generator()), KeyError::Generator(Section::DeltaG2));
    assert_eq!(check(&|key| key.delta_g1 = G1Affine::generator()), KeyError::Generator(Section::DeltaG1));
    let mismatch = KeyError::Mismatch(Section::BetaG1, Section::BetaG2);
    assert_eq!(check(&|key| key.beta_g1 = key.alpha_g1), mismatch);
    assert_eq!(check(&|key| key.beta_g2 = key.delta_g2), mismatch);
    assert_eq!(
        check(&|key| key.delta_g1 = key.beta_g1),
        KeyError::Mismatch(Section::DeltaG1, Section::DeltaG2)
    );
    assert_eq!(check(&|key| key.ic.clear()), KeyError::NoInputs);
    let infinity = |section| KeyError::Point { section, index: 0, source: PointError::Infinity };
    assert_eq!(check(&|key| key.alpha_g1 = G1Affine::identity()), infinity(Section::AlphaG1));
    assert_eq!(check(&|key| key.beta_g1 = G1Affine::identity()), infinity(Section::BetaG1));
    assert_eq!(check(&|key| key.beta_g2 = G2Affine::identity()), infinity(Section::BetaG2));
    assert_eq!(check(&|key| key.gamma_g2 = G2Affine::identity()), infinity(Section::GammaG2));
    assert_eq!(check(&|key| key.delta_g1 = G1Affine::identity()), infinity(Section::DeltaG1));
    assert_eq!(check(&|key| key.delta_g2 = G2Affine::identity()), infinity(Section::DeltaG2));
    assert_eq!(check(&|key| key.ic[0] = G1Affine::identity()), infinity(Section::Ic));
    // Ceremonies of Zcash's kind, Filecoin's among them, have γ = 1.
    let mut key = good.clone();
    key.gamma_g2 = G2Affine::generator();
    key.check().unwrap();
    // A key with the point for ONE alone is a circuit's without public inputs.
    let mut key = good.clone();
    key.ic.truncate(1);
    assert_eq!(PreparedVerifyingKey::new(&key).unwrap().num_public_inputs(), 0);
}

#[test]
fn keys_end_where_they_end() {
    let mut file = Vec::new();
    small().vk.write(&mut file).unwrap();
    for at in 0..file.len() {
        assert!(VerifyingKey::from_bytes(&file[..at]).is_err(), "cut at {at}");
    }
    file.push(0);
    assert!(matches!(VerifyingKey::from_bytes(&file), Err(ParameterError::TrailingBytes { count: 1 })));
    file.truncate(864 + 4);
    file[864..].copy_from_slice(&u32::MAX.to_be_bytes());
    assert!(matches!(
        VerifyingKey::from_bytes(&file),
        Err(ParameterError::SectionLength { section: Section::Ic, count: u32::MAX, .. })
    ));
    file[864..].copy_from_slice(&0u32.to_be_bytes());
    assert!(matches!(VerifyingKey::from_bytes(&file), Err(ParameterError::Key(KeyError::NoInputs))));
}

#[test]
fn digest_and_shape_are_compared() {
    let circuit = compile(Mimc { preimage: Scalar::from(5), rounds: 10 });
    let parameters = parameters(&circuit);
    let mut file = bytes(&parameters);
    file.extend([7; 1000]);
    let digest = blake2b_simd::blake2b(&file).to_hex()[..32].to_owned();
    let read = |digest: &str| {
        let options = ReadOptions { digest: Some(digest), ..Default::default() };
        Parameters::read(&*file, file.len() as u64, options)
    };
    assert_eq!(read(&digest).unwrap(), parameters, "bytes after the last section are allowed, and hashed");
    let wrong = "0".repeat(32);
    match read(&wrong) {
        Err(ParameterError::Digest { expected, got }) => assert_eq!((expected, got), (wrong, digest)),
        other => panic!("{other:?}"),
    }

    let shape = Shape::from(&compile(Mimc { preimage: Scalar::from(5), rounds: 11 }));
    let options = ReadOptions { shape: Some(&shape), ..Default::default() };
    let error = Parameters::read(&*file, file.len() as u64, options).unwrap_err();
    assert!(matches!(error, ParameterError::Shape { .. }), "{error}");

    // H and L exchanged.
    let mut exchanged = parameters.clone();
    std::mem::swap(&mut exchanged.h, &mut exchanged.l);
    let file = bytes(&exchanged);
    let shape = Shape::from(&circuit);
    let options = ReadOptions { shape: Some(&shape), ..Default::default() };
    match Parameters::read(&*file, file.len() as u64, options) {
        Err(ParameterError::Shape { section: Section::H, expected, got }) => {
            assert_eq!((expected, got), (parameters.h.len(), parameters.l.len()));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_are_written_whole_and_never_as_a_ceremonys() {
    let folder = tempfile::tempdir().unwrap();
    let parameters = small();
    let path = folder.path().join("mimc.params");
    parameters.write_file(&path).unwrap();
    assert_eq!(Parameters::read_file(&path, ReadOptions::default()).unwrap(), parameters);
    let key = folder.path().join("mimc.vk");
    parameters.vk.write_file(&key).unwrap();
    assert_eq!(VerifyingKey::read_file(&key).unwrap(), parameters.vk);
    let names = || -> Vec<String> {
        let entries = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names(), ["mimc.params", "mimc.vk"]);

    let ceremony = folder.path().join("v28-proof.params");
    assert!(matches!(parameters.write_file(&ceremony), Err(ParameterError::CeremonyPlace { .. })));
    assert_eq!(names(), ["mimc.params", "mimc.vk"]);
    fs::write(folder.path().join("v28-other.vk"), b"").unwrap();
    let other = folder.path().join("other.params");
    assert!(matches!(parameters.write_file(&other), Err(ParameterError::CeremonyPlace { .. })));
    assert!(matches!(parameters.vk.write_file(&other), Err(ParameterError::CeremonyPlace { .. })));
    assert!(!other.exists());
    let elsewhere = tempfile::tempdir().unwrap();
    let pipe = elsewhere.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let refused = [parameters.write_file(&pipe), parameters.vk.write_file(&pipe)];
    assert!(refused.iter().all(|refused| matches!(refused, Err(ParameterError::Io { .. }))));
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    let nowhere = folder.path().join("missing").join("x.params");
    assert!(matches!(parameters.write_file(nowhere), Err(ParameterError::Io { .. })));
    let missing = folder.path().join("missing.params");
    assert!(matches!(Parameters::read_file(missing, ReadOptions::default()), Err(ParameterError::Io { .. })));
}

/// A reader during whose reading the file behind it changes.
struct Changing {
    file: fs::File,
    path: std::path::PathBuf,
    reads: usize,
    change: fn(&fs::File),
}

impl Read for Changing {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.reads += 1;
        if self.reads == 5 {
            (self.change)(&fs::OpenOptions::new().write(true).open(&self.path)?);
        }
        self.file.read(buffer)
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_truncated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shrinks.params");
    small().write_file(&path).unwrap();
    let len = fs::metadata(&path).unwrap().len();
    let file = fs::File::open(&path).unwrap();
    let reader = Changing { file, path, reads: 0, change: |file| file.set_len(900).unwrap() };
    let error = Parameters::read(reader, len, ReadOptions::default()).unwrap_err();
    assert!(matches!(error, ParameterError::Truncated { .. }), "{error}");
}

/// The verifying key and proof that bellperson made, and its public inputs.
#[test]
fn bellpersons_proof_verifies() {
    let bytes = include_bytes!("data/window-2KiB.vk");
    let key = VerifyingKey::from_bytes(bytes).unwrap();
    let mut written = Vec::new();
    key.write(&mut written).unwrap();
    assert_eq!(written, bytes);
    let inputs: Vec<[u8; 32]> = include_str!("data/window-2KiB.public")
        .lines()
        .map(|line| std::array::from_fn(|i| u8::from_str_radix(&line[2 * i..2 * i + 2], 16).unwrap()))
        .collect();
    let inputs = public_inputs_from_bytes(&inputs).unwrap();
    let proof = Proof::from_bytes(include_bytes!("data/window-2KiB.proof")).unwrap();
    let key = PreparedVerifyingKey::new(&key).unwrap();
    key.verify(&proof, &inputs).unwrap();
    let mut wrong = inputs;
    wrong[3] += Scalar::ONE;
    assert!(key.verify(&proof, &wrong).is_err());
}
