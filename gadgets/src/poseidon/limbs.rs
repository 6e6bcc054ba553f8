//! Scalars as Montgomery limbs, for sums of products with one reduction.
//!
//! `blstrs` reduces every product. A Poseidon permutation is mostly products of vectors, and there the reductions are half of
//! the work: here the 512-bit products are summed first.

use blst::blst_fr;
use blstrs::Scalar;

/// A scalar times `2^256`, reduced, in little-endian limbs.
pub(super) type Limbs = [u64; 4];

/// The limbs of a scalar. They are its representation: nothing is computed.
pub(super) fn limbs(scalar: &Scalar) -> Limbs {
    blst_fr::from(*scalar).l
}

/// Limbs of 52 bits, as the vector unit takes them.
pub(crate) type LimbsOf52 = [i64; 5];

const MASK_OF_52: i64 = (1 << 52) - 1;

/// The modulus in limbs of 52 bits.
pub(crate) const MODULUS_OF_52: LimbsOf52 = cut(&MODULUS);

/// A scalar's representation in limbs of 52 bits.
pub(crate) fn limbs_of_52(scalar: &Scalar) -> LimbsOf52 {
    cut(&limbs(scalar))
}

const fn cut(w: &Limbs) -> LimbsOf52 {
    [
        w[0] as i64 & MASK_OF_52,
        (w[0] >> 52 | w[1] << 12) as i64 & MASK_OF_52,
        (w[1] >> 40 | w[2] << 24) as i64 & MASK_OF_52,
        (w[2] >> 28 | w[3] << 36) as i64 & MASK_OF_52,
        (w[3] >> 16) as i64,
    ]
}

/// Sixteen times a scalar's representation, not reduced.
pub(super) fn sixteenfold_of_52(scalar: &Scalar) -> LimbsOf52 {
    let w = limbs(scalar);
    [
        (w[0] << 4) as i64 & MASK_OF_52,
        (w[0] >> 48 | w[1] << 16) as i64 & MASK_OF_52,
        (w[1] >> 36 | w[2] << 28) as i64 & MASK_OF_52,
        (w[2] >> 24 | w[3] << 40) as i64 & MASK_OF_52,
        (w[3] >> 12) as i64,
    ]
}

/// The scalar with the given limbs.
pub(super) fn scalar(limbs: Limbs) -> Scalar {
    Scalar::from(blst_fr { l: limbs })
}

const MODULUS: Limbs =
    [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];

/// `-MODULUS^-1` modulo `2^64`.
const INVERSE: u64 = 0xffff_fffe_ffff_ffff;

/// `Σ a_k · b_k + c`, at most twelve products.
///
/// Product scanning: column by column of the 512-bit sum, each Montgomery factor as soon as its column is complete.
#[inline(always)]
pub(super) fn dot_add<const N: usize>(a: &[Limbs; N], b: &[Limbs; N], c: &Limbs) -> Limbs {
    const { assert!(N <= 12) };
    let mut column = Column::default();
    let mut factors = [0; 4];
    for i in 0..4 {
        for k in 0..N {
            (0..=i).for_each(|j| column.add_product(a[k][j], b[k][i - j]));
        }
        (0..i).for_each(|j| column.add_product(factors[j], MODULUS[i - j]));
        factors[i] = (column.low as u64).wrapping_mul(INVERSE);
        column.add_product(factors[i], MODULUS[0]);
        column.shift();
    }
    let mut sum = [0; 4];
    for i in 4..8 {
        for k in 0..N {
            (i - 3..4).for_each(|j| column.add_product(a[k][j], b[k][i - j]));
        }
        (i - 3..4).for_each(|j| column.add_product(factors[j], MODULUS[i - j]));
        column.add(c[i - 4]);
        sum[i - 4] = column.shift();
    }
    // Twelve products are below 5.5 p · 2^256, the factors add less than p, and c too.
    let high = column.low as u64;
    // Of the sum's multiples of 2^255 each exceeds the modulus, and what is left is below twice the modulus.
    let multiples = (high << 1) | (sum[3] >> 63);
    subtract_if_greater(&subtract_multiple(&sum, multiples))
}

/// `sum - multiples · MODULUS`, which fits four limbs.
#[inline(always)]
fn subtract_multiple(sum: &Limbs, multiples: u64) -> Limbs {
    let mut out = [0; 4];
    let mut borrow = 0u64;
    for i in 0..4 {
        let product = u128::from(MODULUS[i]) * u128::from(multiples) + u128::from(borrow);
        let (limb, under) = sum[i].overflowing_sub(product as u64);
        out[i] = limb;
        borrow = (product >> 64) as u64 + u64::from(under);
    }
    out
}

#[inline(always)]
fn subtract_if_greater(sum: &Limbs) -> Limbs {
    let mut out = [0; 4];
    let mut borrow = false;
    for i in 0..4 {
        let (limb, first) = sum[i].overflowing_sub(MODULUS[i]);
        let (limb, second) = limb.overflowing_sub(u64::from(borrow));
        (out[i], borrow) = (limb, first | second);
    }
    if borrow { *sum } else { out }
}

/// A column of a sum of products: `low + high · 2^64`. The halves of the products are summed apart, in two short chains
/// of carries.
#[derive(Default)]
struct Column {
    low: u128,
    high: u128,
}

impl Column {
    #[inline(always)]
    fn add_product(&mut self, a: u64, b: u64) {
        let product = u128::from(a) * u128::from(b);
        self.low += u128::from(product as u64);
        self.high += product >> 64;
    }

    #[inline(always)]
    fn add(&mut self, limb: u64) {
        self.low += u128::from(limb);
    }

    /// The column's limb; goes on to the next column.
    #[inline(always)]
    fn shift(&mut self) -> u64 {
        let limb = self.low as u64;
        self.low = (self.low >> 64) + self.high;
        self.high = 0;
        limb
    }
}

#[cfg(test)]
mod tests {
    use ff::Field;
    use proptest::prelude::*;

    use super::*;

    fn awkward() -> impl Strategy<Value = Scalar> {
        prop_oneof![
            4 => any::<[u64; 4]>().prop_map(|limbs| {
                limbs.iter().fold(Scalar::ZERO, |sum, limb| sum * Scalar::from(u64::MAX) + Scalar::from(*limb))
            }),
            1 => Just(Scalar::ZERO),
            1 => Just(Scalar::ONE),
            3 => Just(-Scalar::ONE),
            // The largest representation.
            3 => Just(scalar([MODULUS[0] - 1, MODULUS[1], MODULUS[2], MODULUS[3]])),
        ]
    }

    fn check<const N: usize>(a: &[Scalar], b: &[Scalar], c: &Scalar) {
        let expected = a[..N].iter().zip(b).map(|(a, b)| a * b).sum::<Scalar>() + c;
        let [a, b] = [a, b].map(|v| std::array::from_fn::<_, N, _>(|i| limbs(&v[i])));
        assert_eq!(dot_add(&a, &b, &limbs(c)), limbs(&expected));
    }

    proptest! {
        #[test]
        fn products(a in prop::collection::vec(awkward(), 12), b in prop::collection::vec(awkward(), 12), c in awkward()) {
            check::<1>(&a, &b, &c);
            check::<3>(&a, &b, &c);
            check::<9>(&a, &b, &c);
            check::<12>(&a, &b, &c);
        }
    }

    #[test]
    fn the_largest_sum() {
        let largest = scalar([MODULUS[0] - 1, MODULUS[1], MODULUS[2], MODULUS[3]]);
        check::<12>(&[largest; 12], &[largest; 12], &largest);
    }
}
