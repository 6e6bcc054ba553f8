//! The decoding of one point, compiled for the host, against blst.

use blstrs::Scalar;
use ff::Field;
use group::Curve as _;
use group::prime::PrimeCurveAffine;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::super::DeviceCurve;
use super::super::ffi::host::{decode_g1, decode_g2};
use crate::{G1, G2};
use encoding::{Encoding, bad_encodings, words};
use subgroup::{outside, outside_g2};

#[path = "../../../tests/common/encoding.rs"]
mod encoding;
#[path = "../../../tests/common/subgroup.rs"]
mod subgroup;

trait Decode: DeviceCurve<Affine: Encoding> {
    fn on_host(bytes: &[u8]) -> (bool, Self::Words);
}
impl Decode for G1 {
    fn on_host(bytes: &[u8]) -> (bool, Self::Words) {
        decode_g1(bytes.try_into().expect("96 bytes"))
    }
}
impl Decode for G2 {
    fn on_host(bytes: &[u8]) -> (bool, Self::Words) {
        decode_g2(bytes.try_into().expect("192 bytes"))
    }
}

fn random<C: Decode>(seed: u64) -> C::Affine {
    (C::Affine::generator() * Scalar::random(ChaCha8Rng::seed_from_u64(seed))).to_affine()
}

/// The header's answer is blst's.
fn agrees<C: Decode>(bytes: &[u8]) -> bool {
    let infinity = words::<C::Words>(&vec![0; bytes.len()]);
    let expected = C::Affine::decode(bytes).map(|point| C::words(&[point])[0]);
    C::on_host(bytes) == (expected.is_some(), expected.unwrap_or(infinity))
}

fn good_points<C: Decode>(seed: u64, outside: C::Affine) {
    for point in [random::<C>(seed), -random::<C>(seed), C::Affine::generator(), outside, -outside] {
        let bytes = point.encode();
        assert_eq!(C::on_host(&bytes), (true, C::words(&[point])[0]), "{point:?}");
        assert!(agrees::<C>(&bytes));
    }
}

fn bad_points<C: Decode>(seed: u64, outside: C::Affine) {
    for (kind, bytes) in bad_encodings(&random::<C>(seed).encode(), &outside.encode()) {
        assert!(!C::on_host(&bytes).0, "{}: {kind}, seed {seed}", C::NAME);
        assert!(agrees::<C>(&bytes), "{}: {kind}, seed {seed}", C::NAME);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn points_equal_blst(seed: u64) {
        good_points::<G1>(seed, outside());
        good_points::<G2>(seed, outside_g2());
    }

    #[test]
    fn bad_encodings_are_refused(seed: u64) {
        bad_points::<G1>(seed, outside());
        bad_points::<G2>(seed, outside_g2());
    }

    #[test]
    fn what_is_near_an_encoding_is_as_blst_says(seed: u64, flips in prop::collection::vec(0usize..8 * 192, 1..4)) {
        let (mut of_g1, mut of_g2) = (random::<G1>(seed).encode(), random::<G2>(seed).encode());
        for flip in flips {
            of_g1[flip / 8 % 96] ^= 1 << (flip % 8);
            of_g2[flip / 8] ^= 1 << (flip % 8);
            prop_assert!(agrees::<G1>(&of_g1));
            prop_assert!(agrees::<G2>(&of_g2));
        }
    }

    #[test]
    fn any_bytes_are_as_blst_says(low: [u8; 32], middle: [u8; 32], high: [u8; 32]) {
        let mut bytes = [low, middle, high].concat();
        prop_assert!(agrees::<G1>(&bytes));
        bytes.extend_from_within(..);
        prop_assert!(agrees::<G2>(&bytes));
    }
}
