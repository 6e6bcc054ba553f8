//! Eight Poseidon permutations at a time, where the processor has AVX-512's 52-bit multiply-add: a safe function over intrinsics.
//! The values are those of the portable code, bit for bit.
//! The only unsafe code of this crate.
#![allow(unsafe_code)]

use blstrs::Scalar;

use crate::poseidon::VectorTables;

#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(target_arch = "x86_64")]
mod permutation;

/// Permutations of one call.
pub(crate) const LANES: usize = 8;

/// Whether this processor has what [`permute`] needs.
pub(crate) fn is_available() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512ifma")
        && is_x86_feature_detected!("avx512dq");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// The values of eight permutations of width `W`, those of the first in the first eighth of `out`, and so on. Each preimage has
/// `W - 1` elements. `false`, with nothing written, where the processor has no such instructions.
pub(crate) fn permute<const W: usize>(
    preimages: &[&[Scalar]; LANES],
    tables: &VectorTables<W>,
    out: &mut [Scalar],
) -> bool {
    if !is_available() {
        return false;
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the processor has the instructions.
    unsafe {
        permutation::permute(preimages, tables, out);
    }
    true
}
