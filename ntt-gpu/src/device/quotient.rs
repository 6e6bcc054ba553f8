//! The quotient of a product by the vanishing polynomial, without leaving the device.

use blstrs::Scalar;
use bytemuck::Zeroable;
use ff::{Field, PrimeField};
use gpu::{Fr, Stream};

use super::{Direction, Ntt, Polynomial};
use crate::ffi::{Load, Store};
use crate::{BitReversed, Coefficients, Error, Evaluations, Order};

/// Every transform of the quotient to coefficients is one of these two, from bit-reversed to natural order.
const TO_COEFFICIENTS: Direction = Direction { inverse: true, coset: false };
const COSET_TO_COEFFICIENTS: Direction = Direction { inverse: true, coset: true };
const TO_COSET: Direction = Direction { inverse: false, coset: true };

impl Ntt {
    /// The coefficients of `h = (a·b - c) / (x^n - 1)`, natural order, `n` of them with the last one zero, where `c` has the
    /// values `a∘b` on the domain. See [`crate::cpu::Ntt::quotient`] for the formula.
    ///
    /// Six transforms; products and constants are merged into their first and last passes. One vector is allocated beside `a`
    /// and `b`. Values in natural order are first brought into bit-reversed order, one pass each; a producer that can write
    /// them so saves that. Waits for the device.
    ///
    /// # Errors
    /// [`Error::InexactQuotient`] when the last coefficient is not zero.
    pub fn quotient<O: Order>(
        &self,
        stream: &Stream,
        a: Polynomial<Evaluations, O>,
        b: Polynomial<Evaluations, O>,
    ) -> Result<Polynomial<Coefficients>, Error> {
        let (mut a, mut b) =
            (self.reversed(stream, a)?.into_buffer(), self.reversed(stream, b)?.into_buffer());
        let mut c = a.pool().allocate::<Fr>(self.domain.size(), stream)?;
        if a.is_wiped_on_release() || b.is_wiped_on_release() {
            c = c.wipe_on_release();
        }
        {
            let factor = b.read(stream)?;
            let load = Load::Product(&factor);
            self.transform(stream, true, TO_COEFFICIENTS, load, Store::Plain, Some(&a), &mut c)?;
        }
        for values in [&mut a, &mut b] {
            self.transform(stream, true, TO_COEFFICIENTS, Load::Plain, Store::Plain, None, values)?;
            self.transform(stream, false, TO_COSET, Load::Plain, Store::Plain, None, values)?;
        }
        // c holds n·c^; a and b hold n·a' and n·b'; the last transform would leave n³·d^.
        let of_c = self.size_inverse * Scalar::TWO_INV;
        let of_d = of_c * self.size_inverse.square();
        {
            let (factor, minuend) = (b.read(stream)?, c.read(stream)?);
            let load = Load::Product(&factor);
            let store = Store::Difference { minuend: &minuend, of_minuend: Fr(of_c), of_element: Fr(of_d) };
            self.transform(stream, true, COSET_TO_COEFFICIENTS, load, store, None, &mut a)?;
        }
        let degree = self.domain.size() - 1;
        let mut top = [Fr::zeroed()];
        a.download_into(stream, degree, &mut top)?;
        if !bool::from(top[0].0.is_zero()) {
            return Err(Error::InexactQuotient { degree });
        }
        Polynomial::new(self.domain, a)
    }

    fn reversed<O: Order>(
        &self,
        stream: &Stream,
        poly: Polynomial<Evaluations, O>,
    ) -> Result<Polynomial<Evaluations, BitReversed>, Error> {
        self.check(poly.domain())?;
        if O::REVERSED { Ok(poly.relabel()) } else { self.reorder(stream, poly).map(Polynomial::relabel) }
    }
}
