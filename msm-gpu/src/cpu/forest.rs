//! Many sums of affine points at once.
//!
//! Each sum is a binary tree. A level of all trees is one batch of independent additions
//!
//! ```text
//! λ = (y₂ - y₁) / (x₂ - x₁),   x₃ = λ² - x₁ - x₂,   y₃ = λ(x₁ - x₃) - y₁
//! ```
//!
//! whose divisions share one inversion (Montgomery's trick): six multiplications an addition. The shape of the input cannot slow
//! this down: a single sum of all points has large levels too.

use crate::curve::Affine;
use crate::ffi::VectorScratch;
use crate::field::BaseField;

/// Additions that share an inversion: enough to make it cheap, few enough to stay in the second-level cache.
const BATCH: usize = 1024;

/// A set of runs of points, each run to be summed.
#[derive(Default)]
pub(super) struct Forest<F> {
    points: Vec<Affine<F>>,
    runs: Vec<u32>,
    /// A level's additions and moves: position of the first input, times two, plus one for an addition.
    plan: Vec<u32>,
    left: Vec<Affine<F>>,
    right: Vec<Affine<F>>,
    adder: Adder<F>,
}

/// Adds points pair by pair; keeps the memory that takes.
#[derive(Default)]
pub(super) struct Adder<F> {
    prefixes: Vec<F>,
    vectors: VectorScratch,
}

/// What an addition needs beyond the general formula.
enum Case<F> {
    /// The denominator.
    Chord(F),
    Tangent(F),
    /// One summand is infinity, or they are opposite: the result without arithmetic.
    Trivial,
}

#[inline(always)]
fn case<F: BaseField>(p: &Affine<F>, q: &Affine<F>) -> Case<F> {
    let difference = q.x.sub(&p.x);
    if !difference.is_zero() && !p.x.is_zero() && !q.x.is_zero() {
        return Case::Chord(difference);
    }
    if p.is_infinity() || q.is_infinity() {
        return Case::Trivial;
    }
    if !difference.is_zero() {
        return Case::Chord(difference);
    }
    // Points of order two do not exist on either curve's subgroup; outside it, y = 0 gives infinity as it should.
    if p.y == q.y && !p.y.is_zero() { Case::Tangent(p.y.add(&p.y)) } else { Case::Trivial }
}

#[inline(always)]
fn trivial<F: BaseField>(p: &Affine<F>, q: &Affine<F>) -> Affine<F> {
    if p.is_infinity() {
        *q
    } else if q.is_infinity() {
        *p
    } else {
        Affine::default()
    }
}

/// The third point on the line of slope `slope` through `p`, mirrored, where `x` is the other point's.
#[inline(always)]
fn third<F: BaseField>(p: &Affine<F>, x: &F, slope: &F) -> Affine<F> {
    let x3 = slope.square().sub(&p.x).sub(x);
    Affine { x: x3, y: slope.mul(&p.x.sub(&x3)).sub(&p.y) }
}

#[inline(always)]
fn finish<F: BaseField>(p: &Affine<F>, q: &Affine<F>, case: &Case<F>, inverse: &F) -> Affine<F> {
    match case {
        Case::Chord(_) => third(p, &q.x, &q.y.sub(&p.y).mul(inverse)),
        Case::Tangent(_) => third(p, &p.x, &p.x.square().triple().mul(inverse)),
        Case::Trivial => trivial(p, q),
    }
}

impl<F: BaseField> Forest<F> {
    /// Appends a point to the run that is being built.
    #[inline(always)]
    pub(super) fn push(&mut self, point: Affine<F>) {
        self.points.push(point);
    }

    /// Closes a run of `len` points.
    #[inline(always)]
    pub(super) fn close(&mut self, len: u32) {
        self.runs.push(len);
    }

    /// The number of points.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// Sums each run; the sums are in the order of the runs. An empty run must not be closed.
    pub(super) fn sum(&mut self) -> &[Affine<F>] {
        while self.runs.iter().any(|len| *len > 1) {
            self.level();
        }
        &self.points
    }

    /// Empties the forest and keeps its memory.
    pub(super) fn clear(&mut self) {
        self.points.clear();
        self.runs.clear();
    }

