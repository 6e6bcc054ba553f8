//! Proofs, public inputs and batches that must not be accepted.

mod common;

use std::sync::Arc;

use blstrs::{G1Affine, G2Affine, Scalar};
use common::{Cubic, Mimc, compile, parameters, rng, witness};
use ff::Field;
use groth16::{
    Backend, BatchError, PointError, PreparedVerifyingKey, Proof, ProofError, ProofPoint, Prover,
    PublicInputError, VerificationError, public_inputs_from_bytes,
};
use proptest::prelude::*;

/// A circuit with three public inputs: the roots of a polynomial in order.
#[derive(Clone)]
struct Products(u64);

impl bellpepper_core::Circuit<Scalar> for Products {
    fn synthesize<CS: bellpepper_core::ConstraintSystem<Scalar>>(
        self,
        cs: &mut CS,
    ) -> Result<(), bellpepper_core::SynthesisError> {
        let mut value = Scalar::from(self.0);
        let mut x = cs.alloc(|| "", || Ok(value))?;
        for _ in 0..3 {
            value = value.square();
            let y = cs.alloc_input(|| "", || Ok(value))?;
            cs.enforce(|| "", |lc| lc + x, |lc| lc + x, |lc| lc + y);
            x = y;
        }
        Ok(())
    }
}

fn proofs(count: u64) -> (PreparedVerifyingKey, Vec<(Proof, Vec<Scalar>)>) {
    let circuit = Arc::new(compile(Products(2)));
    let parameters = Arc::new(parameters(&circuit));
    let prover = Prover::new(circuit, parameters, Backend::Cpu).unwrap();
    let proofs = (0..count)
        .map(|i| {
            let proved = prover.prove(&witness(Products(i + 2)), &mut rng(i)).unwrap();
            (proved.proof, proved.public_inputs)
        })
        .collect();
    (prover.verifying_key().clone(), proofs)
}

fn accepted(key: &PreparedVerifyingKey, bytes: &[u8], inputs: &[Scalar]) -> bool {
    Proof::from_bytes(bytes).is_ok_and(|proof| key.verify(&proof, inputs).is_ok())
}

#[test]
fn every_single_bit_counts() {
    let (key, proofs) = proofs(1);
    let (proof, inputs) = &proofs[0];
    let bytes = proof.to_bytes();
    assert!(accepted(&key, &bytes, inputs));
    assert_eq!(Proof::from_bytes(&bytes).unwrap(), *proof);
    for bit in 0..8 * Proof::BYTES {
        let mut flipped = bytes;
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(!accepted(&key, &flipped, inputs), "bit {bit}");
    }
}

