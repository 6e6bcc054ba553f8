//! Work that a processor's vector unit takes over, as safe functions. Each says how much it did; the rest, or all of it where
//! there is no such unit, is the portable code's. Both give the same field elements, bit for bit.

use blstrs::Scalar;

#[cfg(target_arch = "x86_64")]
mod ifma;
#[cfg(target_arch = "x86_64")]
mod network;
#[cfg(target_arch = "x86_64")]
mod pointwise;

/// Which of the two butterfly networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    /// Natural to bit-reversed order, top down.
    Split,
    /// Bit-reversed to natural order, bottom up.
    Merge,
}

/// The powers that a network multiplies by: entry `j` of the table, or its inverse.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Factors<'a> {
    pub(crate) table: &'a [Scalar],
    pub(crate) inverse: bool,
}

impl Factors<'_> {
    /// The factor of block `j`. In `[2^k, 2^(k+1))` the exponents are symmetric: `rev(j) + rev(j ^ (2^k - 1)) = n`, and `g^n = -1`.
    #[inline]
    pub(crate) fn get(&self, j: usize) -> Scalar {
        match j.checked_ilog2() {
            Some(_) if self.inverse => -self.table[mirrored(j)],
            _ => self.table[j],
        }
    }
}

/// The entry that is minus the inverse of entry `j > 0`.
#[inline]
pub(crate) fn mirrored(j: usize) -> usize {
    j ^ ((1 << j.ilog2()) - 1)
}

#[cfg(target_arch = "x86_64")]
mod dispatch {
    use super::{Factors, Network, Scalar, ifma, network, pointwise};

    /// Two layers between four quarters, as far as their leading elements go: the number done. The factors are the upper
    /// block's, then those of its halves.
    pub(crate) fn quarters(network: Network, quarters: [&mut [Scalar]; 4], factors: &[Scalar; 3]) -> usize {
        if !ifma::is_available() {
            return 0;
        }
        // SAFETY: the processor has the instructions.
        unsafe {
            match network {
                Network::Split => network::quarters::<true>(quarters, factors),
                Network::Merge => network::quarters::<false>(quarters, factors),
            }
        }
    }

    /// All layers of a block that is in the cache, or none.
    pub(crate) fn block(network: Network, values: &mut [Scalar], node: usize, factors: &Factors<'_>) -> bool {
        if !ifma::is_available() || !network::takes_block(values.len()) {
            return false;
        }
        // SAFETY: the processor has the instructions.
        unsafe {
            match network {
                Network::Split => network::split_block(values, node, factors),
                Network::Merge => network::merge_block(values, node, factors),
            }
        }
        true
    }

    /// Multiplies leading values by their factors, and by the constant: the number done.
    pub(crate) fn multiply_each(
        values: &mut [Scalar],
        factors: &[Scalar],
        constant: Option<&Scalar>,
    ) -> usize {
        if !ifma::is_available() {
            return 0;
        }
        // SAFETY: the processor has the instructions.
        unsafe { pointwise::multiply_each(values, factors, constant) }
    }

    /// `sums[i]·of_sums - values[i]·factors[i]·of_values` into leading `sums`: the number done.
    pub(crate) fn combine_each(
        (sums, of_sums): (&mut [Scalar], &Scalar),
        (values, factors, of_values): (&[Scalar], &[Scalar], &Scalar),
    ) -> usize {
        if !ifma::is_available() {
            return 0;
        }
        // SAFETY: the processor has the instructions.
        unsafe { pointwise::combine_each((sums, of_sums), (values, factors, of_values)) }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod dispatch {
    use super::{Factors, Network, Scalar};

    pub(crate) fn quarters(_: Network, _: [&mut [Scalar]; 4], _: &[Scalar; 3]) -> usize {
        0
    }

    pub(crate) fn block(_: Network, _: &mut [Scalar], _: usize, _: &Factors<'_>) -> bool {
        false
    }

    pub(crate) fn multiply_each(_: &mut [Scalar], _: &[Scalar], _: Option<&Scalar>) -> usize {
        0
    }

    pub(crate) fn combine_each(_: (&mut [Scalar], &Scalar), _: (&[Scalar], &[Scalar], &Scalar)) -> usize {
        0
    }
}

pub(crate) use dispatch::{block, combine_each, multiply_each, quarters};
