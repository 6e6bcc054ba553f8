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
use crate::field::BaseField;

/// Additions that share an inversion: enough to make it cheap, few enough to stay in the second-level cache.
const BATCH: usize = 1024;

/// A set of runs of points, each run to be summed.
#[derive(Debug)]
pub(super) struct Forest<F> {
    points: Vec<Affine<F>>,
    runs: Vec<u32>,
    /// The additions and moves of a level: position of the first input, times two, plus one for an addition.
    plan: Vec<u32>,
    prefixes: Vec<F>,
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
    pub(super) fn new() -> Self {
        Self { points: Vec::new(), runs: Vec::new(), plan: Vec::new(), prefixes: Vec::new() }
    }

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
            self.prefixes.clear();
            // Backwards, so that the second pass goes forwards and may write over what it has read.
            let mut product = F::ONE;
            for step in batch.iter().rev() {
                self.prefixes.push(product);
                if step & 1 == 1 {
                    let at = (step >> 1) as usize;
                    match case(&self.points[at], &self.points[at + 1]) {
                        Case::Chord(divisor) | Case::Tangent(divisor) => product = product.mul(&divisor),
                        Case::Trivial => {}
                    }
                }
            }
            let mut inverse = product.inverse();
            for (step, prefix) in batch.iter().zip(self.prefixes.iter().rev()) {
                let at = (step >> 1) as usize;
                let p = self.points[at];
                self.points[out] = if step & 1 == 0 {
                    p
                } else {
                    let q = self.points[at + 1];
                    let case = case(&p, &q);
                    let own = inverse.mul(prefix);
                    if let Case::Chord(divisor) | Case::Tangent(divisor) = &case {
                        inverse = inverse.mul(divisor);
                    }
                    finish(&p, &q, &case, &own)
                };
                out += 1;
            }
        }
        self.points.truncate(out);
    }
}

/// Adds `others[i]` to `sums[i]`; `prefixes` is scratch.
pub(super) fn add_each<F: BaseField>(sums: &mut [Affine<F>], others: &[Affine<F>], prefixes: &mut Vec<F>) {
    for (sums, others) in sums.chunks_mut(BATCH).zip(others.chunks(BATCH)) {
        prefixes.clear();
        let mut product = F::ONE;
        for (p, q) in sums.iter().zip(others) {
            prefixes.push(product);
            if let Case::Chord(divisor) | Case::Tangent(divisor) = case(p, q) {
                product = product.mul(&divisor);
            }
        }
        let mut inverse = product.inverse();
        for ((p, q), prefix) in sums.iter_mut().zip(others).zip(prefixes.iter()).rev() {
            let case = case(p, q);
            let own = inverse.mul(prefix);
            if let Case::Chord(divisor) | Case::Tangent(divisor) = &case {
                inverse = inverse.mul(divisor);
            }
            *p = finish(p, q, &case, &own);
        }
    }
}
