//! The two butterfly networks. Neither permutes: one flips natural to bit-reversed order, the other flips it back.
//!
//! Both walk the same binary tree depth first, so that a block is finished while it is in the cache: layers whose blocks
//! exceed it are done two at a time (radix 4), the others one at a time. Every block of a layer has one twiddle factor. The
//! processor's vector unit, where it is a known one, takes over whole blocks and passes.

use blstrs::Scalar;
use rayon::prelude::*;

use super::twiddles::Twiddles;
use crate::ffi::vector::{self, Factors, Network};

/// Blocks up to this many elements (32 bytes each) are transformed layer by layer: they fit the first-level caches.
const IN_CACHE: usize = 1 << 10;
/// Blocks above this many elements are worth several tasks.
const PARALLEL: usize = 1 << 13;
/// Elements of each quarter that one task of a parallel pass treats.
const PASS_CHUNK: usize = 1 << 11;

/// Natural to bit-reversed order: polynomials modulo `x^m - z²` split into those modulo `x^(m/2) ∓ z`, top down.
pub(super) fn natural_to_reversed(values: &mut [Scalar], twiddles: &Twiddles, inverse: bool) {
    split(values, 0, &twiddles.factors(inverse));
}

/// Bit-reversed to natural order: the transpose of [`natural_to_reversed`], bottom up.
pub(super) fn reversed_to_natural(values: &mut [Scalar], twiddles: &Twiddles, inverse: bool) {
    merge(values, 0, &twiddles.factors(inverse));
}

/// Block `node` of the layer whose blocks are as long as `values`.
fn split(values: &mut [Scalar], node: usize, factors: &Factors<'_>) {
    let len = values.len();
    if len <= IN_CACHE {
        if !vector::block(Network::Split, values, node, factors) {
            split_layers(values, node, factors);
        }
        return;
    }
    let three = [factors.get(node), factors.get(2 * node), factors.get(2 * node + 1)];
    let [top, left, right] = three;
    quarters(Network::Split, values, &three, |q0, q1, q2, q3| {
        split_pair(q0, q2, &top);
        split_pair(q1, q3, &top);
        split_pair(q0, q1, &left);
        split_pair(q2, q3, &right);
    });
    children(values, |k, child| split(child, 4 * node + k, factors));
}

/// Block `node` of the layer whose blocks are as long as `values`.
fn merge(values: &mut [Scalar], node: usize, factors: &Factors<'_>) {
    let len = values.len();
    if len <= IN_CACHE {
        if !vector::block(Network::Merge, values, node, factors) {
            merge_layers(values, node, factors);
        }
        return;
    }
    children(values, |k, child| merge(child, 4 * node + k, factors));
    let three = [factors.get(node), factors.get(2 * node), factors.get(2 * node + 1)];
    let [top, left, right] = three;
    quarters(Network::Merge, values, &three, |q0, q1, q2, q3| {
        merge_pair(q0, q1, &left);
        merge_pair(q2, q3, &right);
        merge_pair(q0, q2, &top);
        merge_pair(q1, q3, &top);
    });
}

/// All layers of block `node`, one by one.
fn split_layers(values: &mut [Scalar], node: usize, factors: &Factors<'_>) {
    let (mut width, mut first) = (values.len(), node);
    while width > 1 {
        for (k, block) in values.chunks_exact_mut(width).enumerate() {
            let twiddle = factors.get(first + k);
            let (low, high) = block.split_at_mut(width / 2);
            for (u, v) in low.iter_mut().zip(high) {
                split_pair(u, v, &twiddle);
            }
        }
        (width, first) = (width / 2, first * 2);
    }
}

