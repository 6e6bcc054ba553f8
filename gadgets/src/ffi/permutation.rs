//! The permutation, in the rounds of [`hash`](crate::poseidon::hash), eight times at once.

use blstrs::Scalar;

use super::LANES;
use super::lanes::{Factor, Lanes, Sum};
use crate::poseidon::{LimbsOf52, VectorTables};

/// Where values go: each lane's at the same place of its own stretch.
struct Out<'a> {
    values: &'a mut [Scalar],
    stride: usize,
    next: usize,
}

impl Out<'_> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn push(&mut self, element: &Lanes) {
        element.store(self.values, self.next, self.stride);
        self.next += 1;
    }
}

/// # Panics
/// If `out` has less room than eight permutations have values, or a preimage has fewer than `W - 1` elements.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
pub(super) fn permute<const W: usize>(
    preimages: &[&[Scalar]; LANES],
    tables: &VectorTables<W>,
    out: &mut [Scalar],
) {
    let stride = out.len() / LANES;
    let mut out = Out { values: out, stride, next: 0 };
    let mut state = [Lanes::common(&tables.first_power); W];
    let [pre, post] = &tables.first_keys;
    for i in 1..W {
        let input = Lanes::load(preimages.map(|preimage| &preimage[i - 1]));
        let l = input.plus(&Lanes::common(&pre[i])).carried().element();
        state[i] = powers(&mut out, &l, &post[i]);
    }
    state = multiply(&state, &tables.mds);
    for round in &tables.initial_rounds {
        full_round(&mut out, &mut state, &round.keys);
        state = multiply(&state, &round.columns);
    }
    for round in &tables.partial_rounds {
        // The products without the first element need not wait for its fifth power.
        let rest = products(Sum::zero(), &state[1..], &round.first_column[1..]);
        let head = power(&mut out, &state[0], &round.key);
        state[0] = products(rest, &[head], &round.first_column[..1]).reduce().settled();
        for (element, factor) in state[1..].iter_mut().zip(&round.first_row[1..]) {
            let product = Sum::zero().add_product(&head, &Factor::common(factor)).reduce();
            *element = product.plus(element).settled();
        }
    }
    for round in &tables.final_rounds {
        full_round(&mut out, &mut state, &round.keys);
        state = multiply(&state, &round.columns);
    }
    full_round(&mut out, &mut state, &[[0; 5]; W]);
    let result = products(Sum::zero(), &state, &tables.mds[1]).reduce().settled();
    out.push(&result.element());
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn full_round<const W: usize>(out: &mut Out<'_>, state: &mut [Lanes; W], keys: &[LimbsOf52; W]) {
    for (element, key) in state.iter_mut().zip(keys) {
        *element = power(out, element, key);
    }
}

/// The fifth power plus `key`. Pushes the number and its powers.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn power(out: &mut Out<'_>, settled: &Lanes, key: &LimbsOf52) -> Lanes {
    let l = settled.element();
    out.push(&l);
    powers(out, &l, key)
}

/// The fifth power of an element plus `key`. Pushes the powers alone.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn powers(out: &mut Out<'_>, l: &Lanes, key: &LimbsOf52) -> Lanes {
    let factor = l.factor();
    let l2 = Sum::zero().add_product(l, &factor).reduce().element();
    out.push(&l2);
    let l4 = Sum::zero().add_product(&l2, &l2.factor()).reduce().element();
    out.push(&l4);
    let l5 = Sum::zero().add_product(&l4, &factor).reduce();
    let keyed = l5.plus(&Lanes::common(key)).settled().element();
    out.push(&keyed);
    keyed
}

/// The state times a matrix. Of twelve products of numbers below 1.1 the reduced sum is below 7.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn multiply<const W: usize>(state: &[Lanes; W], columns: &[[LimbsOf52; W]; W]) -> [Lanes; W] {
    const { assert!(W <= 12) };
    let mut out = *state;
    for (element, column) in out.iter_mut().zip(columns) {
        *element = products(Sum::zero(), state, column).reduce().settled();
    }
    out
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn products(mut sum: Sum, numbers: &[Lanes], factors: &[LimbsOf52]) -> Sum {
    for (number, factor) in numbers.iter().zip(factors) {
        sum = sum.add_product(number, &Factor::common(factor));
    }
    sum
}
