//! The constraint side.

use bellpepper_core::boolean::Boolean;
use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use ff::PrimeField;

use super::{IV, K, padding};
use crate::multieq::MultiEq;
use crate::pack::{pack_bits, reverse_bit_numbering};
use crate::uint32::UInt32;

/// The chaining value: `h0` to `h7`.
pub type State = [UInt32; 8];

/// The digest of a message of whole bytes. Bits stand most significant first in each byte, in message and digest.
///
/// # Errors
/// [`SynthesisError::IncompatibleLengthVector`] for a message that ends inside a byte.
pub fn sha256<F, CS>(mut cs: CS, message: &[Boolean]) -> Result<Vec<Boolean>, SynthesisError>
where
    F: PrimeField,
    CS: ConstraintSystem<F>,
{
    if !message.len().is_multiple_of(8) {
        return Err(SynthesisError::IncompatibleLengthVector(format!(
            "SHA-256 takes whole bytes, got {} bits",
            message.len()
        )));
    }
    let padding = padding(message.len() / 8);
    let padding =
        padding.iter().flat_map(|byte| (0..8).rev().map(move |i| Boolean::Constant((byte >> i) & 1 == 1)));
    let padded: Vec<Boolean> = message.iter().cloned().chain(padding).collect();

    let mut state = IV.map(UInt32::constant);
    let (blocks, _) = padded.as_chunks::<512>();
    for (i, block) in blocks.iter().enumerate() {
        state = compress(cs.namespace(|| format!("block {i}")), block, &state)?;
    }
    Ok(state.iter().flat_map(UInt32::to_bits_be).collect())
}

/// A digest's bits, in the order that [`sha256`] returns them, least significant first as a little-endian number.
pub fn digest_bits(digest: Vec<Boolean>) -> Vec<Boolean> {
    reverse_bit_numbering(digest)
}

/// A digest as a number: little-endian, without the two bits above the field's capacity. One variable, one row.
pub fn pack_digest<CS>(cs: CS, digest: Vec<Boolean>) -> Result<AllocatedNum<Scalar>, SynthesisError>
where
    CS: ConstraintSystem<Scalar>,
{
    pack_bits(cs, &digest_bits(digest))
}

/// What the next round's `a` and `e` are the sums of. The sums are taken when they are needed: the last ones
/// are added to the chaining value without variables of their own.
struct Round {
    h: UInt32,
    big_sigma1: UInt32,
    ch: UInt32,
    k: UInt32,
    w: UInt32,
    d: UInt32,
    big_sigma0: UInt32,
    maj: UInt32,
}

impl Round {
    fn e<'a>(&'a self, more: &[&'a UInt32]) -> Vec<&'a UInt32> {
        let own = [&self.h, &self.big_sigma1, &self.ch, &self.k, &self.w, &self.d];
        own.into_iter().chain(more.iter().copied()).collect()
    }

    fn a<'a>(&'a self, more: &[&'a UInt32]) -> Vec<&'a UInt32> {
        let own = [&self.h, &self.big_sigma1, &self.ch, &self.k, &self.w, &self.big_sigma0, &self.maj];
        own.into_iter().chain(more.iter().copied()).collect()
    }
}

/// The compression function: the next chaining value after one block, most significant bit of each byte first.
pub fn compress<F, CS>(cs: CS, block: &[Boolean; 512], state: &State) -> Result<State, SynthesisError>
where
    F: PrimeField,
    CS: ConstraintSystem<F>,
{
    let mut cs = MultiEq::new(cs);
    let w = schedule(&mut cs, block)?;

    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state.clone();
    let mut last: Option<Round> = None;
    for (i, (k, w)) in K.iter().zip(w).enumerate() {
        let mut cs = cs.namespace(|| format!("compression round {i}"));
        if let Some(last) = &last {
            e = UInt32::addmany(cs.namespace(|| "deferred e computation"), &last.e(&[]))?;
        }
        let big_sigma1 = e.rotr(6).xor(cs.namespace(|| "first xor for s1"), &e.rotr(11))?;
        let big_sigma1 = big_sigma1.xor(cs.namespace(|| "second xor for s1"), &e.rotr(25))?;
        let ch = UInt32::ch(cs.namespace(|| "ch"), &e, &f, &g)?;
        if let Some(last) = &last {
            a = UInt32::addmany(cs.namespace(|| "deferred a computation"), &last.a(&[]))?;
        }
        let big_sigma0 = a.rotr(2).xor(cs.namespace(|| "first xor for s0"), &a.rotr(13))?;
        let big_sigma0 = big_sigma0.xor(cs.namespace(|| "second xor for s0"), &a.rotr(22))?;
        let maj = UInt32::maj(cs.namespace(|| "maj"), &a, &b, &c)?;

        last = Some(Round { h, big_sigma1, ch, k: UInt32::constant(*k), w, d, big_sigma0, maj });
        (h, g, f) = (g, f, e.clone());
        (d, c, b) = (c, b, a.clone());
    }
    // After the last round (h, g, f) and (d, c, b) have moved on; `last` holds what a and e become.
    let last = last.ok_or(SynthesisError::Unsatisfiable)?;
    Ok([
        UInt32::addmany(cs.namespace(|| "deferred h0 computation"), &last.a(&[&state[0]]))?,
        UInt32::addmany(cs.namespace(|| "new h1"), &[&state[1], &b])?,
        UInt32::addmany(cs.namespace(|| "new h2"), &[&state[2], &c])?,
        UInt32::addmany(cs.namespace(|| "new h3"), &[&state[3], &d])?,
        UInt32::addmany(cs.namespace(|| "deferred h4 computation"), &last.e(&[&state[4]]))?,
        UInt32::addmany(cs.namespace(|| "new h5"), &[&state[5], &f])?,
        UInt32::addmany(cs.namespace(|| "new h6"), &[&state[6], &g])?,
        UInt32::addmany(cs.namespace(|| "new h7"), &[&state[7], &h])?,
    ])
}

/// The 64 words of the message schedule.
fn schedule<F, CS>(cs: &mut MultiEq<F, CS>, block: &[Boolean; 512]) -> Result<Vec<UInt32>, SynthesisError>
where
    F: PrimeField,
    CS: ConstraintSystem<F>,
{
    let (words, _) = block.as_chunks::<32>();
    let mut w: Vec<UInt32> = words.iter().map(UInt32::from_bits_be).collect();
    for i in 16..64 {
        let mut cs = cs.namespace(|| format!("w extension {i}"));
        let from = &w[i - 15];
        let sigma0 = from.rotr(7).xor(cs.namespace(|| "first xor for s0"), &from.rotr(18))?;
        let sigma0 = sigma0.xor(cs.namespace(|| "second xor for s0"), &from.shr(3))?;
        let from = &w[i - 2];
        let sigma1 = from.rotr(17).xor(cs.namespace(|| "first xor for s1"), &from.rotr(19))?;
        let sigma1 = sigma1.xor(cs.namespace(|| "second xor for s1"), &from.shr(10))?;
        let operands = [&w[i - 16], &sigma0, &w[i - 7], &sigma1];
        let next = UInt32::addmany(cs.namespace(|| "computation of w[i]"), &operands)?;
        w.push(next);
    }
    Ok(w)
}
