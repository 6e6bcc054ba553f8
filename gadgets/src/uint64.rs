//! A 64-bit number made of allocated bits.

use assignment::WitnessSink;
use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::{ConstraintSystem, SynthesisError};
use ff::PrimeField;

use crate::pack::pack_into_inputs;

/// 64 allocated bits.
#[derive(Clone, Debug)]
pub struct UInt64 {
    /// Least significant bit first.
    bits: Vec<Boolean>,
    value: Option<u64>,
}

impl UInt64 {
    /// Allocates the bits, least significant first: 64 variables, 64 booleanity rows.
    pub fn alloc<F, CS>(mut cs: CS, value: Option<u64>) -> Result<Self, SynthesisError>
    where
        F: PrimeField,
        CS: ConstraintSystem<F>,
    {
        let bits = (0..64)
            .map(|i| {
                let bit = value.map(|value| (value >> i) & 1 == 1);
                AllocatedBit::alloc(cs.namespace(|| format!("allocated bit {i}")), bit).map(Boolean::from)
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { bits, value })
    }

    /// The number's value, where known.
    pub fn get_value(&self) -> Option<u64> {
        self.value
    }

    /// The bits, least significant first.
    pub fn bits(&self) -> &[Boolean] {
        &self.bits
    }

    /// The bits, most significant first.
    pub fn to_bits_be(&self) -> impl Iterator<Item = Boolean> + '_ {
        self.bits.iter().rev().cloned()
    }

    /// Exposes the number as one public input, with one row.
    pub fn pack_into_input<F, CS>(&self, cs: CS) -> Result<(), SynthesisError>
    where
        F: PrimeField,
        CS: ConstraintSystem<F>,
    {
        pack_into_inputs(cs, &self.bits)
    }
}

/// The values of [`UInt64::alloc`].
pub fn alloc_witness<F: PrimeField>(sink: &mut impl WitnessSink<F>, value: u64) {
    sink.bits(value, 64);
}

/// The values of [`UInt64::pack_into_input`].
pub fn pack_into_input_witness<F: PrimeField>(sink: &mut impl WitnessSink<F>, value: u64) {
    sink.input(F::from(value));
}
