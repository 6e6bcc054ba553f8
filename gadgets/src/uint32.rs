//! 32-bit words made of [`Boolean`]s.

use std::array;

use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::{ConstraintSystem, SynthesisError};
use ff::PrimeField;

use crate::boolean::{choose, majority};
use crate::multieq::MultiEq;

/// A 32-bit word, each bit a constant or a variable.
#[derive(Clone, Debug)]
pub struct UInt32 {
    /// Least significant bit first.
    bits: [Boolean; 32],
    value: Option<u32>,
}

impl UInt32 {
    /// A constant.
    pub fn constant(value: u32) -> Self {
        Self { bits: array::from_fn(|i| Boolean::Constant((value >> i) & 1 == 1)), value: Some(value) }
    }

    /// Allocates 32 bits, least significant first: 32 variables, 32 booleanity rows.
    pub fn alloc<F, CS>(mut cs: CS, value: Option<u32>) -> Result<Self, SynthesisError>
    where
        F: PrimeField,
        CS: ConstraintSystem<F>,
    {
        let bits = (0..32)
            .map(|i| {
                let bit = value.map(|value| (value >> i) & 1 == 1);
                AllocatedBit::alloc(cs.namespace(|| format!("allocated bit {i}")), bit).map(Boolean::from)
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self { bits: exactly_32(bits)?, value })
    }

    /// A word from its bits, most significant first.
    pub fn from_bits_be(bits: &[Boolean; 32]) -> Self {
        let bits: [Boolean; 32] = array::from_fn(|i| bits[31 - i].clone());
        let value =
            bits.iter().rev().try_fold(0u32, |word, bit| bit.get_value().map(|bit| (word << 1) | bit as u32));
        Self { bits, value }
    }

    /// The bits, most significant first.
    pub fn to_bits_be(&self) -> impl Iterator<Item = Boolean> + '_ {
        self.bits.iter().rev().cloned()
    }

    /// The bits, least significant first.
    pub fn bits(&self) -> &[Boolean; 32] {
        &self.bits
    }

    /// The word's value, where known.
    pub fn get_value(&self) -> Option<u32> {
        self.value
    }

    /// Rotation to the right by `by` bits.
    pub fn rotr(&self, by: usize) -> Self {
        Self {
            bits: array::from_fn(|i| self.bits[(i + by) % 32].clone()),
            value: self.value.map(|v| v.rotate_right(by as u32 % 32)),
        }
    }

    /// Shift to the right by `by` bits, filled with constant zeros.
    pub fn shr(&self, by: usize) -> Self {
        let bits = array::from_fn(|i| self.bits.get(i + by).cloned().unwrap_or(Boolean::Constant(false)));
        Self { bits, value: self.value.map(|v| v.checked_shr(by as u32).unwrap_or(0)) }
    }

    /// Bitwise exclusive or.
    pub fn xor<F, CS>(&self, mut cs: CS, other: &Self) -> Result<Self, SynthesisError>
    where
        F: PrimeField,
        CS: ConstraintSystem<F>,
    {
        let bits = self.bits.iter().zip(&other.bits).enumerate();
        let bits = bits.map(|(i, (a, b))| Boolean::xor(cs.namespace(|| format!("xor of bit {i}")), a, b));
        let bits = exactly_32(bits.collect::<Result<_, _>>()?)?;
        Ok(Self { bits, value: self.value.zip(other.value).map(|(a, b)| a ^ b) })
    }

    /// Bitwise [`choose`]: `b` where `a` is one, `c` where it is zero.
    pub fn ch<F, CS>(cs: CS, a: &Self, b: &Self, c: &Self) -> Result<Self, SynthesisError>
    where
        F: PrimeField,
        CS: ConstraintSystem<F>,
    {
        Self::ternary(
            cs,
            [a, b, c],
            |a, b, c| (a & b) ^ (!a & c),
            |cs, i, a, b, c| choose(cs.namespace(|| format!("ch {i}")), a, b, c),
        )
    }

    /// Bitwise [`majority`].
    pub fn maj<F, CS>(cs: CS, a: &Self, b: &Self, c: &Self) -> Result<Self, SynthesisError>
    where
        F: PrimeField,
        CS: ConstraintSystem<F>,
    {
        Self::ternary(
            cs,
            [a, b, c],
            |a, b, c| (a & b) ^ (a & c) ^ (b & c),
            |cs, i, a, b, c| majority(cs.namespace(|| format!("maj {i}")), a, b, c),
        )
    }

    fn ternary<CS>(
        mut cs: CS,
        [a, b, c]: [&Self; 3],
        on_words: impl Fn(u32, u32, u32) -> u32,
        on_bits: impl Fn(&mut CS, usize, &Boolean, &Boolean, &Boolean) -> Result<Boolean, SynthesisError>,
    ) -> Result<Self, SynthesisError> {
        let value = match (a.value, b.value, c.value) {
            (Some(a), Some(b), Some(c)) => Some(on_words(a, b, c)),
            _ => None,
        };
        let bits = a.bits.iter().zip(&b.bits).zip(&c.bits).enumerate();
        let bits = bits.map(|(i, ((a, b), c))| on_bits(&mut cs, i, a, b, c));
        Ok(Self { bits: exactly_32(bits.collect::<Result<_, _>>()?)?, value })
    }

    /// The sum modulo `2^32` of 2 to 10 words.
    ///
    /// Of constants alone, a constant. Otherwise all bits of the sum, carries included, are allocated, least significant
    /// first, and one equation goes to the [`MultiEq`].
    ///
    /// # Errors
    /// [`SynthesisError::Unsatisfiable`] for another number of operands.
    pub fn addmany<F, CS, M>(mut cs: M, operands: &[&Self]) -> Result<Self, SynthesisError>
    where
        F: PrimeField,
        CS: ConstraintSystem<F>,
        M: ConstraintSystem<F, Root = MultiEq<F, CS>>,
    {
        if !(2..=10).contains(&operands.len()) {
            return Err(SynthesisError::Unsatisfiable);
        }
        let sum =
            operands.iter().try_fold(0u64, |sum, operand| operand.value.map(|value| sum + u64::from(value)));
        if let Some(sum) = sum
            && operands.iter().all(|operand| operand.bits.iter().all(Boolean::is_constant))
        {
            return Ok(Self::constant(sum as u32));
        }
        let num_bits = sum_bits(operands.len());
        let bits = (0..num_bits)
            .map(|i| {
                let bit = sum.map(|sum| (sum >> i) & 1 == 1);
                AllocatedBit::alloc(cs.namespace(|| format!("result bit {i}")), bit).map(Boolean::from)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let operands = operands.iter().map(|operand| operand.bits.as_slice());
        cs.get_root().enforce_equal(num_bits as usize, operands, &bits)?;
        Ok(Self { bits: exactly_32(bits)?, value: sum.map(|sum| sum as u32) })
    }
}

/// The bit length of the largest sum of `operands` 32-bit words.
pub(crate) const fn sum_bits(operands: usize) -> u32 {
    u64::BITS - (operands as u64 * u32::MAX as u64).leading_zeros()
}

/// The first 32 of some bits.
fn exactly_32(mut bits: Vec<Boolean>) -> Result<[Boolean; 32], SynthesisError> {
    bits.truncate(32);
    bits.try_into().map_err(|bits: Vec<_>| {
        SynthesisError::IncompatibleLengthVector(format!("a word has 32 bits, got {}", bits.len()))
    })
}
