//! Bits in linear combinations, and the two ternary functions of SHA-256.

use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::{ConstraintSystem, LinearCombination, SynthesisError, Variable};
use ff::PrimeField;

/// What a [`Boolean`] lacks: adding itself to a linear combination that exists already.
///
/// `Boolean::lc` makes a combination of its own for each bit, which is then merged into another and freed. A circuit
/// of SHA-256 does so hundreds of millions of times.
pub trait BooleanExt {
    /// `lc + coeff · self`, where `one` is the constant ONE.
    fn add_to_lc<F: PrimeField>(
        &self,
        lc: LinearCombination<F>,
        one: Variable,
        coeff: F,
    ) -> LinearCombination<F>;

    /// `lc - coeff · self`, where `one` is the constant ONE.
    fn sub_from_lc<F: PrimeField>(
        &self,
        lc: LinearCombination<F>,
        one: Variable,
        coeff: F,
    ) -> LinearCombination<F> {
        self.add_to_lc(lc, one, -coeff)
    }
}

impl BooleanExt for Boolean {
    fn add_to_lc<F: PrimeField>(
        &self,
        lc: LinearCombination<F>,
        one: Variable,
        coeff: F,
    ) -> LinearCombination<F> {
        match self {
            Boolean::Constant(false) => lc,
            Boolean::Constant(true) => lc + (coeff, one),
            Boolean::Is(bit) => lc + (coeff, bit.get_variable()),
            Boolean::Not(bit) => lc + (coeff, one) - (coeff, bit.get_variable()),
        }
    }
}

/// A bit without a booleanity row: for results that other rows determine.
pub(crate) fn alloc_determined<F, CS>(
    cs: &mut CS,
    value: Option<bool>,
) -> Result<AllocatedBit, SynthesisError>
where
    F: PrimeField,
    CS: ConstraintSystem<F>,
{
    AllocatedBit::alloc(AllocationOnly(cs), value)
}

/// SHA-256's choice `(a and b) xor (not a and c)`: one variable and one row `(b - c) · a = ch - c`, less where operands
/// are constants.
pub fn choose<F, CS>(mut cs: CS, a: &Boolean, b: &Boolean, c: &Boolean) -> Result<Boolean, SynthesisError>
where
    F: PrimeField,
    CS: ConstraintSystem<F>,
{
    use Boolean::Constant;
    match (a, b, c) {
        (Constant(a), Constant(b), Constant(c)) => return Ok(Constant(if *a { *b } else { *c })),
        (Constant(false), _, c) => return Ok(c.clone()),
        (a, Constant(false), c) => return Boolean::and(cs, &a.not(), c),
        (a, b, Constant(false)) => return Boolean::and(cs, a, b),
        (a, b, Constant(true)) => return Ok(Boolean::and(cs, a, &b.not())?.not()),
        (a, Constant(true), c) => return Ok(Boolean::and(cs, &a.not(), &c.not())?.not()),
        // A constant true for `a` is not folded: production circuits spend a variable on it.
        _ => {}
    }
    let value = match (a.get_value(), b.get_value(), c.get_value()) {
        (Some(a), Some(b), Some(c)) => Some(if a { b } else { c }),
        _ => None,
    };
    let ch = alloc_determined(&mut cs, value)?;
    cs.enforce(
        || "ch computation",
        |lc| c.sub_from_lc(b.add_to_lc(lc, CS::one(), F::ONE), CS::one(), F::ONE),
        |lc| a.add_to_lc(lc, CS::one(), F::ONE),
        |lc| c.sub_from_lc(lc + ch.get_variable(), CS::one(), F::ONE),
    );
    Ok(ch.into())
}

/// SHA-256's majority `(a and b) xor (a and c) xor (b and c)`: the result's variable, then `bc = b and c`, then the row
/// `(2bc - b - c) · a = bc - maj`; less where operands are constants.
pub fn majority<F, CS>(mut cs: CS, a: &Boolean, b: &Boolean, c: &Boolean) -> Result<Boolean, SynthesisError>
where
    F: PrimeField,
    CS: ConstraintSystem<F>,
{
    use Boolean::Constant;
    match (a, b, c) {
        (Constant(a), Constant(b), Constant(c)) => return Ok(Constant((a & b) ^ (a & c) ^ (b & c))),
        (Constant(false), x, y) | (x, Constant(false), y) | (x, y, Constant(false)) => {
            return Boolean::and(cs, x, y);
        }
        (x, y, Constant(true)) | (x, Constant(true), y) | (Constant(true), x, y) => {
            return Ok(Boolean::and(cs, &x.not(), &y.not())?.not());
        }
        _ => {}
    }
    let value = match (a.get_value(), b.get_value(), c.get_value()) {
        (Some(a), Some(b), Some(c)) => Some((a & b) ^ (a & c) ^ (b & c)),
        _ => None,
    };
    let maj = alloc_determined(&mut cs, value)?;
    let bc = Boolean::and(cs.namespace(|| "b and c"), b, c)?;
    cs.enforce(
        || "maj computation",
        |lc| {
            let lc = bc.add_to_lc(lc, CS::one(), F::ONE.double());
            let lc = b.sub_from_lc(lc, CS::one(), F::ONE);
            c.sub_from_lc(lc, CS::one(), F::ONE)
        },
        |lc| a.add_to_lc(lc, CS::one(), F::ONE),
        |lc| bc.add_to_lc(lc, CS::one(), F::ONE) - maj.get_variable(),
    );
    Ok(maj.into())
}

/// Passes allocations on and drops rows. `AllocatedBit` can be made in no other way without its booleanity row.
struct AllocationOnly<'a, CS>(&'a mut CS);

impl<F: PrimeField, CS: ConstraintSystem<F>> ConstraintSystem<F> for AllocationOnly<'_, CS> {
    type Root = Self;

    fn alloc<V, A, AR>(&mut self, annotation: A, value: V) -> Result<Variable, SynthesisError>
    where
        V: FnOnce() -> Result<F, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.0.alloc(annotation, value)
    }

    fn alloc_input<V, A, AR>(&mut self, annotation: A, value: V) -> Result<Variable, SynthesisError>
    where
        V: FnOnce() -> Result<F, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.0.alloc_input(annotation, value)
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _annotation: A, _a: LA, _b: LB, _c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<F>) -> LinearCombination<F>,
        LB: FnOnce(LinearCombination<F>) -> LinearCombination<F>,
        LC: FnOnce(LinearCombination<F>) -> LinearCombination<F>,
    {
    }

    fn push_namespace<NR, N>(&mut self, name: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
        self.0.get_root().push_namespace(name);
    }

    fn pop_namespace(&mut self) {
        self.0.get_root().pop_namespace();
    }

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }
}
