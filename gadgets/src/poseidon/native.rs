//! The native side.

use assignment::WitnessSink;
use blstrs::Scalar;
use ff::Field;

use super::Constants;

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
    Ok(match constants.width() {
        3 => permute::<3>(sink, preimage, constants),
        5 => permute::<5>(sink, preimage, constants),
        9 => permute::<9>(sink, preimage, constants),
        _ => permute::<12>(sink, preimage, constants),
    })
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
    constants: &Constants,
) -> Scalar {
    let mut keys = constants.round_keys.iter();
    let pre = keys.by_ref().take(W);
    let mut state = [Scalar::ZERO; W];
    state[0] = constants.first_power();
    let inputs = preimage.iter().zip(pre.skip(1));
    let sums: Vec<Scalar> = inputs.map(|(input, key)| input + key).collect();
    for ((element, sum), key) in state[1..].iter_mut().zip(&sums).zip(keys.by_ref().take(W).skip(1)) {
        let l2 = sum.square();
        let l4 = l2.square();
        *element = l4 * sum + key;
        sink.elements(&[l2, l4, *element]);
    }
    let half = constants.half_full_rounds;
    state = multiply(&state, &constants.mds);
    for i in 1..half {
        full_round(sink, &mut state, &mut keys);
        state = multiply(&state, if i + 1 == half { &constants.pre_sparse } else { &constants.mds });
    }
    for matrix in &constants.sparse {
        state[0] = power(sink, state[0], keys.next());
        let head = state[0];
        let next = dot(&state, &matrix.first_column);
        for (element, factor) in state[1..].iter_mut().zip(&matrix.first_row) {
            *element += head * factor;
        }
        state[0] = next;
    }
    for _ in 1..half {
        full_round(sink, &mut state, &mut keys);
        state = multiply(&state, &constants.mds);
    }
    full_round(sink, &mut state, &mut keys);
    let result = dot(&state, &constants.mds[1]);
    sink.element(result);
    result
}

fn full_round<'a, const W: usize>(
    sink: &mut impl WitnessSink<Scalar>,
    state: &mut [Scalar; W],
    keys: &mut impl Iterator<Item = &'a Scalar>,
) {
    state.iter_mut().for_each(|element| *element = power(sink, *element, keys.next()));
}

#[inline(always)]
fn power(sink: &mut impl WitnessSink<Scalar>, l: Scalar, key: Option<&Scalar>) -> Scalar {
    let l2 = l.square();
    let l4 = l2.square();
    let mut l5 = l4 * l;
    if let Some(key) = key {
        l5 += key;
    }
    sink.elements(&[l, l2, l4, l5]);
    l5
}

fn multiply<const W: usize>(state: &[Scalar; W], columns: &[Vec<Scalar>]) -> [Scalar; W] {
    let mut out = [Scalar::ZERO; W];
    out.iter_mut().zip(columns).for_each(|(out, column)| *out = dot(state, column));
    out
}

fn dot(a: &[Scalar], b: &[Scalar]) -> Scalar {
    a.iter().zip(b).fold(Scalar::ZERO, |sum, (a, b)| sum + a * b)
}
