//! The butterfly networks on eight lanes.
//!
//! Between long blocks a vector is eight neighbours, and all have the same factor. In the last layers, whose blocks are shorter than
//! a vector, lane `j` is block `j` of eight that stand side by side: nothing ever crosses lanes, and factors are vectors too.

use blstrs::Scalar;

use super::ifma::{LANES, Lanes};
use super::{Factors, mirrored};

/// The longest of eight blocks that are transformed lane by lane: 20 KiB of limbs.
const LONGEST: usize = 64;
/// Blocks in lanes of a block that is in the cache: two layers of radix 4 come before them.
const PARTS: usize = 16;

/// Whether [`split_block`] and [`merge_block`] take a block of this length, a power of two: its parts must hold whole vectors.
pub(super) fn takes_block(len: usize) -> bool {
    (LANES * PARTS..=LONGEST * PARTS).contains(&len)
}

/// Two layers of one of the networks on numbers below 1.1, with results below 1.1.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn butterfly<const SPLIT: bool>([a, b, c, d]: [Lanes; 4], [top, left, right]: &[Lanes; 3]) -> [Lanes; 4] {
    if SPLIT {
        // Products below 1.5; sums below 2.6, differences in (0.5, 3.1).
        let (c, d) = (c.multiply(top), d.multiply(top));
        let (a, c) = (a.add(&c), a.subtract(&c, 2));
        let (b, d) = (b.add(&d).carried(), b.subtract(&d, 2).carried());
        // Products below 2.2 and 2.5; differences in (0.5, 6.1).
        let (b, d) = (b.multiply(left), d.multiply(right));
        [a.add(&b), a.subtract(&b, 3), c.add(&d), c.subtract(&d, 3)].map(|x| x.settled())
    } else {
        // Sums below 2.2, differences in (0.9, 3.1), products below 2.5.
        let (a, b) = (a.add(&b), a.subtract(&b, 2).carried().multiply(left));
        let (c, d) = (c.add(&d), c.subtract(&d, 2).carried().multiply(right));
        // Sums below 5, differences in (0.5, 5.5), products below 3.5.
        let (a, c) = (a.add(&c), a.subtract(&c, 3).carried().multiply(top));
        let (b, d) = (b.add(&d), b.subtract(&d, 3).carried().multiply(top));
        [a, b, c, d].map(|x| x.settled())
    }
}

/// One layer, as above.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn pair<const SPLIT: bool>(u: &Lanes, v: &Lanes, factor: &Lanes) -> [Lanes; 2] {
    if SPLIT {
        let product = v.multiply(factor);
        [u.add(&product).settled(), u.subtract(&product, 2).settled()]
    } else {
        [u.add(v).settled(), u.subtract(v, 2).carried().multiply(factor).settled()]
    }
}

/// Two layers between four quarters; returns how many leading elements of each were done.
///
/// # Safety
/// [`is_available`](super::ifma::is_available) must be true.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
pub(super) unsafe fn quarters<const SPLIT: bool>(
    quarters: [&mut [Scalar]; 4],
    factors: &[Scalar; 3],
) -> usize {
    let [top, left, right] = factors;
    let factors = [Lanes::common_factor(top), Lanes::common_factor(left), Lanes::common_factor(right)];
    let [a, b, c, d] = quarters.map(|quarter| quarter.as_chunks_mut::<LANES>().0);
    let mut done = 0;
    for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
        let values = [Lanes::load(a), Lanes::load(b), Lanes::load(c), Lanes::load(d)];
        let [w, x, y, z] = butterfly::<SPLIT>(values, &factors);
        w.store(a);
        x.store(b);
        y.store(c);
        z.store(d);
        done += LANES;
    }
    done
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn quarters_of<const SPLIT: bool>(values: &mut [Scalar], node: usize, factors: &Factors<'_>) {
    let (low, high) = values.split_at_mut(values.len() / 2);
    let (a, b) = low.split_at_mut(low.len() / 2);
    let (c, d) = high.split_at_mut(high.len() / 2);
    let factors = [factors.get(node), factors.get(2 * node), factors.get(2 * node + 1)];
    // SAFETY: whoever called this has the instructions.
    unsafe { quarters::<SPLIT>([a, b, c, d], &factors) };
}

