//! Signed digits of scalars.

use blstrs::Scalar;

use crate::ffi;

/// `r`, little-endian limbs.
const MODULUS: [u64; 4] =
    [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];
/// `(r - 1) / 2`.
const HALF: [u64; 4] =
    [0x7fff_ffff_8000_0000, 0xa9de_d201_7fff_2dff, 0x199c_ec04_04d0_ec02, 0x39f6_d3a9_94ce_bea4];

/// How scalars are cut: `width` bits a digit, `count` digits, each in `[-2^(width-1), 2^(width-1)]`.
///
/// A scalar `k` above `r/2` is taken as `-(r - k)`, so that magnitudes have 254 bits, and small negative numbers
/// have few digits. To each magnitude a constant is added with the top bit of every digit but the last: a
/// digit is then a plain field of bits, minus that bit, and needs no carry from those below.
#[derive(Debug, Clone, Copy)]
pub(super) struct Windows {
    pub(super) width: u32,
    pub(super) count: u32,
    bias: [u64; 4],
}

/// A scalar ready to be cut.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Prepared {
    limbs: [u64; 4],
    negative: bool,
}

impl Windows {
    /// Digits of `width` bits, from 2 to 24.
    pub(super) fn new(width: u32) -> Self {
        // One bit more than the 254 of a magnitude: the last digit must not overflow.
        let count = 255u32.div_ceil(width);
        let mut bias = [0u64; 4];
        for window in 0..count - 1 {
            let bit = window * width + width - 1;
            bias[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        Self { width, count, bias }
    }

    /// The number of magnitudes of a digit, zero aside.
    pub(super) fn buckets(&self) -> usize {
        1 << (self.width - 1)
    }

    #[inline]
    pub(super) fn prepare(&self, scalar: &Scalar) -> Prepared {
        let limbs = ffi::canonical(&(*scalar).into());
        let negative = limbs.iter().rev().gt(HALF.iter().rev());
        let magnitude = if negative { subtract(&MODULUS, &limbs) } else { limbs };
        Prepared { limbs: add(&magnitude, &self.bias), negative }
    }

    /// Digit `window` of a scalar: zero, or a magnitude from 1 to [`buckets`](Self::buckets) and a sign.
    #[inline(always)]
    pub(super) fn digit(&self, scalar: &Prepared, window: u32) -> Option<(u32, bool)> {
        let bit = window * self.width;
        let (limb, shift) = ((bit / 64) as usize, bit % 64);
        let mut bits = scalar.limbs[limb] >> shift;
        if shift + self.width > 64 && limb < 3 {
            bits |= scalar.limbs[limb + 1] << (64 - shift);
        }
        let value = (bits & ((1 << self.width) - 1)) as i64;
        let digit = if window + 1 < self.count { value - (1 << (self.width - 1)) } else { value };
        (digit != 0).then_some((digit.unsigned_abs() as u32, (digit < 0) != scalar.negative))
    }
}

fn add(a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let mut carry = 0;
    std::array::from_fn(|i| {
        let sum = u128::from(a[i]) + u128::from(b[i]) + carry;
        carry = sum >> 64;
        sum as u64
    })
}

fn subtract(a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let mut borrow = false;
    std::array::from_fn(|i| {
        let (difference, first) = a[i].overflowing_sub(b[i]);
        let (difference, second) = difference.overflowing_sub(u64::from(borrow));
        borrow = first | second;
        difference
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::Field;
    use proptest::prelude::*;
    use rand_core::SeedableRng;

    /// `Σ digit_i 2^(width·i)` is the scalar.
    fn check(width: u32, scalar: Scalar) {
        let windows = Windows::new(width);
        let prepared = windows.prepare(&scalar);
        let mut sum = Scalar::ZERO;
        for window in (0..windows.count).rev() {
            sum = (0..width).fold(sum, |sum, _| sum.double());
            if let Some((magnitude, negative)) = windows.digit(&prepared, window) {
                assert!((1..=windows.buckets() as u32).contains(&magnitude));
                let value = Scalar::from(u64::from(magnitude));
                sum += if negative { -value } else { value };
            }
        }
        assert_eq!(sum, scalar);
    }

    proptest! {
        #[test]
        fn digits_recompose(width in 2u32..=24, seed: u64, small: u64) {
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
            check(width, Scalar::random(&mut rng));
            check(width, Scalar::from(small));
            check(width, -Scalar::from(small));
        }
    }

    #[test]
    fn extremes_recompose() {
        use ff::PrimeField;
        for width in 2..=24 {
            for scalar in [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, Scalar::TWO_INV, -Scalar::TWO_INV] {
                check(width, scalar);
            }
            for bit in 0..255 {
                check(width, Scalar::from(2).pow_vartime([bit]));
                check(width, Scalar::from(2).pow_vartime([bit]) - Scalar::ONE);
            }
        }
    }

    #[test]
    fn small_numbers_have_few_digits() {
        let windows = Windows::new(13);
        for scalar in [Scalar::from(77), -Scalar::from(77)] {
            let prepared = windows.prepare(&scalar);
            let used = (0..windows.count).filter(|w| windows.digit(&prepared, *w).is_some());
            assert_eq!(used.collect::<Vec<_>>(), [0]);
        }
    }
}
