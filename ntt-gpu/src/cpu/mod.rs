//! Transforms on the CPU, parallel with rayon.

mod kernels;
mod pointwise;
mod quotient;
mod twiddles;

use blstrs::Scalar;
use rayon::prelude::*;

use crate::domain::CHUNK;
use crate::{Coefficients, CosetEvaluations, Domain, Error, Evaluations, Order, Polynomial};
use twiddles::Twiddles;

/// A domain with its twiddle factors (`n/2` field elements), ready to transform.
///
/// Every transform works in place and flips the order: natural goes in and bit-reversed comes out, or the other
/// way round; [`Polynomial::reorder`] restores an order where one is needed. Values are [`Scalar`]s, that is, Montgomery form.
#[derive(Debug, Clone)]
pub struct Ntt {
    domain: Domain,
    twiddles: Twiddles,
}

impl Ntt {
    /// Computes the twiddle factors of `domain`.
    pub fn new(domain: Domain) -> Self {
        Self { domain, twiddles: Twiddles::new(domain) }
    }

    /// The domain.
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// Coefficients to values: `X_k = Σ_j x_j ω^(jk)`.
    pub fn forward<O: Order>(
        &self,
        mut poly: Polynomial<Coefficients, O>,
    ) -> Result<Polynomial<Evaluations, O::Flipped>, Error> {
        self.check(poly.domain())?;
        self.transform::<O>(poly.values_mut(), false);
        Ok(poly.relabel())
    }

    /// Values to coefficients: `x_j = (1/n) Σ_k X_k ω^(-jk)`.
    pub fn inverse<O: Order>(
        &self,
        mut poly: Polynomial<Evaluations, O>,
    ) -> Result<Polynomial<Coefficients, O::Flipped>, Error> {
        self.check(poly.domain())?;
        self.transform::<O>(poly.values_mut(), true);
        let scale = self.domain.size_inverse();
        poly.values_mut().par_iter_mut().with_min_len(CHUNK).for_each(|value| *value *= scale);
        Ok(poly.relabel())
    }

    /// Coefficients to values on the coset: `X_k = Σ_j x_j (g ω^k)^j`.
    pub fn coset_forward<O: Order>(
        &self,
        mut poly: Polynomial<Coefficients, O>,
    ) -> Result<Polynomial<CosetEvaluations, O::Flipped>, Error> {
        self.check(poly.domain())?;
        let generator = self.domain.coset_generator()?;
        if O::REVERSED {
            self.twiddles.scale_by_coset(poly.values_mut());
        } else {
            scale_by_powers(poly.values_mut(), Scalar::from(1), generator);
        }
        self.transform::<O>(poly.values_mut(), false);
        Ok(poly.relabel())
    }

    /// Values on the coset to coefficients: `x_j = (g^-j / n) Σ_k X_k ω^(-jk)`.
    pub fn coset_inverse<O: Order>(
        &self,
        mut poly: Polynomial<CosetEvaluations, O>,
    ) -> Result<Polynomial<Coefficients, O::Flipped>, Error> {
        self.check(poly.domain())?;
        let inverse = twiddles::inverse_generator(self.domain)?;
        self.transform::<O>(poly.values_mut(), true);
        let scale = self.domain.size_inverse();
        if O::REVERSED {
            // The transform flipped the order: these are natural now.
            scale_by_powers(poly.values_mut(), scale, inverse);
        } else {
            self.twiddles.scale_by_inverse_coset(poly.values_mut(), scale);
        }
        Ok(poly.relabel())
    }

    /// Unscaled transform of `values`, with `ω` or `ω^-1`, from order `O` to its flip.
    fn transform<O: Order>(&self, values: &mut [Scalar], inverse: bool) {
        if O::REVERSED {
            kernels::reversed_to_natural(values, &self.twiddles, inverse);
        } else {
            kernels::natural_to_reversed(values, &self.twiddles, inverse);
        }
    }

    fn check(&self, domain: Domain) -> Result<(), Error> {
        if domain != self.domain {
            return Err(Error::Length {
                what: "polynomial of another domain",
                expected: self.domain.size(),
                got: domain.size(),
            });
        }
        Ok(())
    }
}

/// Multiplies element `i` by `scale * base^i`.
fn scale_by_powers(values: &mut [Scalar], scale: Scalar, base: Scalar) {
    use ff::Field;
    values.par_chunks_mut(CHUNK).enumerate().for_each(|(k, chunk)| {
        let mut power = scale * base.pow_vartime([(k * CHUNK) as u64]);
        for value in chunk {
            *value *= power;
            power *= base;
        }
    });
}