#[test]
fn lengths_and_points_are_typed_errors() {
    let (key, proofs) = proofs(1);
    let (proof, inputs) = &proofs[0];
    let bytes = proof.to_bytes();
    for len in [0, 1, 191] {
        assert_eq!(Proof::from_bytes(&bytes[..len]), Err(ProofError::Length { got: len }));
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(Proof::from_bytes(&longer), Err(ProofError::Length { got: 193 }));

    for (point, at, len) in [(ProofPoint::A, 0, 48), (ProofPoint::B, 48, 96), (ProofPoint::C, 144, 48)] {
        let with = |change: &dyn Fn(&mut [u8])| {
            let mut bad = bytes;
            change(&mut bad[at..at + len]);
            Proof::from_bytes(&bad)
        };
        let error = |source| Err(ProofError::Point { point, source });
        assert_eq!(with(&|p| p[0] &= 0x7f), error(PointError::Flags { flags: bytes[at] & 0x60 }));
        assert_eq!(
            with(&|p| p[0] |= 0x40),
            error(PointError::Flags { flags: (bytes[at] | 0x40) & 0xe0 }),
            "infinity with other bits set"
        );
        let infinity = |p: &mut [u8]| {
            p.fill(0);
            p[0] = 0xc0;
        };
        assert_eq!(with(&infinity), error(PointError::Infinity));
        let and_sign = |p: &mut [u8]| {
            infinity(p);
            p[0] |= 0x20;
        };
        assert_eq!(with(&and_sign), error(PointError::Flags { flags: 0xe0 }));
        let and_bits = |p: &mut [u8]| {
            infinity(p);
            p[len - 1] = 1;
        };
        assert_eq!(with(&and_bits), error(PointError::Flags { flags: 0xc0 }));
        let too_large = |p: &mut [u8]| {
            p.fill(0xff);
            p[0] = 0x9f;
        };
        assert_eq!(with(&too_large), error(PointError::NotCanonical));
        // Small x coordinates: some are on the curve, and those are outside the subgroup.
        let mut seen = [false; 2];
        for x in 1..=255u8 {
            let small = |p: &mut [u8]| {
                p.fill(0);
                (p[0], p[len - 1]) = (0x80, x);
            };
            match with(&small) {
                Err(ProofError::Point { source: PointError::NotOnCurve, .. }) => seen[0] = true,
                Err(ProofError::Point { source: PointError::NotInSubgroup, .. }) => seen[1] = true,
                other => panic!("{point} with x = {x}: {other:?}"),
            }
        }
        assert_eq!(seen, [true; 2]);
    }
    // (0, ±2) has order three.
    let mut bad = bytes;
    bad[..48].fill(0);
    bad[0] = 0x80;
    let error = ProofError::Point { point: ProofPoint::A, source: PointError::NotInSubgroup };
    assert_eq!(Proof::from_bytes(&bad), Err(error));

    let mut swapped = bytes;
    swapped[..48].copy_from_slice(&bytes[144..]);
    swapped[144..].copy_from_slice(&bytes[..48]);
    let swapped = Proof::from_bytes(&swapped).unwrap();
    assert_eq!(key.verify(&swapped, inputs), Err(VerificationError::InvalidProof));
}

#[test]
fn another_circuits_proof_is_invalid() {
    let (key, _) = proofs(1);
    let circuit = Arc::new(compile(Cubic(3)));
    let prover = Prover::new(circuit.clone(), Arc::new(parameters(&circuit)), Backend::Cpu).unwrap();
    let cubic = prover.prove(&witness(Cubic(3)), &mut rng(1)).unwrap();
    let inputs = vec![cubic.public_inputs[0]; 3];
    assert_eq!(key.verify(&cubic.proof, &inputs), Err(VerificationError::InvalidProof));
    let mimc = Mimc { preimage: Scalar::ONE, rounds: 3 };
    let circuit = Arc::new(compile(mimc.clone()));
    let other = Prover::new(circuit.clone(), Arc::new(parameters(&circuit)), Backend::Cpu).unwrap();
    let error = other.verifying_key().verify(&cubic.proof, &cubic.public_inputs);
    assert_eq!(error, Err(VerificationError::InvalidProof));
}

#[test]
fn public_inputs_are_counted_ordered_and_canonical() {
    let (key, proofs) = proofs(1);
    let (proof, inputs) = &proofs[0];
    for len in [0, 2, 4] {
        let mut other = inputs.clone();
        other.resize(len, Scalar::ONE);
        let expected = VerificationError::PublicInputs { expected: 3, got: len };
        assert_eq!(key.verify(proof, &other), Err(expected));
    }
    let permuted = [inputs[1], inputs[0], inputs[2]];
    assert_eq!(key.verify(proof, &permuted), Err(VerificationError::InvalidProof));

    let mut bytes: Vec<[u8; 32]> = inputs.iter().map(Scalar::to_bytes_le).collect();
    assert_eq!(public_inputs_from_bytes(&bytes).unwrap(), *inputs);
    // r itself, and the largest number.
    let mut modulus = (-Scalar::ONE).to_bytes_le();
    modulus[0] += 1;
    for bad in [modulus, [0xff; 32]] {
        bytes[2] = bad;
        assert_eq!(public_inputs_from_bytes(&bytes), Err(PublicInputError { index: 2 }));
    }
}

#[test]
fn batches_name_their_bad_proof() {
    let (key, proofs) = proofs(7);
    key.verify_batch(&proofs, &mut rng(1)).unwrap();
    key.verify_batch(&proofs[..1], &mut rng(1)).unwrap();
    assert_eq!(key.verify_batch(&[], &mut rng(1)), Err(BatchError::Empty));
    let invalid = |index| Err(BatchError::Proof { index, source: VerificationError::InvalidProof });
    for index in 0..proofs.len() {
        let mut bad = proofs.clone();
        bad[index].1[0] += Scalar::ONE;
        assert_eq!(key.verify_batch(&bad, &mut rng(1)), invalid(index));
        let mut bad = proofs.clone();
        bad[index].0 = proofs[(index + 1) % proofs.len()].0;
        assert_eq!(key.verify_batch(&bad, &mut rng(1)), invalid(index));
    }
    // Two errors that cancel in a plain sum.
    let mut bad = proofs.clone();
    bad[2].1[1] += Scalar::ONE;
    bad[5].1[1] -= Scalar::ONE;
    assert_eq!(key.verify_batch(&bad, &mut rng(1)), invalid(2));
    // Proofs exchanged.
    let mut bad = proofs.clone();
    (bad[3].0, bad[4].0) = (proofs[4].0, proofs[3].0);
    assert_eq!(key.verify_batch(&bad, &mut rng(1)), invalid(3));

    let mut mixed = proofs.clone();
    mixed[4].1.pop();
    let source = VerificationError::PublicInputs { expected: 3, got: 2 };
    assert_eq!(key.verify_batch(&mixed, &mut rng(1)), Err(BatchError::Proof { index: 4, source }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Any other points of the subgroups in place of a proof's are refused.
    #[test]
    fn random_points_are_no_proof(seed: u64, which in 0usize..3) {
        use group::Group;
        let (key, proofs) = proofs(1);
        let (proof, inputs) = &proofs[0];
        let mut bytes = proof.to_bytes();
        let in_g1 = G1Affine::from(blstrs::G1Projective::random(&mut rng(seed))).to_compressed();
        match which {
            0 => bytes[..48].copy_from_slice(&in_g1),
            1 => {
                let point = G2Affine::from(blstrs::G2Projective::random(&mut rng(seed)));
                bytes[48..144].copy_from_slice(&point.to_compressed());
            }
            _ => bytes[144..].copy_from_slice(&in_g1),
        }
        let proof = Proof::from_bytes(&bytes).unwrap();
        prop_assert_eq!(key.verify(&proof, inputs), Err(VerificationError::InvalidProof));
    }
}
