//! Numbers and packing.

mod common;

use bellpepper_core::boolean::Boolean;
use blstrs::Scalar;
use common::*;
use ff::{Field, PrimeField};
use gadgets::{num, pack, uint64};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn pick_and_add(condition: bool, a in scalar(), b in scalar()) {
        let (c, native) = assert_same(
            |cs| (bit(cs, "condition", condition), common::num(cs, "a", a), common::num(cs, "b", b)),
            |cs, (condition, a, b)| num::pick(cs, &condition, &a, &b).unwrap(),
            |sink| num::pick_witness(sink, condition, a, b),
        );
        prop_assert_eq!(c.get_value(), Some(if condition { a } else { b }));
        prop_assert_eq!(c.get_value(), Some(native));

        let (sum, native) = assert_same(
            |cs| (common::num(cs, "a", a), common::num(cs, "b", b)),
            |cs, (a, b)| num::add(cs, &a, &b).unwrap(),
            |sink| num::add_witness(sink, a, b),
        );
        prop_assert_eq!(sum.get_value(), Some(a + b));
        prop_assert_eq!(native, a + b);
    }

    #[test]
    fn insertion(log_size in 1u32..=3, position: prop::sample::Index, element in scalar(), siblings in scalars(7)) {
        let size = 1 << log_size;
        let index = position.index(size);
        let siblings = &siblings[..size - 1];
        let (inserted, native) = assert_same(
            |cs| (common::num(cs, "element", element), bits(cs, "bit", index as u64, log_size as usize), nums(cs, "sibling", siblings)),
            |cs, (element, bits, siblings)| num::insert(cs, &element, &bits, &siblings).unwrap(),
            |sink| num::insert_witness(sink, element, index, siblings).unwrap(),
        );
        let mut expected = siblings.to_vec();
        expected.insert(index, element);
        prop_assert_eq!(&native, &expected);
        let inserted: Vec<_> = inserted.iter().map(|num| num.get_value().unwrap()).collect();
        prop_assert_eq!(inserted, expected);
    }

    #[test]
    fn selection(log_size in 0usize..=5, position: prop::sample::Index, from in scalars(32)) {
        let from = &from[..1 << log_size];
        let index = position.index(from.len());
        let (selected, native) = assert_same(
            |cs| (nums(cs, "from", from), bits(cs, "bit", index as u64, log_size)),
            |cs, (from, bits)| num::select(cs, &from, &bits).unwrap(),
            |sink| num::select_witness(sink, from, index),
        );
        prop_assert_eq!(selected.get_value(), Some(from[index]));
        prop_assert_eq!(native, Some(from[index]));
    }

    #[test]
    fn bits_of_a_number(value in scalar()) {
        let (bits, bytes) = assert_same(
            |cs| common::num(cs, "value", value),
            |cs, value| value.to_bits_le(cs).unwrap(),
            |sink| num::to_bits_le_witness(sink, &value),
        );
        prop_assert_eq!(bits.len(), 255);
        prop_assert_eq!(bytes, value.to_repr());
        assert_same(
            |cs| common::num(cs, "value", value),
            |cs, value| num::decompose(cs, &value).unwrap(),
            |sink| num::to_bits_le_witness(sink, &value),
        );
    }

    #[test]
    fn packing(value: u64, n in 0usize..=64) {
        let value = if n == 64 { value } else { value & ((1 << n) - 1) };
        let (packed, _) = assert_same(
            |cs| bits(cs, "bit", value, n),
            |cs, bits| pack::pack_bits(cs, &bits).unwrap(),
            |sink| assignment::WitnessSink::element(sink, Scalar::from(value)),
        );
        prop_assert_eq!(packed.get_value(), Some(Scalar::from(value)));
    }

    #[test]
    fn sixty_four_bits(value: u64) {
        assert_same(
            |_| (),
            |cs, ()| uint64::UInt64::alloc(&mut *cs, Some(value)).unwrap().pack_into_input(cs).unwrap(),
            |sink| {
                uint64::alloc_witness(sink, value);
                uint64::pack_into_input_witness(sink, value);
            },
        );
    }
}

/// Rows `pick` and `insert` cost, and how many variables.
#[test]
fn insertion_costs() {
    for (siblings, rows) in [(1, 2), (3, 8), (7, 22)] {
        let mut cs = Recorder::with_values();
        let element = common::num(&mut cs, "element", Scalar::ONE);
        let position = bits(&mut cs, "bit", 0, (siblings + 1usize).trailing_zeros() as usize);
        let siblings = nums(&mut cs, "sibling", &vec![Scalar::ZERO; siblings]);
        let before = cs.rows;
        num::insert(&mut cs, &element, &position, &siblings).unwrap();
        assert_eq!(cs.rows - before, rows);
    }
}

#[test]
fn insertion_refuses_other_sizes() {
    let mut cs = Recorder::with_values();
    let element = common::num(&mut cs, "element", Scalar::ONE);
    let position = bits(&mut cs, "bit", 0, 2);
    for siblings in [0, 1, 2, 4, 7, 15] {
        let siblings = nums(&mut cs, "sibling", &vec![Scalar::ZERO; siblings]);
        assert!(num::insert(&mut cs, &element, &position, &siblings).is_err());
    }
    let mut sink = RecordingSink::default();
    assert_eq!(
        num::insert_witness(&mut sink, Scalar::ONE, 0, &[Scalar::ONE; 2]),
        Err(num::UnsupportedInsertion { siblings: 2 })
    );
    assert_eq!(num::select_witness(&mut sink, &[Scalar::ONE; 3], 0), None);
    assert_eq!(num::select_witness(&mut sink, &[Scalar::ONE; 4], 4), None);
    assert!(sink.aux.is_empty());
}

/// Public inputs take 254 bits each; packing takes no more than 254.
#[test]
fn packing_splits_at_the_capacity() {
    let mut cs = Recorder::with_values();
    let ones: Vec<Boolean> = (0..509).map(|i| bit(&mut cs, &format!("bit {i}"), true)).collect();
    pack::pack_into_inputs(&mut cs, &ones).unwrap();
    let full = Scalar::from(2).pow_vartime([254]) - Scalar::ONE;
    assert_eq!(cs.inputs[1..], [full, full, Scalar::ONE]);
    let packed = pack::pack_bits(&mut cs, &ones).unwrap();
    assert_eq!(packed.get_value(), Some(full));
    assert_eq!(cs.unsatisfied, None);
    assert_eq!(pack::digest_to_scalar([0xff; 32]), full);
}

#[test]
fn bit_numbering_is_reversed_in_each_byte() {
    let mut cs = Recorder::with_values();
    let reversed = pack::reverse_bit_numbering(bits(&mut cs, "bit", 0b1_0000_0001, 9));
    let reversed: Vec<bool> = reversed.iter().map(|bit| bit.get_value().unwrap()).collect();
    let ones: Vec<usize> = (0..16).filter(|i| reversed[*i]).collect();
    assert_eq!(ones, [7, 15]);
}
