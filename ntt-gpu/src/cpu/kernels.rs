//! The two butterfly networks. Neither permutes: one flips natural to bit-reversed order, the other flips it back.
//!
//! Both walk the same binary tree depth first, so that a block is finished while it is in the cache: layers whose blocks
//! exceed it are done two at a time (radix 4), the others one at a time. Every block of a layer has one twiddle factor.

use blstrs::Scalar;
use rayon::prelude::*;

use super::twiddles::Twiddles;

/// Blocks up to this many elements (32 bytes each) are transformed layer by layer: they fit the first-level caches.
const IN_CACHE: usize = 1 << 10;
/// Blocks above this many elements are worth several tasks.
const PARALLEL: usize = 1 << 13;
/// Elements of each quarter that one task of a parallel pass treats.
const PASS_CHUNK: usize = 1 << 11;

/// Natural to bit-reversed order: polynomials modulo `x^m - z²` split into those modulo `x^(m/2) ∓ z`, top down.
pub(super) fn natural_to_reversed(values: &mut [Scalar], twiddles: &Twiddles, inverse: bool) {
    split(values, 0, twiddles, inverse);
}

/// Bit-reversed to natural order: the transpose of [`natural_to_reversed`], bottom up.
pub(super) fn reversed_to_natural(values: &mut [Scalar], twiddles: &Twiddles, inverse: bool) {
    merge(values, 0, twiddles, inverse);
}

fn split(values: &mut [Scalar], node: usize, twiddles: &Twiddles, inverse: bool) {
    let len = values.len();
    if len <= IN_CACHE {
        let (mut width, mut first) = (len, node);
        while width > 1 {
            for (k, block) in values.chunks_exact_mut(width).enumerate() {
                let twiddle = twiddles.get(first + k, inverse);
                let (low, high) = block.split_at_mut(width / 2);
                for (u, v) in low.iter_mut().zip(high) {
                    split_pair(u, v, &twiddle);
                }
            }
            (width, first) = (width / 2, first * 2);
        }
        return;
    }
    let (top, left, right) =
        (twiddles.get(node, inverse), twiddles.get(2 * node, inverse), twiddles.get(2 * node + 1, inverse));
    quarters(values, |q0, q1, q2, q3| {
        split_pair(q0, q2, &top);
        split_pair(q1, q3, &top);
        split_pair(q0, q1, &left);
        split_pair(q2, q3, &right);
    });
    children(values, |k, child| split(child, 4 * node + k, twiddles, inverse));
}

fn merge(values: &mut [Scalar], node: usize, twiddles: &Twiddles, inverse: bool) {
    let len = values.len();
    if len <= IN_CACHE {
        let mut width = 2;
        while width <= len {
            let first = node * (len / width);
            for (k, block) in values.chunks_exact_mut(width).enumerate() {
                let twiddle = twiddles.get(first + k, inverse);
                let (low, high) = block.split_at_mut(width / 2);
                for (u, v) in low.iter_mut().zip(high) {
                    merge_pair(u, v, &twiddle);
                }
            }
            width *= 2;
        }
        return;
    }
    children(values, |k, child| merge(child, 4 * node + k, twiddles, inverse));
    let (top, left, right) =
        (twiddles.get(node, inverse), twiddles.get(2 * node, inverse), twiddles.get(2 * node + 1, inverse));
    quarters(values, |q0, q1, q2, q3| {
        merge_pair(q0, q1, &left);
        merge_pair(q2, q3, &right);
        merge_pair(q0, q2, &top);
        merge_pair(q1, q3, &top);
    });
}

#[inline(always)]
fn split_pair(u: &mut Scalar, v: &mut Scalar, twiddle: &Scalar) {
    let product = *v * twiddle;
    *v = *u - product;
    *u += product;
}

#[inline(always)]
fn merge_pair(u: &mut Scalar, v: &mut Scalar, twiddle: &Scalar) {
    let difference = *u - *v;
    *u += *v;
    *v = difference * twiddle;
}

/// Applies `butterfly` to the elements at equal positions of the four quarters.
fn quarters(
    values: &mut [Scalar],
    butterfly: impl Fn(&mut Scalar, &mut Scalar, &mut Scalar, &mut Scalar) + Sync,
) {
    let quarter = values.len() / 4;
    let (low, high) = values.split_at_mut(2 * quarter);
    let (q0, q1) = low.split_at_mut(quarter);
    let (q2, q3) = high.split_at_mut(quarter);
    let run = |q0: &mut [Scalar], q1: &mut [Scalar], q2: &mut [Scalar], q3: &mut [Scalar]| {
        for (((a, b), c), d) in q0.iter_mut().zip(q1).zip(q2).zip(q3) {
            butterfly(a, b, c, d);
        }
    };
    if quarter * 4 <= PARALLEL {
        return run(q0, q1, q2, q3);
    }
    q0.par_chunks_mut(PASS_CHUNK)
        .zip(q1.par_chunks_mut(PASS_CHUNK))
        .zip(q2.par_chunks_mut(PASS_CHUNK))
        .zip(q3.par_chunks_mut(PASS_CHUNK))
        .for_each(|(((a, b), c), d)| run(a, b, c, d));
}

/// Runs `work` on the four quarters with their numbers.
fn children(values: &mut [Scalar], work: impl Fn(usize, &mut [Scalar]) + Sync) {
    let quarter = values.len() / 4;
    if values.len() <= PARALLEL {
        values.chunks_exact_mut(quarter).enumerate().for_each(|(k, child)| work(k, child));
    } else {
        values.par_chunks_exact_mut(quarter).enumerate().for_each(|(k, child)| work(k, child));
    }
}
