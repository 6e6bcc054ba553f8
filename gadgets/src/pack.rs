//! Bits to numbers.

use assignment::WitnessSink;
use bellpepper_core::boolean::Boolean;
use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::PrimeField;

use crate::boolean::BooleanExt;

/// The number `Σ 2^i · bit_i` over at most the field's capacity of bits (254); further bits are ignored.
///
/// One variable, one row `(Σ 2^i · bit_i) · 1 = num`, even of no bits at all.
pub fn pack_bits<F, CS>(mut cs: CS, bits: &[Boolean]) -> Result<AllocatedNum<F>, SynthesisError>
where
    F: PrimeField,
    CS: ConstraintSystem<F>,
{
    let bits = &bits[..bits.len().min(F::CAPACITY as usize)];
    let num = AllocatedNum::alloc(cs.namespace(|| "input"), || packed_value(bits))?;
    cs.enforce(
        || "packing constraint",
        |lc| packed_lc(lc, CS::one(), bits),
        |lc| lc + CS::one(),
        |lc| lc + num.get_variable(),
    );
    Ok(num)
}

/// Exposes bits as public inputs, the field's capacity of bits (254) in each: one input and one row
/// `(Σ 2^i · bit_i) · 1 = input` for each chunk.
pub fn pack_into_inputs<F, CS>(mut cs: CS, bits: &[Boolean]) -> Result<(), SynthesisError>
where
    F: PrimeField,
    CS: ConstraintSystem<F>,
{
    for (i, bits) in bits.chunks(F::CAPACITY as usize).enumerate() {
        let input = cs.alloc_input(|| format!("input {i}"), || packed_value(bits))?;
        cs.enforce(
            || format!("packing constraint {i}"),
            |lc| packed_lc(lc, CS::one(), bits),
            |lc| lc + CS::one(),
            |lc| lc + input,
        );
    }
    Ok(())
}

/// The values of [`pack_bits`] of a digest's little-endian bits: the digest as a number, without the two bits above the
/// field's capacity.
pub fn pack_digest_witness(sink: &mut impl WitnessSink<Scalar>, digest: [u8; 32]) -> Scalar {
    let num = digest_to_scalar(digest);
    sink.element(num);
    num
}

/// A digest as a little-endian number, without its two highest bits.
pub fn digest_to_scalar(mut digest: [u8; 32]) -> Scalar {
    digest[31] &= 0x3f;
    // The modulus exceeds 2^254, so that the value is canonical and the default is never taken.
    Option::from(Scalar::from_bytes_le(&digest)).unwrap_or_default()
}

/// From the order of a number, least significant bit first, to that of a byte string, most significant bit of each byte first,
/// and back. A partial last byte is first filled with constant zeros.
pub fn reverse_bit_numbering(mut bits: Vec<Boolean>) -> Vec<Boolean> {
    bits.resize(bits.len().next_multiple_of(8), Boolean::Constant(false));
    bits.chunks_exact_mut(8).for_each(<[_]>::reverse);
    bits
}

fn packed_value<F: PrimeField>(bits: &[Boolean]) -> Result<F, SynthesisError> {
    let bits = bits.iter().rev();
    bits.into_iter().try_fold(F::ZERO, |value, bit| {
        let bit = bit.get_value().ok_or(SynthesisError::AssignmentMissing)?;
        Ok(value.double() + if bit { F::ONE } else { F::ZERO })
    })
}

fn packed_lc<F: PrimeField>(
    mut lc: LinearCombination<F>,
    one: Variable,
    bits: &[Boolean],
) -> LinearCombination<F> {
    let mut coeff = F::ONE;
    for bit in bits {
        lc = bit.add_to_lc(lc, one, coeff);
        coeff = coeff.double();
    }
    lc
}
