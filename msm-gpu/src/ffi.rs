//! Field arithmetic by blst's assembly. Values are in Montgomery form and reduced.
#![allow(unsafe_code)]

use blst::{blst_fp, blst_fp2};

use crate::curve::Affine;

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma;

/// Memory for [`add_vectors`].
#[cfg(target_arch = "x86_64")]
pub(crate) type VectorScratch = Vec<ifma::Lanes>;
/// Memory for [`add_vectors`].
#[cfg(not(target_arch = "x86_64"))]
pub(crate) type VectorScratch = ();

/// Adds `others[i]` to `sums[i]` for as many leading `i` as the processor's vector unit takes, and returns their number.
#[cfg(target_arch = "x86_64")]
pub(crate) fn add_vectors(
    sums: &mut [Affine<blst_fp>],
    others: &[Affine<blst_fp>],
    scratch: &mut VectorScratch,
) -> usize {
    if !ifma::is_available() {
        return 0;
    }
    // SAFETY: the processor has the instructions.
    unsafe { ifma::add_each(sums, others, scratch) }
}

/// Adds nothing: there is no vector unit that is known here.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn add_vectors(_: &mut [Affine<blst_fp>], _: &[Affine<blst_fp>], _: &mut VectorScratch) -> usize {
    0
}

macro_rules! operations {
    ($field:ty, $binary:ident: $($name:ident = $function:ident),*; $unary:ident: $($name1:ident = $function1:ident),*) => {
        $(
            #[inline(always)]
            pub(crate) fn $name(a: &$field, b: &$field) -> $field {
                let mut out = <$field>::default();
                // SAFETY: three valid pointers to field elements; the function reads two and writes one.
                unsafe { blst::$function(&mut out, a, b) };
                out
            }
        )*
        $(
            #[inline(always)]
            pub(crate) fn $name1(a: &$field) -> $field {
                let mut out = <$field>::default();
                // SAFETY: two valid pointers to field elements; the function reads one and writes the other.
                unsafe { blst::$function1(&mut out, a) };
                out
            }
        )*
    };
}

operations!(blst_fp,
    binary: fp_add = blst_fp_add, fp_sub = blst_fp_sub, fp_mul = blst_fp_mul;
    unary: fp_square = blst_fp_sqr, fp_triple = blst_fp_mul_by_3, fp_inverse = blst_fp_inverse);
operations!(blst_fp2,
    binary: fp2_add = blst_fp2_add, fp2_sub = blst_fp2_sub, fp2_mul = blst_fp2_mul;
    unary: fp2_square = blst_fp2_sqr, fp2_triple = blst_fp2_mul_by_3, fp2_inverse = blst_fp2_inverse);

/// The canonical form of a scalar in Montgomery form, as little-endian limbs.
#[inline(always)]
pub(crate) fn canonical(scalar: &blst::blst_fr) -> [u64; 4] {
    let mut out = [0; 4];
    // SAFETY: the function reads one field element and writes four limbs.
    unsafe { blst::blst_uint64_from_fr(out.as_mut_ptr(), scalar) };
    out
}
