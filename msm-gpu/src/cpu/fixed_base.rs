//! Many multiples of one point.

use blstrs::Scalar;
use group::Group;
use group::prime::PrimeCurveAffine;
use rayon::prelude::*;

use super::digits::{Prepared, Windows};
use super::forest::Adder;
use crate::curve::{Affine, Curve};

/// Scalars that one task treats: their sums stay in the cache while the table goes by.
const CHUNK: usize = 1 << 12;

/// A task's memory. It shows the scalars, which may be secret, and so it never grows, which would leave copies, and is wiped when
/// dropped.
struct Scratch<C: Curve> {
    prepared: Vec<Prepared>,
    sums: Vec<Affine<C::Base>>,
    terms: Vec<Affine<C::Base>>,
    adder: Adder<C::Base>,
}

impl<C: Curve> Scratch<C> {
    fn new() -> Self {
        Self {
            prepared: Vec::with_capacity(CHUNK),
            sums: Vec::with_capacity(CHUNK),
            terms: Vec::with_capacity(CHUNK),
            adder: Adder::default(),
        }
    }

    fn wipe(&mut self) {
        self.prepared.resize(CHUNK, Prepared::default());
        self.prepared.fill(Prepared::default());
        for points in [&mut self.sums, &mut self.terms] {
            points.resize(CHUNK, Affine::default());
            points.fill(Affine::default());
        }
        // The compiler cannot tell that nobody looks.
        std::hint::black_box((&self.prepared, &self.sums, &self.terms));
    }
}

impl<C: Curve> Drop for Scratch<C> {
    fn drop(&mut self) {
        self.wipe();
    }
}

/// A table of multiples of one base: `d·2^(width·w)·base` for every window `w` and digit magnitude `d`.
#[derive(Debug)]
pub struct FixedBase<C: Curve> {
    windows: Windows,
    table: Vec<Affine<C::Base>>,
}

impl<C: Curve> FixedBase<C> {
    /// A table for `base` that is worth its making for `multiples` multiplications (up to 50 MiB in G1, 100 MiB in G2).
    pub fn new(base: &C::Affine, multiples: usize) -> Self {
        let windows = Windows::new(best_width(multiples));
        let mut table = vec![Affine::default(); windows.count as usize * windows.buckets()];
        // The powers 2^(width·w)·base, and then each window by doubling: (2^k + i)·P = 2^k·P + i·P.
        let mut power: C::Projective = base.to_curve();
        let bases: Vec<C::Affine> = (0..windows.count)
            .map(|_| {
                let base = group::Curve::to_affine(&power);
                power = (0..windows.width).fold(power, |power, _| power.double());
                base
            })
            .collect();
        table.par_chunks_mut(windows.buckets()).zip(bases).for_each(|(multiples, base)| {
            let (mut top, mut adder) = (C::coordinates(&base), Adder::default());
            multiples[0] = top;
            let mut known = 1;
            while known < multiples.len() {
                let (low, high) = multiples.split_at_mut(known);
                // multiples[i] is (i + 1)·base.
                let high = &mut high[..known];
                high.fill(top);
                adder.add_each(high, low);
                top = high[known - 1];
                known *= 2;
            }
        });
        Self { windows, table }
    }

    /// `scalars[i]·base` for every `i`, as affine points.
    pub fn multiply(&self, scalars: &[Scalar]) -> Vec<C::Affine> {
        let mut out = vec![C::Affine::default(); scalars.len()];
        out.par_chunks_mut(CHUNK).zip(scalars.par_chunks(CHUNK)).for_each_init(
            Scratch::<C>::new,
            |Scratch { prepared, sums, terms, adder }, (out, scalars)| {
                prepared.clear();
                prepared.extend(scalars.iter().map(|scalar| self.windows.prepare(scalar)));
                sums.clear();
                sums.extend(prepared.iter().map(|scalar| self.term(scalar, 0)));
                for window in 1..self.windows.count {
                    terms.clear();
                    terms.extend(prepared.iter().map(|scalar| self.term(scalar, window)));
                    adder.add_each(sums, terms);
                }
                for (out, sum) in out.iter_mut().zip(sums.iter()) {
                    *out = C::from_coordinates(sum);
                }
            },
        );
        out
    }

    #[inline(always)]
    fn term(&self, scalar: &Prepared, window: u32) -> Affine<C::Base> {
        match self.windows.digit(scalar, window) {
            None => Affine::default(),
            Some((magnitude, negative)) => {
                let at = window as usize * self.windows.buckets() + magnitude as usize - 1;
                self.table[at].negate_if(negative)
            }
        }
    }
}

/// The digit width that minimises table and multiplications together.
fn best_width(multiples: usize) -> u32 {
    let cost = |width: u32| u64::from(255u32.div_ceil(width)) * (multiples as u64 + (1 << (width - 1)));
    (2..=16).min_by_key(|width| cost(*width)).unwrap_or(2)
}
