//! Allocation of values that a blank circuit lacks.

use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{ConstraintSystem, SynthesisError};
use blstrs::Scalar;

/// A variable; without a value in a blank circuit.
pub(crate) fn alloc<CS>(cs: CS, value: Option<Scalar>) -> Result<AllocatedNum<Scalar>, SynthesisError>
where
    CS: ConstraintSystem<Scalar>,
{
    AllocatedNum::alloc(cs, || value.ok_or(SynthesisError::AssignmentMissing))
}

/// A variable that equals the next public input.
pub(crate) fn alloc_input<CS>(
    cs: &mut CS,
    name: &'static str,
    value: Option<Scalar>,
) -> Result<AllocatedNum<Scalar>, SynthesisError>
where
    CS: ConstraintSystem<Scalar>,
{
    let num = alloc(cs.namespace(|| name), value)?;
    num.inputize(cs.namespace(|| format!("{name}_input")))?;
    Ok(num)
}
