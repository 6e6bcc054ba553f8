//! Poseidon: known answers, costs, and the two sides against each other.

mod common;

use bellpepper_core::ConstraintSystem;
use bellpepper_core::test_cs::TestConstraintSystem;
use blstrs::Scalar;
use common::*;
use ff::{Field, PrimeField};
use gadgets::poseidon::{Constants, WrongPreimage, hash, hash_value, hash_witness, hash_witness_each};
use proptest::prelude::*;

fn instances() -> [&'static Constants; 5] {
    [
        Constants::arity_2(),
        Constants::arity_4(),
        Constants::arity_8(),
        Constants::arity_11(),
        Constants::update(),
    ]
}

/// Domain tag, partial rounds, and the hashes of zeros and of 1, 2, …, as little-endian hexadecimal; made by Filecoin's
/// reference implementation.
const KNOWN: [(u64, usize, &str, &str); 5] = [
    (
        3,
        55,
        "d413460e7f14e58b413d1defe188d36fb761afe5c6a733db6c6f1931130bfe48",
        "bea95f3e83d91793d896586e724ec069769d6a43afcbab7b4d1f7f6506816f6d",
    ),
    (
        15,
        56,
        "bc11972b952e47641b62832393589af9eed366b878b8130f5f7e1ed875c4ce65",
        "c5d928f4bc376414f3a25c0933caefcdb7ac69f7d9351f96ea7d60e22412183d",
    ),
    (
        255,
        57,
        "3a9bffca31b48234d189b30de60b7c33f529c08b0836a004f98938b614e6793f",
        "7ec0e1c106a134b810eee278ecefca3ee8c429116af3d14376e0c48f2ed4ed04",
    ),
    (
        2047,
        57,
        "94fe4fc1d1b7c885c9538810707ed5691b68a11db65e2118cf928634ea2d1f44",
        "bd8022e95811611cf4df43adad526f4ccabcda49af1e79861696800ecd7e8104",
    ),
    (
        1 << 40,
        55,
        "b3f18da3b9c14f6cc04be465c31c812e95510e8eb8b13f75263ca08d5c127823",
        "3c2fe9b59c5f0de453bbb6db5c84af5448c7d4c1fbf41830ab05dbaf9b872c70",
    ),
];

#[test]
fn known_answers() {
    for (constants, (tag, partial_rounds, zeros, counting)) in instances().into_iter().zip(KNOWN) {
        assert_eq!(constants.domain_tag(), Scalar::from(tag));
        assert_eq!((constants.full_rounds(), constants.partial_rounds()), (8, partial_rounds));
        let hashed = |preimage: Vec<Scalar>| hex::encode(hash_value(&preimage, constants).unwrap().to_repr());
        assert_eq!(hashed(vec![Scalar::ZERO; constants.arity()]), zeros);
        assert_eq!(hashed((1..=constants.arity() as u64).map(Scalar::from).collect()), counting);
    }
    for arity in [2, 4, 8, 11] {
        assert_eq!(Constants::merkle(arity).unwrap().arity(), arity);
    }
    assert!(Constants::merkle(3).is_none());
}

/// The counts that the reference asserts for arity 2 and 11 (and neptune for 4 and 8).
#[test]
fn costs() {
    for (constants, rows) in instances().into_iter().zip([311, 377, 505, 598, 311]) {
        let mut cs = TestConstraintSystem::<Scalar>::new();
        let preimage: Vec<Scalar> = (1..=constants.arity() as u64).map(Scalar::from).collect();
        let preimage_nums = nums(&mut cs, "input", &preimage);
        let hashed = hash(cs.namespace(|| "hash"), &preimage_nums, constants).unwrap();
        assert_eq!(hashed.get_value(), Some(hash_value(&preimage, constants).unwrap()));
        assert!(cs.is_satisfied(), "{:?}", cs.which_is_unsatisfied());
        assert_eq!(cs.num_constraints(), rows);
        assert_eq!(constants.variables(), rows);
        assert_eq!(cs.scalar_aux().len() - preimage.len(), rows);
    }
}

#[test]
fn other_lengths_are_refused() {
    let mut cs = Recorder::with_values();
    for constants in instances() {
        for length in [0, constants.arity() - 1, constants.arity() + 1] {
            let preimage = vec![Scalar::ONE; length];
            let expected = WrongPreimage { expected: constants.arity(), got: length };
            assert_eq!(hash_value(&preimage, constants), Err(expected));
            let right = vec![Scalar::ONE; constants.arity()];
            let mut sinks = [(); 2].map(|()| RecordingSink::default());
            assert_eq!(hash_witness_each(&mut sinks, &[&right, &preimage], constants), Err(expected));
            assert!(sinks.iter().all(|sink| sink.aux.is_empty()));
            let preimage = nums(&mut cs, "input", &preimage);
            assert!(hash(&mut cs, &preimage, constants).is_err());
        }
    }
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn native_is_classic(instance in 0usize..5, preimage in scalars(11)) {
        let constants = instances()[instance];
        let preimage = &preimage[..constants.arity()];
        let (classic, native) = assert_same(
            |cs| nums(cs, "input", preimage),
            |cs, preimage| hash(cs, &preimage, constants).unwrap(),
            |sink| hash_witness(sink, preimage, constants).unwrap(),
        );
        prop_assert_eq!(classic.get_value(), Some(native));
        prop_assert_eq!(hash_value(preimage, constants).unwrap(), native);
    }

    /// Together as one by one, with any number of lanes to spare.
    #[test]
    fn several_are_each(instance in 0usize..5, count in 0usize..18, elements in scalars(18 * 11)) {
        let constants = instances()[instance];
        let preimages: Vec<&[Scalar]> =
            elements.chunks(constants.arity()).take(count).collect();
        let count = preimages.len();
        let mut sinks: Vec<RecordingSink> = (0..count).map(|_| RecordingSink::default()).collect();
        let hashes = hash_witness_each(&mut sinks, &preimages, constants).unwrap();
        prop_assert_eq!(hashes.len(), count);
        for ((sink, preimage), hash) in sinks.iter().zip(preimages).zip(hashes) {
            let mut expected = RecordingSink::default();
            prop_assert_eq!(hash_witness(&mut expected, preimage, constants).unwrap(), hash);
            prop_assert_eq!(&sink.aux, &expected.aux);
        }
    }
}
