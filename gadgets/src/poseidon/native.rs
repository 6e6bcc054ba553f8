//! The native side.

use super::Constants;
use super::limbs::{Limbs, dot_add, limbs, scalar};
use super::tables::{BothTables, Tables, WidthTables};
use crate::ffi::{self, LANES};
use assignment::WitnessSink;
use blstrs::Scalar;
use ff::Field;

/// A preimage of another length than the instance has inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Poseidon takes {expected} inputs, got {got}")]
pub struct WrongPreimage {
    /// The instance's arity.
    pub expected: usize,
    /// The elements given.
    pub got: usize,
}

/// The hash of `preimage`.
pub fn hash_value(preimage: &[Scalar], constants: &Constants) -> Result<Scalar, WrongPreimage> {
    hash_witness(&mut Discard, preimage, constants)
}

/// The values of [`hash`](super::hash), and the hash.
pub fn hash_witness(
    sink: &mut impl WitnessSink<Scalar>,
    preimage: &[Scalar],
    constants: &Constants,
) -> Result<Scalar, WrongPreimage> {
    if preimage.len() != constants.arity {
        return Err(WrongPreimage { expected: constants.arity, got: preimage.len() });
    }
    Ok(match constants.tables() {
        Tables::Width3(tables) => permute(sink, preimage, &tables.one),
        Tables::Width5(tables) => permute(sink, preimage, &tables.one),
        Tables::Width9(tables) => permute(sink, preimage, &tables.one),
        Tables::Width12(tables) => permute(sink, preimage, &tables.one),
    })
}

/// How many preimages [`hash_witness_each`] takes best.
pub const AT_ONCE: usize = LANES;
/// Fewer permutations than this are made one by one.
const WORTHWHILE: usize = 3;

/// [`hash_witness`] of several preimages, each into its own sink: up to eight at a time where the processor has AVX-512's 52-bit
/// multiply-add, which then take hardly longer than one.
///
/// # Errors
/// Those of [`hash_witness`], with nothing pushed.
pub fn hash_witness_each<S: WitnessSink<Scalar>>(
    sinks: &mut [S],
    preimages: &[&[Scalar]],
    constants: &Constants,
) -> Result<Vec<Scalar>, WrongPreimage> {
    if let Some(wrong) = preimages.iter().find(|preimage| preimage.len() != constants.arity) {
        return Err(WrongPreimage { expected: constants.arity, got: wrong.len() });
    }
    let mut results = Vec::with_capacity(preimages.len());
    let mut values = vec![];
    for (sinks, preimages) in sinks.chunks_mut(LANES).zip(preimages.chunks(LANES)) {
        let several = preimages.len() >= WORTHWHILE
            && match constants.tables() {
                Tables::Width3(tables) => several(preimages, tables, constants, &mut values),
                Tables::Width5(tables) => several(preimages, tables, constants, &mut values),
                Tables::Width9(tables) => several(preimages, tables, constants, &mut values),
                Tables::Width12(tables) => several(preimages, tables, constants, &mut values),
            };
        if several {
            for (sink, values) in sinks.iter_mut().zip(values.chunks(constants.variables())) {
                sink.elements(values);
                results.extend(values.last());
            }
        } else {
            for (sink, preimage) in sinks.iter_mut().zip(preimages) {
                results.push(hash_witness(sink, preimage, constants)?);
            }
        }
    }
    Ok(results)
}

/// The values of up to eight permutations, one after another. `false` where the processor does not make several at a time.
fn several<const W: usize>(
    preimages: &[&[Scalar]],
    tables: &BothTables<W>,
    constants: &Constants,
    values: &mut Vec<Scalar>,
) -> bool {
    // Lanes that nobody wants repeat the last preimage.
    let Some(last) = preimages.last() else { return false };
    let lanes = std::array::from_fn(|lane| *preimages.get(lane).unwrap_or(last));
    values.resize(LANES * constants.variables(), Scalar::ZERO);
    ffi::permute(&lanes, &tables.several, values)
}

/// Takes a witness that nobody wants.
struct Discard;

impl WitnessSink<Scalar> for Discard {
    #[inline(always)]
    fn bits(&mut self, _word: u64, _n: u32) {}

    #[inline(always)]
    fn element(&mut self, _value: Scalar) {}

    #[inline(always)]
    fn elements(&mut self, _values: &[Scalar]) {}

    #[inline(always)]
    fn input(&mut self, _value: Scalar) {}
}

/// The permutation of width `W`, in the rounds of [`hash`](super::hash).
fn permute<const W: usize>(
    sink: &mut impl WitnessSink<Scalar>,
    preimage: &[Scalar],
    tables: &WidthTables<W, Limbs>,
) -> Scalar {
    let mut state = [tables.first_power; W];
    let [pre, post] = &tables.first_keys;
    for (((element, input), pre), post) in state[1..].iter_mut().zip(preimage).zip(&pre[1..]).zip(&post[1..])
    {
        let sum = limbs(&(input + scalar(*pre)));
        let [_, powers @ ..] = powers(&sum, post);
        *element = powers[2];
        sink.elements(&powers.map(scalar));
    }
    state = multiply(&state, &tables.mds);
    for round in &tables.initial_rounds {
        full_round(sink, &mut state, &round.keys);
        state = multiply(&state, &round.columns);
    }
    for round in &tables.partial_rounds {
        let head = power(sink, &state[0], &round.key);
        state[0] = head;
        let first = dot_add(&state, &round.first_column, &ZERO);
        for (element, factor) in state[1..].iter_mut().zip(&round.first_row[1..]) {
            *element = dot_add(&[head], &[*factor], element);
        }
        state[0] = first;
    }
    for round in &tables.final_rounds {
        full_round(sink, &mut state, &round.keys);
        state = multiply(&state, &round.columns);
    }
    full_round(sink, &mut state, &[ZERO; W]);
    let result = scalar(dot_add(&state, &tables.mds[1], &ZERO));
    sink.element(result);
    result
}

const ZERO: Limbs = [0; 4];

fn full_round<const W: usize>(
    sink: &mut impl WitnessSink<Scalar>,
    state: &mut [Limbs; W],
    keys: &[Limbs; W],
) {
    state.iter_mut().zip(keys).for_each(|(element, key)| *element = power(sink, element, key));
}

#[inline(always)]
fn power(sink: &mut impl WitnessSink<Scalar>, l: &Limbs, key: &Limbs) -> Limbs {
    let powers = powers(l, key);
    sink.elements(&powers.map(scalar));
    powers[3]
}

/// `l`, its square, its fourth power, and its fifth power plus `key`.
#[inline(always)]
fn powers(l: &Limbs, key: &Limbs) -> [Limbs; 4] {
    let l2 = dot_add(&[*l], &[*l], &ZERO);
    let l4 = dot_add(&[l2], &[l2], &ZERO);
    [*l, l2, l4, dot_add(&[l4], &[*l], key)]
}

fn multiply<const W: usize>(state: &[Limbs; W], columns: &[[Limbs; W]; W]) -> [Limbs; W] {
    columns.each_ref().map(|column| dot_add(state, column, &ZERO))
}
