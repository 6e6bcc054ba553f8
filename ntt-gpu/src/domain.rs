//! Multiplicative subgroups of two-power order and their cosets.

use blstrs::Scalar;
use ff::{Field, PrimeField};
use rayon::prelude::*;

use crate::Error;

/// A multiplicative subgroup `H = {1, ω, ω², …, ω^(n-1)}` of the scalar field, with `n = 2^log_size` and at most `2^32`.
///
/// `ω = ROOT_OF_UNITY^(2^(32 - log_size))`, the convention of bellman and its descendants. The coset used here is `g·H` with
/// `g` the primitive `2n`-th root of unity of the same family, so that `g² = ω` and `x^n = -1` on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Domain {
    log_size: u32,
}

impl Domain {
    /// The largest `log_size`: the field's two-adicity.
    pub const MAX_LOG_SIZE: u32 = Scalar::S;

    /// The domain of size `2^log_size`.
    pub fn new(log_size: u32) -> Result<Self, Error> {
        if log_size > Self::MAX_LOG_SIZE {
            return Err(Error::DomainTooLarge { log_size, two_adicity: Self::MAX_LOG_SIZE });
        }
        Ok(Self { log_size })
    }

    /// The smallest domain with at least `len` elements.
    pub fn covering(len: usize) -> Result<Self, Error> {
        len.checked_next_power_of_two()
            .map(|size| size.trailing_zeros())
            .filter(|log_size| *log_size <= Self::MAX_LOG_SIZE)
            .map(|log_size| Self { log_size })
            .ok_or(Error::TooManyValues { len, two_adicity: Self::MAX_LOG_SIZE })
    }

    /// `log2` of the number of elements.
    pub fn log_size(&self) -> u32 {
        self.log_size
    }

    /// The number of elements, `n`.
    pub fn size(&self) -> usize {
        1 << self.log_size
    }

    /// `ω`, a primitive `n`-th root of unity.
    pub fn root(&self) -> Scalar {
        root_of_unity(self.log_size)
    }

    /// `g`, a primitive `2n`-th root of unity with `g² = ω`; its coset is where [`coset`](crate::CosetEvaluations) values live.
    pub fn coset_generator(&self) -> Result<Scalar, Error> {
        if self.log_size == Self::MAX_LOG_SIZE {
            return Err(Error::NoCoset { log_size: self.log_size });
        }
        Ok(root_of_unity(self.log_size + 1))
    }

    /// `1/n`.
    pub fn size_inverse(&self) -> Scalar {
        Scalar::TWO_INV.pow_vartime([u64::from(self.log_size)])
    }

    /// The vanishing polynomial `t(x) = x^n - 1`, whose roots are the domain.
    pub fn vanishing_at(&self, x: &Scalar) -> Scalar {
        (0..self.log_size).fold(*x, |power, _| power.square()) - Scalar::ONE
    }

    /// All Lagrange polynomials at `x`, natural order: `L_i(x) = (ω^i / n) · (x^n - 1) / (x - ω^i)`.
    ///
    /// For `x` in the domain that is the unit vector of its position.
    pub fn lagrange_at(&self, x: &Scalar) -> Vec<Scalar> {
        let root = self.root();
        let vanishing = self.vanishing_at(x);
        let scale = vanishing * self.size_inverse();
        let mut out = vec![Scalar::ZERO; self.size()];
        out.par_chunks_mut(CHUNK).enumerate().for_each(|(k, chunk)| {
            let start = root.pow_vartime([(k * CHUNK) as u64]);
            let powers = std::iter::successors(Some(start), |power| Some(power * root));
            if bool::from(vanishing.is_zero()) {
                for (value, power) in chunk.iter_mut().zip(powers) {
                    *value = if power == *x { Scalar::ONE } else { Scalar::ZERO };
                }
                return;
            }
            // Montgomery's trick: products of all earlier denominators, one inversion, then back.
            let numerators: Vec<Scalar> = powers.take(chunk.len()).collect();
            let mut product = Scalar::ONE;
            for (value, power) in chunk.iter_mut().zip(&numerators) {
                *value = product;
                product *= x - power;
            }
            // No factor is zero, since x is outside the domain.
            let mut inverse = product.invert().unwrap_or(Scalar::ZERO) * scale;
            for (value, power) in chunk.iter_mut().zip(&numerators).rev() {
                *value *= inverse * power;
                inverse *= x - power;
            }
        });
        out
    }
}

/// Elements that one task treats, where a task starts from a power of its own.
pub(crate) const CHUNK: usize = 1 << 12;

/// The primitive `2^log_order`-th root of unity; `log_order` is at most 32.
fn root_of_unity(log_order: u32) -> Scalar {
    (log_order..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square())
}
