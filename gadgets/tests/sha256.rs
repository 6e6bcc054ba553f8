//! SHA-256: against another implementation, costs, and the two sides against each other under constants anywhere.

mod common;

use bellpepper_core::boolean::Boolean;
use bellpepper_core::test_cs::TestConstraintSystem;
use bellpepper_core::{ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use common::*;
use gadgets::boolean::{choose, majority};
use gadgets::sha256::{Message, pack_digest, sha256, sha256_witness};
use gadgets::uint32::UInt32;
use gadgets::{multieq::MultiEq, pack};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

/// A message's bits, most significant first in each byte: constants under the mask, variables elsewhere.
fn message_bits(cs: &mut Recorder, bytes: &[u8], constant: &[u8]) -> Vec<Boolean> {
    let mut bits = Vec::with_capacity(8 * bytes.len());
    for (byte, mask) in bytes.iter().zip(constant) {
        for i in (0..8).rev() {
            let value = (byte >> i) & 1 == 1;
            bits.push(if (mask >> i) & 1 == 1 { Boolean::Constant(value) } else { bit(cs, "bit", value) });
        }
    }
    bits
}

fn check(bytes: &[u8], constant: &[u8]) {
    let mut message = Message::new();
    message.push_mixed(bytes, constant);
    let (classic, native) = assert_same(
        |cs| message_bits(cs, bytes, constant),
        |cs, bits| sha256(cs, &bits).unwrap(),
        |sink| sha256_witness(sink, &message),
    );
    let expected: [u8; 32] = Sha256::digest(bytes).into();
    assert_eq!(native, expected);
    let classic: Vec<bool> = classic.iter().map(|bit| bit.get_value().unwrap()).collect();
    let expected: Vec<bool> =
        expected.iter().flat_map(|byte| (0..8).rev().map(move |i| (byte >> i) & 1 == 1)).collect();
    assert_eq!(classic, expected);
}

/// Every length around the padding's steps, all variables.
#[test]
fn lengths() {
    for length in [0, 1, 3, 4, 31, 55, 56, 57, 63, 64, 65, 119, 120, 128] {
        let bytes: Vec<u8> = (0..length).map(|i| (i * 37 + 11) as u8).collect();
        check(&bytes, &vec![0; length]);
    }
}

/// Whole words and bytes of constants, in each position of a block, and everywhere.
#[test]
fn constant_words() {
    let bytes: Vec<u8> = (0..64).map(|i| (i * 89 + 3) as u8).collect();
    for word in 0..16 {
        let mut constant = [0; 64];
        constant[4 * word..4 * word + 4].fill(0xff);
        check(&bytes, &constant);
        check(&bytes, &constant.map(|mask| !mask));
    }
    for prefix in [1, 4, 5, 8, 16, 20, 32, 60, 64] {
        let mut constant = [0; 64];
        constant[..prefix].fill(0xff);
        check(&bytes, &constant);
    }
}

/// As Filecoin hashes: a zero bit above each field element, a constant layer, constant zeros.
#[test]
fn field_elements() {
    let element = |i: u8| {
        let mut bytes = [i.wrapping_mul(17).wrapping_add(5); 32];
        bytes[31] &= 0x3f;
        bytes
    };
    let mut message = Message::with_capacity(96 + 3);
    message.push_scalar(&element(1));
    message.push_constant(&7u32.to_be_bytes());
    message.push_variable(&1234567u64.to_be_bytes());
    message.push_constant(&[0; 20]);
    message.push_scalar(&element(2));
    let bytes = message.bytes().to_vec();
    let mut constant = vec![0; bytes.len()];
    constant[31] = 0x80;
    constant[32..36].fill(0xff);
    constant[44..64].fill(0xff);
    constant[95] = 0x80;
    let mut mixed = Message::new();
    mixed.push_mixed(&bytes, &constant);
    assert_eq!(mixed, message);
    check(&bytes, &constant);
    message.clear();
    assert_eq!(message, Message::new());
}

proptest! {
    #![proptest_config(cases(12))]

    /// Sparse, dense and arbitrary masks over up to two blocks.
    #[test]
    fn native_is_classic(
        bytes in prop::collection::vec(any::<u8>(), 0..100),
        masks in prop::collection::vec(any::<u8>(), 100),
        more in prop::collection::vec(any::<u8>(), 100),
        density in 0..5,
    ) {
        let constant: Vec<u8> = masks.iter().zip(&more).take(bytes.len()).map(|(a, b)| match density {
            0 => a & b,
            1 => a | b,
            2 => if *a < 128 { 0 } else { 0xff },
            3 => a & b & a.rotate_left(3),
            _ => *a,
        }).collect();
        check(&bytes, &constant);
    }
}

#[test]
fn partial_bytes_are_refused() {
    let mut cs = Recorder::with_values();
    let error = sha256(&mut cs, &[Boolean::Constant(true)]).unwrap_err();
    assert!(matches!(error, SynthesisError::IncompatibleLengthVector(_)), "{error}");
}

/// Every combination of constants, variables and negations, through the truth tables.
#[test]
fn choice_and_majority() {
    let operands = |cs: &mut Recorder, name: &str| {
        [false, true]
            .into_iter()
            .flat_map(|value| {
                let is = bit(cs, name, value);
                let not = bit(cs, name, !value).not();
                [(value, Boolean::Constant(value)), (value, is), (value, not)]
            })
            .collect::<Vec<_>>()
    };
    let mut cs = Recorder::with_values();
    let [all_a, all_b, all_c] = ["a", "b", "c"].map(|name| operands(&mut cs, name));
    for (a, bit_a) in &all_a {
        for (b, bit_b) in &all_b {
            for (c, bit_c) in &all_c {
                let chosen = choose(&mut cs, bit_a, bit_b, bit_c).unwrap();
                assert_eq!(chosen.get_value(), Some(if *a { *b } else { *c }));
                let major = majority(&mut cs, bit_a, bit_b, bit_c).unwrap();
                assert_eq!(major.get_value(), Some((*a as u8 + *b as u8 + *c as u8) >= 2));
            }
        }
    }
    assert_eq!(cs.unsatisfied, None);
}

proptest! {
    #![proptest_config(cases(64))]

    /// Word operations on allocated words, and a sum's carries.
    #[test]
    fn words(values: [u32; 3], constant: u32, by in 0usize..32) {
        let mut cs = Recorder::with_values();
        {
            let mut cs = MultiEq::new(&mut cs);
            let [a, b, c] = values.map(|value| UInt32::alloc(&mut cs, Some(value)).unwrap());
            let k = UInt32::constant(constant);
            let [va, vb, vc] = values;
            prop_assert_eq!(a.rotr(by).get_value(), Some(va.rotate_right(by as u32)));
            prop_assert_eq!(a.shr(by).get_value(), Some(va >> by));
            prop_assert_eq!(a.xor(&mut cs, &k).unwrap().get_value(), Some(va ^ constant));
            prop_assert_eq!(UInt32::ch(&mut cs, &a, &b, &c).unwrap().get_value(), Some((va & vb) ^ (!va & vc)));
            let sum = UInt32::addmany(cs.namespace(|| "sum"), &[&a, &b, &c, &k]).unwrap();
            let expected = va.wrapping_add(vb).wrapping_add(vc).wrapping_add(constant);
            prop_assert_eq!(sum.get_value(), Some(expected));
            let big_endian: Vec<Boolean> = sum.to_bits_be().collect();
            let again = UInt32::from_bits_be(&big_endian.try_into().unwrap());
            prop_assert_eq!(again.get_value(), Some(expected));
            let constant_sum = UInt32::addmany(cs.namespace(|| "constants"), &[&k, &k]).unwrap();
            prop_assert!(constant_sum.bits().iter().all(Boolean::is_constant));
            prop_assert!(UInt32::addmany(cs.namespace(|| "one"), &[&k]).is_err());
            prop_assert!(UInt32::addmany(cs.namespace(|| "many"), &[&k; 11]).is_err());
        }
        prop_assert_eq!(cs.unsatisfied, None);
    }
}

/// The counts published for one block by bellman, and for a PoRep label by the reference.
#[test]
fn costs() {
    let mut cs = Recorder::with_values();
    let bits = message_bits(&mut cs, &[0x5a; 64], &[0; 64]);
    let block: &[Boolean; 512] = bits.as_slice().try_into().unwrap();
    let state = [0u32; 8].map(UInt32::constant);
    let before = cs.rows;
    gadgets::sha256::compress(&mut cs, block, &state).unwrap();
    assert_eq!(cs.rows - before, 25_840, "one block from a constant state");

    let mut cs = TestConstraintSystem::<Scalar>::new();
    let mut bytes = |name: &str| {
        (0..256).map(|i| bit(&mut cs, &format!("{name} bit {i}"), i % 3 == 0)).collect::<Vec<_>>()
    };
    let parents: Vec<Vec<Boolean>> = (0..37).map(|i| bytes(&format!("parent {i}"))).collect();
    let mut message = bytes("id");
    let constant = |byte: u8| (0..8).rev().map(move |i| Boolean::Constant((byte >> i) & 1 == 1));
    message.extend(3u32.to_be_bytes().into_iter().flat_map(constant));
    message.extend(22u64.to_be_bytes().into_iter().flat_map(constant));
    message.resize(512, Boolean::Constant(false));
    message.extend(parents.into_iter().flatten());
    let digest = sha256(cs.namespace(|| "hash"), &message).unwrap();
    let label = pack_digest(cs.namespace(|| "result_num"), digest).unwrap();
    assert!(cs.is_satisfied(), "{:?}", cs.which_is_unsatisfied());
    assert_eq!(cs.num_constraints(), 532_025);

    let mut bytes = Vec::new();
    for byte in message.chunks(8) {
        bytes.push(byte.iter().fold(0, |byte, bit| (byte << 1) | bit.get_value().unwrap() as u8));
    }
    let expected = pack::digest_to_scalar(Sha256::digest(&bytes).into());
    assert_eq!(label.get_value(), Some(expected));
}
