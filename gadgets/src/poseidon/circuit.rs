//! The constraint side.

use std::mem;

use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;

use super::Constants;
use super::constants::SparseMatrix;

/// The hash of `preimage`.
///
/// # Errors
/// [`SynthesisError::IncompatibleLengthVector`] unless the preimage has as many elements as the instance has inputs.
pub fn hash<CS>(
    mut cs: CS,
    preimage: &[AllocatedNum<Scalar>],
    constants: &Constants,
) -> Result<AllocatedNum<Scalar>, SynthesisError>
where
    CS: ConstraintSystem<Scalar>,
{
    if preimage.len() != constants.arity {
        return Err(SynthesisError::IncompatibleLengthVector(format!(
            "Poseidon of arity {}: got {} inputs",
            constants.arity,
            preimage.len()
        )));
    }
    let mut keys = constants.round_keys.iter().copied();
    let mut state = first_round(cs.namespace(|| "first round"), preimage, constants, &mut keys)?;
    for i in 1..constants.half_full_rounds {
        let last = i + 1 == constants.half_full_rounds;
        let matrix = if last { &constants.pre_sparse } else { &constants.mds };
        let mut cs = cs.namespace(|| format!("initial full round {i}"));
        state.full_round(&mut cs, &mut keys)?;
        state.multiply(matrix);
    }
    for (i, matrix) in constants.sparse.iter().enumerate() {
        let mut cs = cs.namespace(|| format!("partial round {i}"));
        state.power(cs.namespace(|| "solitary quintic s-box"), 0, keys.next())?;
        state.multiply_sparse(matrix);
    }
    for i in 1..constants.half_full_rounds {
        let mut cs = cs.namespace(|| format!("final full round {}", i - 1));
        state.full_round(&mut cs, &mut keys)?;
        state.multiply(&constants.mds);
    }
    // No keys are left for the last round.
    state.full_round(&mut cs.namespace(|| "terminal full round"), &mut keys)?;
    let mut result = Element::product(&state.0, &constants.mds[1]);
    result.allocate(cs.namespace(|| "hash result"))
}

/// An element of the state: a linear combination of variables, and its value.
#[derive(Clone)]
struct Element {
    value: Option<Scalar>,
    lc: LinearCombination<Scalar>,
}

impl Element {
    fn constant(value: Scalar, one: Variable) -> Self {
        Self { value: Some(value), lc: LinearCombination::from_coeff(one, value) }
    }

    fn zero() -> Self {
        Self { value: Some(Scalar::ZERO), lc: LinearCombination::zero() }
    }

    fn add_scaled(&mut self, other: &Self, factor: Scalar) {
        self.value = self.value.zip(other.value).map(|(own, other)| own + other * factor);
        self.lc = mem::take(&mut self.lc) + (factor, &other.lc);
    }

    fn product(state: &[Self], column: &[Scalar]) -> Self {
        let mut sum = Self::zero();
        state.iter().zip(column).for_each(|(element, factor)| sum.add_scaled(element, *factor));
        sum
    }

    /// A variable of the element's value, with the row that says so. Takes the combination away.
    fn allocate<CS: ConstraintSystem<Scalar>>(
        &mut self,
        mut cs: CS,
    ) -> Result<AllocatedNum<Scalar>, SynthesisError> {
        let num = AllocatedNum::alloc(cs.namespace(|| "allocate for Elt::Num"), || {
            self.value.ok_or(SynthesisError::AssignmentMissing)
        })?;
        let lc = mem::take(&mut self.lc);
        cs.enforce(
            || "enforce num allocation preserves lc",
            |_| lc,
            |lc| lc + CS::one(),
            |lc| lc + num.get_variable(),
        );
        Ok(num)
    }
}

impl From<AllocatedNum<Scalar>> for Element {
    fn from(num: AllocatedNum<Scalar>) -> Self {
        Self { value: num.get_value(), lc: LinearCombination::from_variable(num.get_variable()) }
    }
}

struct State(Vec<Element>);

