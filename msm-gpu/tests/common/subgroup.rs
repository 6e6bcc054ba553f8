//! Points on the curves outside the subgroups of prime order.
#![allow(dead_code, reason = "each test binary uses some of it")]

use blstrs::{G1Affine, G2Affine, Scalar};
use ff::Field;
use group::{Curve as _, Group};

/// Points on the curve outside the subgroup, from small x coordinates.
fn outsiders() -> impl Iterator<Item = G1Affine> {
    (1u8..=255).filter_map(|x| {
        let mut bytes = [0; 48];
        (bytes[0], bytes[47]) = (0x80, x);
        let point = Option::<G1Affine>::from(G1Affine::from_compressed_unchecked(&bytes))?;
        (!bool::from(point.is_torsion_free())).then_some(point)
    })
}

pub fn outside() -> G1Affine {
    outsiders().next().unwrap()
}

/// A point of order three (it is (0, ±2)): what a random linear combination misses one time in three.
pub fn of_order_three() -> G1Affine {
    let cofactor_over_three = 0x396c_8c00_5555_e156_8c00_aaab_0000_aaabu128 / 3;
    let r_minus_one = (-Scalar::ONE).to_bytes_le();
    let point = outsiders()
        .map(|point| multiply(point.into(), &cofactor_over_three.to_le_bytes()))
        .map(|point| multiply(point, &r_minus_one) + point)
        .find(|point| !bool::from(point.is_identity()))
        .unwrap();
    assert_eq!(point.double(), -point);
    point.to_affine()
}

fn multiply(point: blstrs::G1Projective, little_endian: &[u8]) -> blstrs::G1Projective {
    little_endian.iter().rev().fold(blstrs::G1Projective::identity(), |mut sum, byte| {
        for bit in (0..8).rev() {
            sum = sum.double();
            if byte >> bit & 1 == 1 {
                sum += point;
            }
        }
        sum
    })
}

/// The same in G2.
pub fn outside_g2() -> G2Affine {
    let of_x = |x: u8| {
        let mut bytes = [0; 96];
        (bytes[0], bytes[95]) = (0x80, x);
        let point = Option::<G2Affine>::from(G2Affine::from_compressed_unchecked(&bytes))?;
        (!bool::from(point.is_torsion_free())).then_some(point)
    };
    (1..=255).find_map(of_x).unwrap()
}