    /// Halves every run.
    fn level(&mut self) {
        self.plan.clear();
        let mut position = 0;
        for len in &mut self.runs {
            let pairs = *len / 2;
            self.plan.extend((0..pairs).map(|k| (position + 2 * k) << 1 | 1));
            if *len % 2 == 1 {
                self.plan.push((position + 2 * pairs) << 1);
            }
            position += *len;
            *len = pairs + *len % 2;
        }
        let mut out = 0;
        for batch in self.plan.chunks(BATCH) {
            let sums = batch.iter().filter(|step| *step & 1 == 1).map(|step| (step >> 1) as usize);
            self.left.clear();
            self.right.clear();
            for at in sums {
                self.left.push(self.points[at]);
                self.right.push(self.points[at + 1]);
            }
            self.adder.add_each(&mut self.left, &self.right);
            // What is written over has been read: a level's outputs are never behind its inputs.
            let mut sums = self.left.iter();
            for step in batch {
                let moved = self.points[(step >> 1) as usize];
                self.points[out] = if step & 1 == 1 { *sums.next().unwrap_or(&moved) } else { moved };
                out += 1;
            }
        }
        self.points.truncate(out);
    }
}

impl<F: BaseField> Adder<F> {
    /// Adds `others[i]` to `sums[i]`.
    pub(super) fn add_each(&mut self, sums: &mut [Affine<F>], others: &[Affine<F>]) {
        for (sums, others) in sums.chunks_mut(BATCH).zip(others.chunks(BATCH)) {
            let done = F::add_vectors(sums, others, &mut self.vectors);
            if done < sums.len() {
                self.add_scalars(&mut sums[done..], &others[done..]);
            }
        }
    }

    fn add_scalars(&mut self, sums: &mut [Affine<F>], others: &[Affine<F>]) {
        self.prefixes.clear();
        let mut product = F::ONE;
        for (p, q) in sums.iter().zip(others) {
            self.prefixes.push(product);
            if let Case::Chord(divisor) | Case::Tangent(divisor) = case(p, q) {
                product = product.mul(&divisor);
            }
        }
        let mut inverse = product.inverse();
        for ((p, q), prefix) in sums.iter_mut().zip(others).zip(&self.prefixes).rev() {
            let case = case(p, q);
            let own = inverse.mul(prefix);
            if let Case::Chord(divisor) | Case::Tangent(divisor) = &case {
                inverse = inverse.mul(divisor);
            }
            *p = finish(p, q, &case, &own);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::{Curve, G1};
    use blst::blst_fp;
    use blstrs::{G1Affine, Scalar};
    use group::Curve as _;
    use group::prime::PrimeCurveAffine;
    use proptest::prelude::*;

    fn point(k: u64) -> Affine<blst_fp> {
        G1::coordinates(&(G1Affine::generator() * Scalar::from(k)).to_affine())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The vector unit, where there is one, and the scalar code agree with blst, whatever is in a group of eight.
        #[test]
        fn pairs_add(cases in prop::collection::vec((0u8..7, 1u64..1000, 1u64..1000), 0..70)) {
            let pairs: Vec<_> = cases
                .into_iter()
                .map(|(case, a, b)| match case {
                    0 => (Affine::default(), point(b)),
                    1 => (point(a), Affine::default()),
                    2 => (point(a), point(a)),
                    3 => (point(a), point(a).negate_if(true)),
                    4 => (Affine::default(), Affine::default()),
                    _ => (point(a), point(b)),
                })
                .collect();
            let expected: Vec<_> = pairs
                .iter()
                .map(|(p, q)| {
                    let [p, q] = [p, q].map(|point| G1::from_coordinates(point).to_curve());
                    G1::coordinates(&(p + q).to_affine())
                })
                .collect();
            let (sums, others): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            let mut adder = Adder::<blst_fp>::default();
            let mut by_both = sums.clone();
            adder.add_each(&mut by_both, &others);
            prop_assert_eq!(by_both, expected.clone());
            let mut by_scalars = sums;
            adder.add_scalars(&mut by_scalars, &others);
            prop_assert_eq!(by_scalars, expected);
        }
    }
}