/// The first round's fifth powers, of the inputs with their keys added first; and the first matrix.
fn first_round<CS: ConstraintSystem<Scalar>>(
    mut cs: CS,
    preimage: &[AllocatedNum<Scalar>],
    constants: &Constants,
    keys: &mut impl Iterator<Item = Scalar>,
) -> Result<State, SynthesisError> {
    let pre: Vec<Scalar> = keys.by_ref().take(constants.width()).collect();
    let post: Vec<Scalar> = keys.take(constants.width()).collect();
    let mut elements = vec![Element::constant(constants.first_power(), CS::one())];
    for (i, input) in preimage.iter().enumerate() {
        let mut cs = cs.namespace(|| format!("quintic s-box {}", i + 1));
        let (pre, post) = (pre[i + 1], post[i + 1]);
        let sum = input.get_value().map(|input| input + pre);

        let l2 = AllocatedNum::alloc(cs.namespace(|| "(l+rk)^2"), || {
            sum.map(|sum| sum.square()).ok_or(SynthesisError::AssignmentMissing)
        })?;
        let keyed = |lc: LinearCombination<Scalar>| lc + input.get_variable() + (pre, CS::one());
        cs.enforce(|| "squared sum constraint", keyed, keyed, |lc| lc + l2.get_variable());
        let l4 = l2.square(cs.namespace(|| "l^4"))?;
        let l5 = AllocatedNum::alloc(cs.namespace(|| "l4 * (l + rk)"), || {
            let (sum, l4) = sum.zip(l4.get_value()).ok_or(SynthesisError::AssignmentMissing)?;
            Ok(sum * l4 + post)
        })?;
        cs.enforce(
            || "mul sum constraint pre-post-add",
            keyed,
            |lc| lc + l4.get_variable(),
            |lc| lc + l5.get_variable() + (-post, CS::one()),
        );
        elements.push(l5.into());
    }
    let mut state = State(elements);
    state.multiply(if constants.half_full_rounds == 1 { &constants.pre_sparse } else { &constants.mds });
    Ok(state)
}

impl State {
    fn full_round<CS: ConstraintSystem<Scalar>>(
        &mut self,
        cs: &mut CS,
        keys: &mut impl Iterator<Item = Scalar>,
    ) -> Result<(), SynthesisError> {
        (0..self.0.len())
            .try_for_each(|i| self.power(cs.namespace(|| format!("quintic s-box {i}")), i, keys.next()))
    }

    /// The fifth power of element `i`, plus a key, if there is one.
    fn power<CS>(&mut self, mut cs: CS, i: usize, key: Option<Scalar>) -> Result<(), SynthesisError>
    where
        CS: ConstraintSystem<Scalar>,
    {
        let l = self.0[i].allocate(cs.namespace(|| "S-box input"))?;
        let l2 = l.square(cs.namespace(|| "l^2"))?;
        let l4 = l2.square(cs.namespace(|| "l^4"))?;
        let l5 = AllocatedNum::alloc(cs.namespace(|| "(l4 * l) + rk)"), || {
            let (l, l4) = l.get_value().zip(l4.get_value()).ok_or(SynthesisError::AssignmentMissing)?;
            Ok(l * l4 + key.unwrap_or(Scalar::ZERO))
        })?;
        cs.enforce(
            || "mul sum constraint post-add",
            |lc| lc + l.get_variable(),
            |lc| lc + l4.get_variable(),
            |lc| {
                let lc = lc + l5.get_variable();
                key.map_or(lc.clone(), |key| lc + (-key, CS::one()))
            },
        );
        self.0[i] = l5.into();
        Ok(())
    }

    fn multiply(&mut self, columns: &[Vec<Scalar>]) {
        self.0 = columns.iter().map(|column| Element::product(&self.0, column)).collect();
    }

    fn multiply_sparse(&mut self, matrix: &SparseMatrix) {
        let first = Element::product(&self.0, &matrix.first_column);
        let Some((head, rest)) = self.0.split_first_mut() else { return };
        rest.iter_mut()
            .zip(&matrix.first_row)
            .for_each(|(element, factor)| element.add_scaled(head, *factor));
        *head = first;
    }
}
