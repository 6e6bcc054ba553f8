//! Powers of the coset generator in bit-reversed order: one table serves both directions, both orders and the coset.

use blstrs::Scalar;
use ff::Field;
use rayon::prelude::*;

use super::pointwise::multiply_each;
use crate::domain::CHUNK;
use crate::ffi::vector::Factors;
use crate::poly::reverse;
use crate::{Domain, Error};

/// `table[j] = g^rev(j)` for `j < n/2` (at least one entry), with `g` a primitive `2n`-th root of unity and `rev` reversing
/// `log2 n` bits.
///
/// Splitting `x^m - z²` into `x^(m/2) - z` and `x^(m/2) + z`, from `x^n - 1` down, the block of index `j` in any layer
/// needs `z = table[j]`, whatever the layer: its children have the indices `2j` and `2j + 1`.
#[derive(Debug, Clone)]
pub(super) struct Twiddles {
    table: Vec<Scalar>,
    /// `g`, or one where the domain is the whole two-adic subgroup and has no coset.
    generator: Scalar,
}

/// `g^-1`.
pub(super) fn inverse_generator(domain: Domain) -> Result<Scalar, Error> {
    // A root of unity is never zero.
    Ok(domain.coset_generator()?.invert().unwrap_or(Scalar::ZERO))
}

impl Twiddles {
    pub(super) fn new(domain: Domain) -> Self {
        let len = (domain.size() / 2).max(1);
        let log_len = len.trailing_zeros();
        // rev over log2 n bits of j < n/2 is twice rev over one bit less, and g² = ω.
        let root = domain.root();
        let mut table = vec![Scalar::ONE; len];
        // The first entries by their definition, the others by doubling: table[2^k + i] = table[2^k] * table[i].
        for k in 0..log_len {
            let half = 1 << k;
            let step = root.pow_vartime([reverse(half, log_len) as u64]);
            let (low, high) = table.split_at_mut(half);
            high[..half]
                .par_iter_mut()
                .with_min_len(CHUNK)
                .zip(low.par_iter())
                .for_each(|(out, value)| *out = value * step);
        }
        let generator = domain.coset_generator().unwrap_or(Scalar::ONE);
        Self { table, generator }
    }

    /// The factors of the transforms with `ω`, or with `ω^-1`.
    pub(super) fn factors(&self, inverse: bool) -> Factors<'_> {
        Factors { table: &self.table, inverse }
    }

    /// Multiplies the element at each position `i` by `g^rev(i)`.
    pub(super) fn scale_by_coset(&self, values: &mut [Scalar]) {
        // Odd exponents stand in the upper half: rev(n/2 + i) = rev(i) + 1. (A domain of one element has no such half.)
        let (low, high) = values.split_at_mut(self.table.len());
        multiply_each(low, &self.table, None);
        multiply_each(high, &self.table, Some(&self.generator));
    }

    /// Multiplies the element at each position `i` by `scale * g^-rev(i)`.
    pub(super) fn scale_by_inverse_coset(&self, values: &mut [Scalar], scale: Scalar) {
        let inverse = self.generator.invert().unwrap_or(Scalar::ZERO);
        let factors = self.factors(true);
        let (low, high) = values.split_at_mut(self.table.len());
        for (half, factor) in [(low, scale), (high, scale * inverse)] {
            half.par_iter_mut()
                .enumerate()
                .with_min_len(CHUNK)
                .for_each(|(i, value)| *value *= factors.get(i) * factor);
        }
    }
}
