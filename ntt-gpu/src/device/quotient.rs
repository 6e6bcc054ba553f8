//! The quotient of a product by the vanishing polynomial, without leaving the device.

use blstrs::Scalar;
use bytemuck::Zeroable;
use ff::{Field, PrimeField};
use gpu::{Fr, Stream};

use super::{Ntt, Polynomial, Transform, Way};
use crate::ffi::{self, Load, Store};
use crate::{Coefficients, Error, Evaluations, Order};

impl Ntt {
    /// The coefficients of `h = (a·b - c) / (x^n - 1)`, natural order, `n` of them with the last one zero, where `c` has the
    /// values `a∘b` on the domain. See [`crate::cpu::Ntt::quotient`] for the formula.
    ///
    /// Six transforms; products and constants are merged into their first and last passes. Beside `a` and `b` one vector
    /// is allocated, and a second one if they come in natural order and memory is [ample](super::Memory::Ample). Waits for
    /// the device.
    ///
    /// # Errors
    /// [`Error::InexactQuotient`] when the last coefficient is not zero.
    pub fn quotient<O: Order>(
        &self,
        stream: &Stream,
        a: Polynomial<Evaluations, O>,
        b: Polynomial<Evaluations, O>,
    ) -> Result<Polynomial<Coefficients>, Error> {
        self.check(a.domain())?;
        self.check(b.domain())?;
        let (mut a, mut b) = (a.into_buffer(), b.into_buffer());
        let passes = 0..self.passes();
        // Every transform to coefficients goes bottom up, into natural order; the one between top down, into bit-reversed.
        let mut first = Way { bottom_up: true, reorder: !O::REVERSED };
        if first.reorder && self.memory.permutes_in_place() {
            for values in [&mut a, &mut b] {
                ffi::reverse(stream, &values.write(stream)?, self.domain.log_size())?;
            }
            first = Way::BOTTOM_UP;
        }

        let mut c = self.like(stream, if b.is_wiped_on_release() { &b } else { &a })?;
        {
            let factor = b.read(stream)?;
            let transform = Transform { load: Load::Product(&factor), ..Transform::INVERSE };
            self.run(stream, &transform, first, passes.clone(), Some(&a), &mut c)?;
        }
        if first.reorder {
            let mut to = self.like(stream, &a)?;
            self.run(stream, &Transform::INVERSE, first, passes.clone(), Some(&a), &mut to)?;
            if b.is_wiped_on_release() {
                a = a.wipe_on_release();
            }
            self.run(stream, &Transform::INVERSE, first, passes.clone(), Some(&b), &mut a)?;
            (a, b) = (to, a);
        } else {
            for values in [&mut a, &mut b] {
                self.run(stream, &Transform::INVERSE, first, passes.clone(), None, values)?;
            }
        }
        for values in [&mut a, &mut b] {
            self.run(stream, &Transform::COSET_FORWARD, Way::TOP_DOWN, passes.clone(), None, values)?;
        }

        // c holds n·c^; a and b hold n·a' and n·b'; the last transform would leave n³·d^.
        let of_c = self.size_inverse * Scalar::TWO_INV;
        let of_d = of_c * self.size_inverse.square();
        {
            let (factor, minuend) = (b.read(stream)?, c.read(stream)?);
            let store = Store::Difference { minuend: &minuend, of_minuend: Fr(of_c), of_element: Fr(of_d) };
            let transform = Transform { load: Load::Product(&factor), store, ..Transform::COSET_INVERSE };
            self.run(stream, &transform, Way::BOTTOM_UP, passes, None, &mut a)?;
        }
        let degree = self.domain.size() - 1;
        let mut top = [Fr::zeroed()];
        a.download_into(stream, degree, &mut top)?;
        if !bool::from(top[0].0.is_zero()) {
            return Err(Error::InexactQuotient { degree });
        }
        Polynomial::new(self.domain, a)
    }
}
