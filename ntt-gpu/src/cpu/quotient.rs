//! The quotient of a product by the vanishing polynomial, by six transforms.

use blstrs::Scalar;
use ff::{Field, PrimeField};
use rayon::prelude::*;

use super::pointwise::{combine_each, multiply_each};
use super::{Ntt, kernels, twiddles};
use crate::domain::CHUNK;
use crate::poly::reverse;
use crate::{Error, Evaluations, Natural, Polynomial};

impl Ntt {
    /// The coefficients of `h = (a·b - c) / (x^n - 1)`, natural order, `n - 1` of them, where `c` has the values `a∘b`
    /// on the domain.
    ///
    /// ```text
    /// c      = a∘b
    /// c^     = iNTT(c)
    /// a', b' = cosetNTT(iNTT(a)), cosetNTT(iNTT(b))
    /// d^     = cosetiNTT(a'∘b')          (a·b mod x^n + 1)
    /// h      = (c^ - d^) / 2
    /// ```
    ///
    /// For `a·b = h·x^n + (c - h)`: modulo `x^n - 1` that is `c`, modulo `x^n + 1` it is `c - 2h`. Six transforms, no bit
    /// reversal between them, no division by the vanishing polynomial; scalings by `1/n` are merged into the last step.
    ///
    /// `a` and `b` are moved in, and one more vector of their size is allocated.
    pub fn quotient(
        &self,
        a: Polynomial<Evaluations, Natural>,
        b: Polynomial<Evaluations, Natural>,
    ) -> Result<Vec<Scalar>, Error> {
        self.check(a.domain())?;
        self.check(b.domain())?;
        // An error, not a fallback, where the coset does not exist.
        let inverse_generator = twiddles::inverse_generator(self.domain)?;
        let (mut a, mut b) = (a.into_values(), b.into_values());

        let mut c = Vec::with_capacity(a.len());
        c.par_extend(a.par_iter().copied());
        multiply_each(&mut c, &b, None);
        kernels::natural_to_reversed(&mut c, &self.twiddles, true);
        for values in [&mut a, &mut b] {
            kernels::natural_to_reversed(values, &self.twiddles, true);
            self.twiddles.scale_by_coset(values);
            kernels::reversed_to_natural(values, &self.twiddles, false);
        }
        multiply_each(&mut a, &b, None);
        kernels::natural_to_reversed(&mut a, &self.twiddles, true);

        // c holds n·c^, and a holds n³·g^j·d^_j, both bit-reversed; h overwrites b in natural order.
        let of_c = self.domain.size_inverse() * Scalar::TWO_INV;
        let of_d = of_c * self.domain.size_inverse().square();
        let bits = self.domain.log_size();
        let powers = std::iter::successors(Some(Scalar::ONE), |power| Some(power * inverse_generator));
        let powers: Vec<Scalar> = powers.take(CHUNK.min(b.len())).collect();
        b.par_chunks_mut(CHUNK).enumerate().for_each_init(Vec::new, |d, (k, chunk)| {
            let positions = (k * CHUNK..).take(chunk.len()).map(|j| reverse(j, bits));
            d.clear();
            for (h, position) in chunk.iter_mut().zip(positions) {
                *h = c[position];
                d.push(a[position]);
            }
            let of_d = of_d * inverse_generator.pow_vartime([(k * CHUNK) as u64]);
            combine_each((chunk, &of_c), (d, &powers, &of_d));
        });
        match b.pop() {
            Some(top) if bool::from(top.is_zero()) => Ok(b),
            _ => Err(Error::InexactQuotient { degree: self.domain.size() - 1 }),
        }
    }
}
