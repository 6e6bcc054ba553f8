//! The circuit of whole-proof comparisons: a chain of SHA-256 compressions, with field multiplications beside each.
//!
//! Public are the first and the last chaining value; each block's message is secret. A block also squares a field element
//! [`SQUARES`] times, so that some 98 % of all values are bits and the rest are dense, as in Filecoin's PoRep.

use std::convert::Infallible;

use assignment::{CircuitId, NativeWitness, StructuredCircuit, WitnessSink};
use bellpepper_core::{
    ConstraintSystem, LinearCombination, SynthesisError, Variable, boolean::Boolean, num::AllocatedNum,
};
use blake2b_simd::Params;
use blstrs::Scalar;
use ff::{Field, PrimeField};
use gadgets::{
    boolean::BooleanExt,
    sha256::{compress, compress_witness},
    uint32::UInt32,
};
use rand_core::RngCore;
use sha2::digest::{generic_array::GenericArray, typenum::U64};

/// Squarings beside each block.
const SQUARES: usize = 500;
/// Rows of a block, and of what is there once: the two public chaining values, the input rows.
const BLOCK_ROWS: usize = 27_464;
const OTHER_ROWS: usize = 9;

/// SHA-256's chaining value.
type Words = [u32; 8];
/// A chaining value as two field elements of 128 bits, the low word first.
type Halves<T> = [T; 2];

/// A chain with its secret blocks.
#[derive(Clone, Debug)]
pub struct Chain {
    first: Words,
    blocks: Vec<[u32; 16]>,
}

/// The variables of the chaining values before each block and after the last, and their values.
pub struct States {
    variables: Vec<Halves<Variable>>,
    values: Vec<Words>,
}

impl Chain {
    /// A chain of random blocks.
    pub fn random(blocks: usize, rng: &mut impl RngCore) -> Self {
        let blocks = (0..blocks).map(|_| std::array::from_fn(|_| rng.next_u32())).collect();
        Self { first: std::array::from_fn(|_| rng.next_u32()), blocks }
    }

    /// The blocks of the longest chain that fits a domain of `2^log_n` rows; `None` where not even one does.
    pub fn blocks_within(log_n: u32) -> Option<usize> {
        let blocks = ((1usize << log_n) - OTHER_ROWS) / BLOCK_ROWS;
        (blocks > 0).then_some(blocks)
    }

    /// All chaining values, one after another: the one part of the witness that takes its time in sequence.
    fn states(&self) -> Vec<Words> {
        let next = |state: &mut Words, block: &[u32; 16]| {
            let mut bytes = GenericArray::<u8, U64>::default();
            let (words, _) = bytes.as_chunks_mut::<4>();
            words.iter_mut().zip(block).for_each(|(bytes, word)| *bytes = word.to_be_bytes());
            sha2::compress256(state, &[bytes]);
            Some(*state)
        };
        std::iter::once(self.first).chain(self.blocks.iter().scan(self.first, next)).collect()
    }
}

fn halves(words: &Words) -> Halves<Scalar> {
    let half = |words: &[u32]| words.iter().rev().fold(0, |half, word| half << 32 | u128::from(*word));
    [half(&words[..4]), half(&words[4..])].map(Scalar::from_u128)
}

/// That a half is made of these words: one row.
fn pack<CS: ConstraintSystem<Scalar>>(cs: &mut CS, words: &[UInt32], half: Variable) {
    let mut sum = LinearCombination::zero();
    let mut weight = Scalar::ONE;
    for bit in words.iter().flat_map(UInt32::bits) {
        sum = bit.add_to_lc(sum, CS::one(), weight);
        weight = weight.double();
    }
    cs.enforce(|| "a half of a chaining value", |_| sum, |lc| lc + CS::one(), |lc| lc + half);
}

impl StructuredCircuit<Scalar> for Chain {
    type Prefix = States;

    fn id(&self) -> CircuitId {
        let definition = format!("chained SHA-256, {} blocks, {SQUARES} squares each", self.blocks.len());
        let mut digest = [0; 32];
        digest.copy_from_slice(Params::new().hash_length(32).hash(definition.as_bytes()).as_bytes());
        CircuitId::new(format!("chain-{}", self.blocks.len()), digest)
    }

    fn units(&self) -> usize {
        self.blocks.len()
    }

    fn synthesize_prefix<CS: ConstraintSystem<Scalar>>(&self, cs: &mut CS) -> Result<States, SynthesisError> {
        let values = self.states();
        let mut variables = Vec::with_capacity(values.len());
        for words in &values {
            let [low, high] = halves(words).map(|half| cs.alloc(|| "half", || Ok(half)));
            variables.push([low?, high?]);
        }
        let ends =
            variables.first().zip(values.first()).into_iter().chain(variables.last().zip(values.last()));
        for (variables, words) in ends {
            for (variable, value) in variables.iter().zip(halves(words)) {
                let input = cs.alloc_input(|| "public half", || Ok(value))?;
                cs.enforce(|| "public", |lc| lc + *variable, |lc| lc + CS::one(), |lc| lc + input);
            }
        }
        Ok(States { variables, values })
    }

    fn bindings(&self, prefix: &States, unit: usize) -> Vec<Variable> {
        prefix.variables[unit..unit + 2].concat()
    }

