//! The arithmetic that the kernels run, compiled for the host, against blst.

use blst::{blst_fp, blst_fp2};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use group::prime::PrimeCurveAffine;
use group::{Curve as _, Group};
use proptest::prelude::*;

use super::DeviceCurve;
use super::ffi::Windows;
use super::ffi::host::{FieldOperation, PointOperation, fp, fp2, g1, g2, group_of, line_points};
use super::plan::PARTITIONS;
use super::windows::MAX_WINDOWS;
use crate::field::BaseField;
use crate::{G1, G2};

const P: [u64; 6] = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];

/// Montgomery limbs below p: random ones, small ones, ones just below p, and ones whose words are all ones or zeros.
fn limbs() -> impl Strategy<Value = [u64; 6]> {
    let below_p = |mut limbs: [u64; 6]| {
        limbs[5] %= P[5];
        limbs
    };
    prop_oneof![
        any::<[u64; 6]>().prop_map(below_p),
        (0u64..4).prop_map(|low| [low, 0, 0, 0, 0, 0]),
        (1u64..4).prop_map(|less| [P[0] - less, P[1], P[2], P[3], P[4], P[5]]),
        proptest::array::uniform6(prop_oneof![
            Just(0u64),
            Just(u64::MAX),
            Just(0xffff_ffff),
            Just(0xffff_ffff_0000_0000)
        ])
        .prop_map(below_p),
    ]
}

const OPERATIONS: [FieldOperation; 9] = [
    FieldOperation::Add,
    FieldOperation::Sub,
    FieldOperation::Mul,
    FieldOperation::Square,
    FieldOperation::Neg,
    FieldOperation::Inverse,
    FieldOperation::Twice,
    FieldOperation::SubCanonical,
    FieldOperation::NegCanonical,
];

fn expected<F: BaseField>(operation: FieldOperation, a: F, b: F) -> F {
    match operation {
        FieldOperation::Add => a.add(&b),
        FieldOperation::Sub | FieldOperation::SubCanonical => a.sub(&b),
        FieldOperation::Mul => a.mul(&b),
        FieldOperation::Square => a.square(),
        FieldOperation::Neg | FieldOperation::NegCanonical => a.neg(),
        FieldOperation::Inverse => a.inverse(),
        FieldOperation::Twice => a.add(&a),
    }
}

proptest! {
    #[test]
    fn fp_operations_equal_blst(a in limbs(), b in limbs()) {
        for operation in OPERATIONS {
            let want = expected(operation, blst_fp { l: a }, blst_fp { l: b });
            for lift in 0..4 {
                let got = fp(operation, lift, &a, &b).expect("a known operation");
                prop_assert_eq!(blst_fp { l: got }, want, "{:?}, lift {}", operation, lift);
            }
        }
    }

    #[test]
    fn fp2_operations_equal_blst(a0 in limbs(), a1 in limbs(), b0 in limbs(), b1 in limbs()) {
        let join = |low: [u64; 6], high: [u64; 6]| -> [u64; 12] {
            std::array::from_fn(|i| if i < 6 { low[i] } else { high[i - 6] })
        };
        let (a, b) = (join(a0, a1), join(b0, b1));
        for operation in OPERATIONS {
            let element = |low, high| blst_fp2 { fp: [blst_fp { l: low }, blst_fp { l: high }] };
            let want = expected(operation, element(a0, a1), element(b0, b1));
            for lift in 0..4 {
                let got = fp2(operation, lift, &a, &b).expect("a known operation");
                prop_assert_eq!(got, join(want.fp[0].l, want.fp[1].l), "{:?}, lift {}", operation, lift);
            }
        }
    }
}

const POINT_OPERATIONS: [PointOperation; 4] =
    [PointOperation::Add, PointOperation::AddAffine, PointOperation::Double, PointOperation::DoubleAndAdd];

fn expected_point<P: Group>(operation: PointOperation, a: P, b: P) -> P {
    match operation {
        PointOperation::Add | PointOperation::AddAffine => a + b,
        PointOperation::Double => a.double(),
        PointOperation::DoubleAndAdd => a.double() + b,
    }
}

