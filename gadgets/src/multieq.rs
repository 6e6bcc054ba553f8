//! Many equations between small numbers, packed into few rows.

use bellpepper_core::boolean::Boolean;
use bellpepper_core::{ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use ff::PrimeField;

/// A constraint system that also collects equations between numbers of known bit length, and enforces
/// several of them in one row `lhs · 1 = rhs` by shifting each beyond the bits of the ones before it.
///
/// The row is emitted when the next equation would reach the field's capacity, and on drop.
pub struct MultiEq<F: PrimeField, CS: ConstraintSystem<F>> {
    cs: CS,
    rows: usize,
    bits_used: usize,
    /// `2^bits_used`, the factor of the next equation.
    shift: F,
    lhs: Terms<F>,
    rhs: Terms<F>,
}

impl<F: PrimeField, CS: ConstraintSystem<F>> MultiEq<F, CS> {
    /// Collects equations on top of `cs`.
    pub fn new(cs: CS) -> Self {
        Self { cs, rows: 0, bits_used: 0, shift: F::ONE, lhs: Terms::default(), rhs: Terms::default() }
    }

    /// Adds the equation `Σ left = Σ right` where each item is a number of bits, least significant first, and either
    /// side is below `2^num_bits`.
    ///
    /// # Errors
    /// [`SynthesisError::PolynomialDegreeTooLarge`] if `num_bits` alone reaches the field's capacity.
    pub fn enforce_equal<'a>(
        &mut self,
        num_bits: usize,
        left: impl IntoIterator<Item = &'a [Boolean]>,
        right: &[Boolean],
    ) -> Result<(), SynthesisError> {
        let capacity = F::CAPACITY as usize;
        if num_bits >= capacity {
            return Err(SynthesisError::PolynomialDegreeTooLarge);
        }
        if self.bits_used + num_bits >= capacity {
            self.flush();
        }
        for number in left {
            self.lhs.add_number(number, self.shift);
        }
        self.rhs.add_number(right, self.shift);
        self.bits_used += num_bits;
        for _ in 0..num_bits {
            self.shift = self.shift.double();
        }
        Ok(())
    }

    fn flush(&mut self) {
        let (rows, lhs, rhs) = (self.rows, &mut self.lhs, &mut self.rhs);
        self.cs.enforce(
            || format!("multieq {rows}"),
            |lc| lhs.drain_into(lc, CS::one()),
            |lc| lc + CS::one(),
            |lc| rhs.drain_into(lc, CS::one()),
        );
        // A witness-only system evaluates no closure.
        self.lhs.clear();
        self.rhs.clear();
        self.bits_used = 0;
        self.shift = F::ONE;
        self.rows += 1;
    }
}

impl<F: PrimeField, CS: ConstraintSystem<F>> Drop for MultiEq<F, CS> {
    fn drop(&mut self) {
        if self.bits_used > 0 {
            self.flush();
        }
    }
}

/// A linear combination under construction. Operands arrive in arbitrary order, and inserting each into a sorted
/// `LinearCombination` of a thousand terms would move half of it: terms are sorted once instead.
struct Terms<F> {
    aux: Vec<(usize, F)>,
    inputs: Vec<(usize, F)>,
    constant: F,
    has_constant: bool,
}

impl<F: PrimeField> Default for Terms<F> {
    fn default() -> Self {
        Self { aux: Vec::new(), inputs: Vec::new(), constant: F::ZERO, has_constant: false }
    }
}

impl<F: PrimeField> Terms<F> {
    fn add_number(&mut self, bits: &[Boolean], mut coeff: F) {
        for bit in bits {
            match bit {
                Boolean::Constant(false) => {}
                Boolean::Constant(true) => self.add_constant(coeff),
                Boolean::Is(bit) => self.add(bit.get_variable(), coeff),
                Boolean::Not(bit) => {
                    self.add_constant(coeff);
                    self.add(bit.get_variable(), -coeff);
                }
            }
            coeff = coeff.double();
        }
    }

    fn add(&mut self, variable: Variable, coeff: F) {
        match variable.get_unchecked() {
            Index::Aux(index) => self.aux.push((index, coeff)),
            Index::Input(index) => self.inputs.push((index, coeff)),
        }
    }

    fn add_constant(&mut self, coeff: F) {
        self.constant += coeff;
        self.has_constant = true;
    }

    fn drain_into(&mut self, mut lc: LinearCombination<F>, one: Variable) -> LinearCombination<F> {
        if self.has_constant {
            lc = lc + (self.constant, one);
        }
        for (terms, index) in
            [(&mut self.inputs, Index::Input as fn(usize) -> Index), (&mut self.aux, Index::Aux)]
        {
            // Ascending indices reach the combination's end, where insertion moves nothing.
            terms.sort_unstable_by_key(|term| term.0);
            for (i, coeff) in terms.drain(..) {
                lc = lc + (coeff, Variable::new_unchecked(index(i)));
            }
        }
        lc
    }

    fn clear(&mut self) {
        self.aux.clear();
        self.inputs.clear();
        self.constant = F::ZERO;
        self.has_constant = false;
    }
}

impl<F: PrimeField, CS: ConstraintSystem<F>> ConstraintSystem<F> for MultiEq<F, CS> {
    type Root = Self;

    fn one() -> Variable {
        CS::one()
    }

    fn alloc<V, A, AR>(&mut self, annotation: A, value: V) -> Result<Variable, SynthesisError>
    where
        V: FnOnce() -> Result<F, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.cs.alloc(annotation, value)
    }

    fn alloc_input<V, A, AR>(&mut self, annotation: A, value: V) -> Result<Variable, SynthesisError>
    where
        V: FnOnce() -> Result<F, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.cs.alloc_input(annotation, value)
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, annotation: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<F>) -> LinearCombination<F>,
        LB: FnOnce(LinearCombination<F>) -> LinearCombination<F>,
        LC: FnOnce(LinearCombination<F>) -> LinearCombination<F>,
    {
        self.cs.enforce(annotation, a, b, c);
    }

    fn push_namespace<NR, N>(&mut self, name: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
        self.cs.get_root().push_namespace(name);
    }

    fn pop_namespace(&mut self) {
        self.cs.get_root().pop_namespace();
    }

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }
}