/// All layers of block `node`, one by one.
fn merge_layers(values: &mut [Scalar], node: usize, factors: &Factors<'_>) {
    let len = values.len();
    let mut width = 2;
    while width <= len {
        let first = node * (len / width);
        for (k, block) in values.chunks_exact_mut(width).enumerate() {
            let twiddle = factors.get(first + k);
            let (low, high) = block.split_at_mut(width / 2);
            for (u, v) in low.iter_mut().zip(high) {
                merge_pair(u, v, &twiddle);
            }
        }
        width *= 2;
    }
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

/// Applies `butterfly`, which is two layers of the network with these factors, to the elements at equal positions of the four
/// quarters.
fn quarters(
    network: Network,
    values: &mut [Scalar],
    factors: &[Scalar; 3],
    butterfly: impl Fn(&mut Scalar, &mut Scalar, &mut Scalar, &mut Scalar) + Sync,
) {
    let quarter = values.len() / 4;
    let (low, high) = values.split_at_mut(2 * quarter);
    let (q0, q1) = low.split_at_mut(quarter);
    let (q2, q3) = high.split_at_mut(quarter);
    let run = |q0: &mut [Scalar], q1: &mut [Scalar], q2: &mut [Scalar], q3: &mut [Scalar]| {
        let done = vector::quarters(network, [&mut *q0, &mut *q1, &mut *q2, &mut *q3], factors);
        let rest = q0.iter_mut().zip(q1).zip(q2).zip(q3).skip(done);
        rest.for_each(|(((a, b), c), d)| butterfly(a, b, c, d));
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

#[cfg(test)]
mod tests {
    use super::*;
    use ff::Field;
    use proptest::prelude::*;
    use rand_core::SeedableRng;

    use crate::Domain;

    /// Random elements, and some of the least and the greatest.
    fn elements(n: usize, seed: u64) -> Vec<Scalar> {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        (0..n)
            .map(|_| match rand_core::RngCore::next_u32(&mut rng) % 8 {
                0 => Scalar::ZERO,
                1 => Scalar::ONE,
                2 => -Scalar::ONE,
                _ => Scalar::random(&mut rng),
            })
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

        /// Whatever block the vector unit takes, it does to it what the portable layers do; where there is none, nothing.
        #[test]
        fn blocks_are_the_layers(log_len in 0u32..=10, above in 0u32..4, seed: u64, inverse: bool) {
            let twiddles = Twiddles::new(Domain::new(log_len + above).unwrap());
            let factors = twiddles.factors(inverse);
            let values = elements(1 << log_len, seed);
            let node = seed as usize % (1 << above);
            for (network, layers) in [(Network::Split, split_layers as fn(&mut _, _, &_)), (Network::Merge, merge_layers)] {
                let (mut expected, mut got) = (values.clone(), values.clone());
                let taken = vector::block(network, &mut got, node, &factors);
                if taken {
                    layers(&mut expected, node, &factors);
                }
                prop_assert_eq!(&got, &expected);
            }
        }

        #[test]
        fn passes_are_two_layers(len in 0usize..70, seed: u64) {
            let values = elements(4 * len + 3, seed);
            let three: [Scalar; 3] = std::array::from_fn(|i| values[4 * len + i]);
            let [top, left, right] = three;
            let columns: Vec<[Scalar; 4]> = (0..len).map(|i| std::array::from_fn(|q| values[q * len + i])).collect();
            for network in [Network::Split, Network::Merge] {
                let mut out = values[..4 * len].to_vec();
                let (low, high) = out.split_at_mut(2 * len);
                let ((a, b), (c, d)) = (low.split_at_mut(len), high.split_at_mut(len));
                let done = vector::quarters(network, [a, b, c, d], &three);
                prop_assert!(done == 0 || done == len / 8 * 8);
                for (i, column) in columns.iter().enumerate().take(done) {
                    let [mut a, mut b, mut c, mut d] = *column;
                    if network == Network::Split {
                        split_pair(&mut a, &mut c, &top);
                        split_pair(&mut b, &mut d, &top);
                        split_pair(&mut a, &mut b, &left);
                        split_pair(&mut c, &mut d, &right);
                    } else {
                        merge_pair(&mut a, &mut b, &left);
                        merge_pair(&mut c, &mut d, &right);
                        merge_pair(&mut a, &mut c, &top);
                        merge_pair(&mut b, &mut d, &top);
                    }
                    prop_assert_eq!([out[i], out[len + i], out[2 * len + i], out[3 * len + i]], [a, b, c, d]);
                }
            }
        }
    }
}
