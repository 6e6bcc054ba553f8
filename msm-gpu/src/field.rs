//! The coordinate fields, as far as affine additions need them.

use blst::{blst_fp, blst_fp2};

use crate::curve::Affine;
use crate::ffi::{self, VectorScratch};

/// A field that holds the coordinates of a curve's points.
pub trait BaseField: Copy + Default + PartialEq + Send + Sync + std::fmt::Debug + 'static {
    /// The neutral element of multiplication.
    const ONE: Self;
    /// `self + rhs`.
    fn add(&self, rhs: &Self) -> Self;
    /// `self - rhs`.
    fn sub(&self, rhs: &Self) -> Self;
    /// `self * rhs`.
    fn mul(&self, rhs: &Self) -> Self;
    /// `self²`.
    fn square(&self) -> Self;
    /// `3·self`.
    fn triple(&self) -> Self;
    /// `1/self`; zero for zero.
    fn inverse(&self) -> Self;
    /// Whether this is zero.
    fn is_zero(&self) -> bool;
    /// Adds `others[i]` to `sums[i]` for as many leading `i` as a vector unit takes, and returns their number.
    fn add_vectors(sums: &mut [Affine<Self>], others: &[Affine<Self>], scratch: &mut VectorScratch) -> usize;
    /// `-self`.
    fn neg(&self) -> Self {
        Self::default().sub(self)
    }
}

/// `R = 2^384 mod p`, that is, one.
pub(crate) const FP_ONE: blst_fp = blst_fp {
    l: [
        0x7609_0000_0002_fffd,
        0xebf4_000b_c40c_0002,
        0x5f48_9857_53c7_58ba,
        0x77ce_5853_7052_5745,
        0x5c07_1a97_a256_ec6d,
        0x15f6_5ec3_fa80_e493,
    ],
};

macro_rules! base_field {
    ($field:ty, $one:expr, $is_zero:expr, $vectors:expr, $add:ident, $sub:ident, $mul:ident, $square:ident, $triple:ident, $inverse:ident) => {
        impl BaseField for $field {
            const ONE: Self = $one;
            #[inline(always)]
            fn add(&self, rhs: &Self) -> Self {
                ffi::$add(self, rhs)
            }
            #[inline(always)]
            fn sub(&self, rhs: &Self) -> Self {
                ffi::$sub(self, rhs)
            }
            #[inline(always)]
            fn mul(&self, rhs: &Self) -> Self {
                ffi::$mul(self, rhs)
            }
            #[inline(always)]
            fn square(&self) -> Self {
                ffi::$square(self)
            }
            #[inline(always)]
            fn triple(&self) -> Self {
                ffi::$triple(self)
            }
            fn inverse(&self) -> Self {
                ffi::$inverse(self)
            }
            fn add_vectors(
                sums: &mut [Affine<Self>],
                others: &[Affine<Self>],
                scratch: &mut VectorScratch,
            ) -> usize {
                $vectors(sums, others, scratch)
            }
            #[inline(always)]
            fn is_zero(&self) -> bool {
                $is_zero(self)
            }
        }
    };
}

#[inline(always)]
fn fp_is_zero(a: &blst_fp) -> bool {
    a.l.iter().fold(0, |all, limb| all | limb) == 0
}

base_field!(
    blst_fp,
    FP_ONE,
    fp_is_zero,
    ffi::add_vectors,
    fp_add,
    fp_sub,
    fp_mul,
    fp_square,
    fp_triple,
    fp_inverse
);
base_field!(
    blst_fp2,
    blst_fp2 { fp: [FP_ONE, blst_fp { l: [0; 6] }] },
    |a: &blst_fp2| fp_is_zero(&a.fp[0]) && fp_is_zero(&a.fp[1]),
    |_, _, _| 0,
    fp2_add,
    fp2_sub,
    fp2_mul,
    fp2_square,
    fp2_triple,
    fp2_inverse
);