    fn synthesize_unit<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
        prefix: &States,
        unit: usize,
    ) -> Result<(), SynthesisError> {
        let ([before, after], words) = ([unit, unit + 1].map(|i| prefix.variables[i]), prefix.values[unit]);
        let mut alloc = |word: &u32| UInt32::alloc(cs.namespace(|| "word"), Some(*word));
        let state = words.iter().map(&mut alloc).collect::<Result<Vec<_>, _>>()?;
        let block = self.blocks[unit].iter().map(&mut alloc).collect::<Result<Vec<_>, _>>()?;
        state.chunks(4).zip(before).for_each(|(words, half)| pack(cs, words, half));

        let bits: Vec<Boolean> = block.iter().flat_map(UInt32::to_bits_be).collect();
        let length =
            || SynthesisError::IncompatibleLengthVector("a block has 512 bits, a state 8 words".into());
        let (bits, state) = bits.try_into().ok().zip(state.try_into().ok()).ok_or_else(length)?;
        let next = compress(cs.namespace(|| "compression"), &bits, &state)?;
        next.chunks(4).zip(after).for_each(|(words, half)| pack(cs, words, half));

        let (mut x, mut value) = (before[0], halves(&words)[0]);
        for _ in 0..SQUARES {
            value = value.square();
            let square = AllocatedNum::alloc(cs.namespace(|| "square"), || Ok(value))?.get_variable();
            cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + square);
            x = square;
        }
        Ok(())
    }
}

impl NativeWitness<Scalar> for Chain {
    type Context = Vec<Words>;
    type Error = Infallible;

    fn prefix_witness<S: WitnessSink<Scalar>>(&self, sink: &mut S) -> Result<Vec<Words>, Infallible> {
        let states = self.states();
        states.iter().for_each(|words| sink.elements(&halves(words)));
        for words in states.first().into_iter().chain(states.last()) {
            halves(words).into_iter().for_each(|half| sink.input(half));
        }
        Ok(states)
    }

    fn unit_witness<S: WitnessSink<Scalar>>(
        &self,
        states: &Vec<Words>,
        unit: usize,
        sink: &mut S,
    ) -> Result<(), Infallible> {
        let (state, block) = (&states[unit], &self.blocks[unit]);
        state.iter().chain(block).for_each(|word| sink.bits(u64::from(*word), 32));
        compress_witness(sink, state, block);
        let squares = std::iter::successors(Some(halves(state)[0].square()), |x| Some(x.square()));
        squares.take(SQUARES).for_each(|square| sink.element(square));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use assignment::{PackedWitness, ProvingAssignment, native_witness};
    use r1cs::CompiledCircuit;
    use rand_core::OsRng;

    use super::*;

    #[test]
    fn the_native_witness_is_the_classic_one_and_satisfies_the_circuit() {
        for blocks in [1, 2, 5] {
            let chain = Chain::random(blocks, &mut OsRng);
            let native = native_witness(&chain).unwrap();
            let mut classic = ProvingAssignment::with_hint(None);
            chain.synthesize_all(&mut classic).unwrap();
            assert_eq!(classic.first_unsatisfied(), None);
            let vectors = classic.into_vectors();
            let classic = PackedWitness::from_assignment(vectors.inputs, &vectors.aux).unwrap();
            assert_eq!(native.first_difference(&classic), None, "{blocks} blocks");
            assert_eq!(CompiledCircuit::compile(&chain).unwrap().check(&native), Ok(()));
            // From now on the sizes are known.
            assert_eq!(native_witness(&chain).unwrap().first_difference(&native), None);
        }
    }

    #[test]
    fn the_last_chaining_value_is_sha256() {
        // Two blocks of a message without its padding, from SHA-256's first chaining value.
        let first =
            [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
        let mut padded = [0; 16];
        padded[..2].copy_from_slice(&[u32::from_be_bytes(*b"abc\x80"), 0]);
        padded[15] = 24;
        let digest = Chain { first, blocks: vec![padded] }.states()[1];
        assert_eq!(digest[..2], [0xba7816bf, 0x8f01cfea]);
    }

    #[test]
    fn rows_are_as_counted_and_most_values_are_bits() {
        for blocks in [1, 3] {
            let chain = Chain::random(blocks, &mut OsRng);
            let compiled = CompiledCircuit::compile(&chain).unwrap();
            assert_eq!(compiled.num_rows(), OTHER_ROWS + blocks * BLOCK_ROWS);
            let witness = native_witness(&chain).unwrap();
            let bits = 1.0 - witness.dense_values().len() as f64 / witness.num_aux() as f64;
            assert!((0.975..0.99).contains(&bits), "{bits}");
        }
    }

    #[test]
    fn a_domain_is_filled_as_far_as_whole_blocks_go() {
        assert_eq!(Chain::blocks_within(14), None);
        for log_n in [18, 20, 22, 24] {
            let blocks = Chain::blocks_within(log_n).unwrap();
            let rows = |blocks| OTHER_ROWS + blocks * BLOCK_ROWS;
            assert!(rows(blocks) <= 1 << log_n && rows(blocks + 1) > 1 << log_n);
        }
    }

    #[test]
    fn a_wrong_link_is_found() {
        let chain = Chain::random(3, &mut OsRng);
        let compiled = CompiledCircuit::compile(&chain).unwrap();
        let witness = native_witness(&chain).unwrap();
        let (inputs, mut aux) = witness.to_assignment();
        // The low half between the first block and the second.
        aux[2] += Scalar::ONE;
        let wrong = PackedWitness::from_assignment(inputs, &aux).unwrap();
        assert!(compiled.check(&wrong).is_err());
    }
}
