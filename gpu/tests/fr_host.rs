//! `fr.cuh`, compiled for the host, against blstrs.

use blstrs::Scalar;
use ff::{Field, PrimeField};
use gpu::Fr;
use gpu::host::{FrOperation as Op, fr, fr_pow, selftest_fr};
use proptest::prelude::*;

/// r, least significant limb first.
const R: [u64; 4] =
    [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];

fn below(a: &[u64; 4], b: &[u64; 4]) -> bool {
    a.iter().rev().lt(b.iter().rev())
}

fn minus(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    let mut borrow = false;
    std::array::from_fn(|i| {
        let (d, first) = a[i].overflowing_sub(b[i]);
        let (d, second) = d.overflowing_sub(u64::from(borrow));
        borrow = first || second;
        d
    })
}

/// The element whose Montgomery form is a 256-bit value, reduced.
fn element(limbs: [u64; 4]) -> Fr {
    let mut limbs = limbs;
    while !below(&limbs, &R) {
        limbs = minus(limbs, R);
    }
    bytemuck::cast(limbs)
}

fn limbs(scalar: Scalar) -> [u64; 4] {
    Fr(scalar).montgomery_limbs()
}

/// Any 256-bit value, the awkward limbs often.
fn any256() -> impl Strategy<Value = [u64; 4]> {
    let limb = prop_oneof![
        4 => any::<u64>(),
        1 => Just(0),
        1 => Just(u64::MAX),
        1 => Just(1),
        1 => Just(0xffff_ffff),
        1 => Just(0xffff_ffff_0000_0000),
    ];
    prop_oneof![
        6 => prop::array::uniform4(limb),
        1 => Just(R),
        1 => Just(minus(R, [1, 0, 0, 0])),
        1 => Just([0; 4]),
        1 => Just([u64::MAX; 4]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn ring_operations_match(a in any256(), b in any256()) {
        let (x, y) = (element(a), element(b));
        let (p, q) = (x.montgomery_limbs(), y.montgomery_limbs());
        prop_assert_eq!(fr(Op::Add, p, q), limbs(x.0 + y.0));
        prop_assert_eq!(fr(Op::Sub, p, q), limbs(x.0 - y.0));
        prop_assert_eq!(fr(Op::Mul, p, q), limbs(x.0 * y.0));
        prop_assert_eq!(fr(Op::Neg, p, q), limbs(-x.0));
    }

    /// The second factor may be any 256-bit value: the transforms rely on it.
    #[test]
    fn product_takes_any_second_factor(a in any256(), b in any256()) {
        let x = element(a);
        prop_assert_eq!(fr(Op::Mul, x.montgomery_limbs(), b), limbs(x.0 * element(b).0));
    }

    #[test]
    fn unreduced_operations_match_after_reduction(a in any256(), b in any256()) {
        let (x, y) = (element(a), element(b));
        let (p, q) = (x.montgomery_limbs(), y.montgomery_limbs());
        let (sum, difference) = (fr(Op::AddLazy, p, q), fr(Op::SubLazy, p, q));
        prop_assert_eq!(fr(Op::Reduce, sum, q), limbs(x.0 + y.0));
        prop_assert_eq!(fr(Op::Reduce, difference, q), limbs(x.0 - y.0));
    }

    /// The second factor is below 2r, as sums and differences are that were not reduced.
    #[test]
    fn known_factors_match(a in any256(), b in any256(), c in any256(), unreduced in any::<bool>()) {
        let (w, x, y) = (element(a), element(b), element(c));
        let factor = w.montgomery_limbs();
        let mut x = x.montgomery_limbs();
        if unreduced {
            x = fr(Op::AddLazy, x, y.montgomery_limbs());
        }
        let expected = w.0 * element(x).0;
        prop_assert_eq!(fr(Op::MulFactor, factor, x), limbs(expected));
        let lazy = fr(Op::MulFactorLazy, factor, x);
        prop_assert_eq!(element(lazy).0, expected);
        prop_assert!([[0; 4], R].contains(&minus(lazy, limbs(expected))));
    }

    #[test]
    fn canonical_form_round_trips(a in any256()) {
        let x = element(a);
        let mut bytes = [0; 32];
        for (chunk, limb) in bytes.chunks_mut(8).zip(fr(Op::ToCanonical, x.montgomery_limbs(), [0; 4])) {
            chunk.copy_from_slice(&limb.to_le_bytes());
        }
        prop_assert_eq!(bytes, x.0.to_repr());
        let back = fr(Op::FromCanonical, bytemuck::cast(bytes), [0; 4]);
        prop_assert_eq!(back, x.montgomery_limbs());
        let integer = element(a).montgomery_limbs();
        prop_assert_eq!(fr(Op::FromCanonical, a, [0; 4]), fr(Op::FromCanonical, integer, [0; 4]));
    }

    #[test]
    fn powers_match(a in any256(), exponent in any::<u64>()) {
        let x = element(a);
        prop_assert_eq!(fr_pow(&x, exponent), limbs(x.0.pow_vartime([exponent])));
    }
}

/// The largest second factor, 2r - 1, and factors at both ends.
#[test]
fn known_factors_at_the_ends() {
    let last = fr(Op::AddLazy, minus(R, [1, 0, 0, 0]), R);
    for w in [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, Scalar::ROOT_OF_UNITY] {
        assert_eq!(fr(Op::MulFactor, limbs(w), last), limbs(w * element(last).0));
        // In Montgomery form the factor 1/2^256 is the integer 1, and -1/2^256 is r - 1.
        for v in [[1, 0, 0, 0], minus(R, [1, 0, 0, 0])] {
            assert_eq!(fr(Op::MulFactor, v, last), limbs(element(v).0 * element(last).0));
        }
    }
}

/// The constant that devices are held to is blstrs' answer, and the header's.
#[test]
fn selftest_answer_is_right() {
    let (mut x, mut y) = (-Scalar::ONE, -Scalar::ONE.double());
    for _ in 0..512 {
        let next = x * y + x - y;
        y = next * (next + y) - Scalar::ONE;
        x = next;
    }
    assert_eq!(limbs(x + y), gpu::selftest::FR_ANSWER);
    assert_eq!(selftest_fr(), gpu::selftest::FR_ANSWER);
}