/// All layers of block `node`, top down. Its length must be one that [`takes_block`] allows.
///
/// # Safety
/// [`is_available`](super::ifma::is_available) must be true.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
pub(super) unsafe fn split_block(values: &mut [Scalar], node: usize, factors: &Factors<'_>) {
    let len = values.len();
    quarters_of::<true>(values, node, factors);
    for (k, values) in values.chunks_exact_mut(len / 4).enumerate() {
        quarters_of::<true>(values, 4 * node + k, factors);
    }
    for (k, values) in values.chunks_exact_mut(len / 2).enumerate() {
        lanes::<true>(values, PARTS * node + LANES * k, factors);
    }
}

/// All layers of block `node`, bottom up. Its length must be one that [`takes_block`] allows.
///
/// # Safety
/// [`is_available`](super::ifma::is_available) must be true.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
pub(super) unsafe fn merge_block(values: &mut [Scalar], node: usize, factors: &Factors<'_>) {
    let len = values.len();
    for (k, values) in values.chunks_exact_mut(len / 2).enumerate() {
        lanes::<false>(values, PARTS * node + LANES * k, factors);
    }
    for (k, values) in values.chunks_exact_mut(len / 4).enumerate() {
        quarters_of::<false>(values, 4 * node + k, factors);
    }
    quarters_of::<false>(values, node, factors);
}

/// All layers of eight blocks side by side, the first of which is block `first`, a multiple of eight.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn lanes<const SPLIT: bool>(values: &mut [Scalar], first: usize, factors: &Factors<'_>) {
    let len = values.len() / LANES;
    let mut memory = [Lanes::zero(); LONGEST];
    let x = &mut memory[..len];
    for (i, x) in x.iter_mut().enumerate() {
        *x = Lanes::load_strided(values, i, len);
    }
    let depth = len.ilog2();
    // The layer of blocks of two is left over where their number is odd.
    let whole = depth & !1;
    if !SPLIT && depth > whole {
        pairs::<SPLIT>(x, first, depth - 1, factors);
    }
    for step in 0..whole / 2 {
        let level = if SPLIT { 2 * step } else { whole - 2 - 2 * step };
        for (m, block) in x.chunks_exact_mut(len >> level).enumerate() {
            let three = [
                lane_factors(first, level, m, factors),
                lane_factors(first, level + 1, 2 * m, factors),
                lane_factors(first, level + 1, 2 * m + 1, factors),
            ];
            let quarter = block.len() / 4;
            for i in 0..quarter {
                let at = [i, i + quarter, i + 2 * quarter, i + 3 * quarter];
                let out = butterfly::<SPLIT>(at.map(|i| block[i]), &three);
                for (i, out) in at.into_iter().zip(out) {
                    block[i] = out;
                }
            }
        }
    }
    if SPLIT && depth > whole {
        pairs::<SPLIT>(x, first, depth - 1, factors);
    }
    for (i, x) in x.iter().enumerate() {
        x.store_strided(values, i, len);
    }
}

/// The layer of blocks of two elements.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn pairs<const SPLIT: bool>(x: &mut [Lanes], first: usize, level: u32, factors: &Factors<'_>) {
    for (m, block) in x.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        *block = pair::<SPLIT>(&block[0], &block[1], &lane_factors(first, level, m, factors));
    }
}

/// In lane `j` the factor of block `m` of those that block `first + j` has become after `level` layers.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn lane_factors(first: usize, level: u32, m: usize, factors: &Factors<'_>) -> Lanes {
    let (start, stride) = ((first << level) + m, 1 << level);
    if !factors.inverse {
        return Lanes::strided_factor(factors.table, start, stride);
    }
    if first == 0 {
        // Different powers of two are the highest in the lanes' indices, or none.
        return Lanes::factor(&std::array::from_fn(|j| factors.get(start + (j << level))));
    }
    Lanes::strided_factor(factors.table, mirrored(start), -stride).negated_factor()
}