/// A random point; and with it its equal, its opposite, its double, the opposite of its double, and infinity.
fn meetings<P: Group<Scalar = Scalar>>(a: u64, b: u64) -> Vec<(P, P)> {
    let (p, q) = (P::generator() * Scalar::from(a), P::generator() * Scalar::from(b));
    vec![
        (p, q),
        (p, p),
        (p, -p),
        (p, p.double()),
        (p, -p.double()),
        (p, P::identity()),
        (P::identity(), p),
        (P::identity(), P::identity()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn g1_additions_equal_blst(a in any::<u64>(), b in any::<u64>()) {
        for (p, q) in meetings::<G1Projective>(a, b) {
            let affine = [p.to_affine(), q.to_affine()];
            let words = G1::words(&affine);
            for operation in POINT_OPERATIONS {
                let got = g1(operation, &words[0], &words[1]).expect("both formulas agree");
                prop_assert_eq!(G1Affine::from(got), G1Affine::from(expected_point(operation, p, q)), "{:?}", operation);
            }
        }
    }

    #[test]
    fn g2_additions_equal_blst(a in any::<u64>(), b in any::<u64>()) {
        for (p, q) in meetings::<G2Projective>(a, b) {
            let affine = [p.to_affine(), q.to_affine()];
            let words = G2::words(&affine);
            for operation in POINT_OPERATIONS {
                let got = g2(operation, &words[0], &words[1]).expect("both formulas agree");
                prop_assert_eq!(G2Affine::from(got), G2Affine::from(expected_point(operation, p, q)), "{:?}", operation);
            }
        }
    }
}

#[test]
fn points_keep_blst_layout() {
    let points = [G1Affine::generator(), G1Affine::identity()];
    assert_eq!(G1::affine(G1::words(&points)), points);
    assert_eq!(G1::words(&points)[1], [0; 12], "infinity is all zero");
    let points = [G2Affine::generator(), G2Affine::identity()];
    assert_eq!(G2::affine(G2::words(&points)), points);
    assert_eq!(G2::words(&points)[1], [0; 24], "infinity is all zero");
}

/// What plans and the sort's 16-bit bucket numbers count on, for every pass that a plan can have.
#[test]
fn partitions_of_a_pass_hold_its_buckets_and_are_no_more_than_planned() {
    let sizes = (0..=31).flat_map(|log| [(1u32 << log) - 1, 1 << log, (1 << log) | 1]).filter(|&n| n > 0);
    let sizes: Vec<u32> = sizes.collect();
    for windows in (10..=MAX_WINDOWS).map(Windows::new) {
        for pass in 1..=windows.count {
            for first in (0..windows.count).step_by(pass as usize) {
                let pass = first..(first + pass).min(windows.count);
                for &n in &sizes {
                    let group = group_of(&windows, pass.clone(), n);
                    let (mut buckets, mut partitions) = (0, 0);
                    for (window, j) in group.iter().zip(pass.clone()) {
                        assert_eq!(u64::from(window.first_bucket), buckets, "window {j}, {n} points");
                        assert_eq!(u64::from(window.first_partition), partitions, "window {j}, {n} points");
                        let own = u64::from(window.end_partition - window.first_partition);
                        assert!(
                            own <= PARTITIONS && window.low_bits <= 12,
                            "window {j}, {n} points: {window:?}"
                        );
                        assert_eq!(
                            own << window.low_bits,
                            windows.buckets(j..j + 1),
                            "window {j}, {n} points"
                        );
                        buckets += own << window.low_bits;
                        partitions += own;
                    }
                    assert!(partitions <= PARTITIONS * pass.len() as u64);
                }
            }
        }
    }
}

#[test]
fn the_reduction_s_last_step_takes_what_is_planned() {
    for windows in (10..=MAX_WINDOWS).map(Windows::new) {
        assert_eq!(windows.line_points(), u64::from(line_points(&windows)), "{} windows", windows.count);
    }
}
