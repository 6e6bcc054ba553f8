//! Pippenger's bucket method with affine buckets.

use blstrs::Scalar;
use group::Group;
use rayon::prelude::*;

use super::digits::{Prepared, Windows};
use super::forest::Forest;
use crate::Error;
use crate::curve::{Affine, Curve};

/// `Σ scalars[i] · bases[i]`.
///
/// Scalars are in Montgomery form; zeros cost nothing, and small magnitudes of either sign cost one addition for each
/// non-zero digit, so that bits need no special treatment. Bases may be at infinity, equal or opposite to each other, and outside the
/// prime-order subgroup, in which case a scalar stands for the representative of least magnitude.
pub fn msm<C: Curve>(bases: &[C::Affine], scalars: &[Scalar]) -> Result<C::Projective, Error> {
    if bases.len() != scalars.len() {
        return Err(Error::Bases { expected: scalars.len(), got: bases.len() });
    }
    let mut pippenger = Pippenger::<C>::new(scalars.len());
    let step = pippenger.tile();
    for (bases, scalars) in bases.chunks(step).zip(scalars.chunks(step)) {
        pippenger.add(bases.len(), |i| (bases[i], scalars[i]));
    }
    Ok(pippenger.finish())
}

/// Products that are added tile by tile: a tile's points stay in the cache while every window reads them.
pub(super) struct Pippenger<C: Curve> {
    windows: Windows,
    states: Vec<WindowState<C>>,
    points: Vec<Affine<C::Base>>,
    scalars: Vec<Prepared>,
}

/// What one window keeps.
struct WindowState<C: Curve> {
    buckets: Vec<Affine<C::Base>>,
    forest: Forest<C::Base>,
    /// Where each bucket's entries start; then one more.
    starts: Vec<u32>,
    /// Points in order of their bucket: index times two, plus one where the point is to be negated.
    entries: Vec<u32>,
}

impl<C: Curve> Pippenger<C> {
    /// Buckets for about `len` products.
    pub(super) fn new(len: usize) -> Self {
        let windows = Windows::new(best_width(len));
        let states = (0..windows.count)
            .map(|_| WindowState {
                buckets: vec![Affine::default(); windows.buckets()],
                forest: Forest::default(),
                starts: Vec::new(),
                entries: Vec::new(),
            })
            .collect();
        Self { windows, states, points: Vec::new(), scalars: Vec::new() }
    }

    /// The number of products to add at once.
    pub(super) fn tile(&self) -> usize {
        (4 * self.windows.buckets()).clamp(1 << 10, 1 << 17)
    }

    /// Adds the products `product(0..len)`.
    pub(super) fn add(&mut self, len: usize, product: impl Fn(usize) -> (C::Affine, Scalar) + Sync) {
        let windows = self.windows;
        self.points.resize(len, Affine::default());
        self.scalars.resize(len, Prepared::default());
        self.points.par_iter_mut().zip(&mut self.scalars).enumerate().with_min_len(256).for_each(
            |(i, (point, prepared))| {
                let (base, scalar) = product(i);
                *point = C::coordinates(&base);
                *prepared = windows.prepare(&scalar);
            },
        );
        let (points, scalars) = (&self.points, &self.scalars);
        self.states
            .par_iter_mut()
            .enumerate()
            .with_max_len(1)
            .for_each(|(window, state)| state.add(&windows, window as u32, points, scalars));
    }

    /// The sum of all products: `Σ_w 2^(width·w) Σ_d d·bucket_w[d]`.
    pub(super) fn finish(self) -> C::Projective {
        let sums: Vec<C::Projective> =
            self.states.into_par_iter().with_max_len(1).map(WindowState::sum).collect();
        sums.iter().rev().fold(C::Projective::identity(), |total, sum| {
            (0..self.windows.width).fold(total, |total, _| total.double()) + sum
        })
    }
}

impl<C: Curve> WindowState<C> {
    fn add(&mut self, windows: &Windows, window: u32, points: &[Affine<C::Base>], scalars: &[Prepared]) {
        // Counting sort by bucket.
        self.starts.clear();
        self.starts.resize(self.buckets.len() + 1, 0);
        for scalar in scalars {
            if let Some((magnitude, _)) = windows.digit(scalar, window) {
                self.starts[magnitude as usize] += 1;
            }
        }
        let mut total = 0;
        for start in &mut self.starts {
            total += *start;
            *start = total;
        }
        // starts[m] is now the end of bucket m - 1 in the usual count from zero; filling backwards makes it the start.
        self.entries.clear();
        self.entries.resize(total as usize, 0);
        for (i, scalar) in scalars.iter().enumerate().rev() {
            if let Some((magnitude, negative)) = windows.digit(scalar, window) {
                let slot = &mut self.starts[magnitude as usize];
                *slot -= 1;
                self.entries[*slot as usize] = (i as u32) << 1 | u32::from(negative);
            }
        }
        self.starts.push(total);

        self.forest.clear();
        for (bucket, range) in self.buckets.iter().zip(self.starts[1..].windows(2)) {
            let entries = &self.entries[range[0] as usize..range[1] as usize];
            if entries.is_empty() {
                continue;
            }
            self.forest.push(*bucket);
            for entry in entries {
                self.forest.push(points[(entry >> 1) as usize].negate_if(entry & 1 == 1));
            }
            self.forest.close(entries.len() as u32 + 1);
        }
        let mut sums = self.forest.sum().iter();
        for (bucket, range) in self.buckets.iter_mut().zip(self.starts[1..].windows(2)) {
            if range[0] != range[1]
                && let Some(sum) = sums.next()
            {
                *bucket = *sum;
            }
        }
    }

    /// `Σ_d d·bucket[d]`, by sums of suffixes.
    fn sum(self) -> C::Projective {
        let (mut suffix, mut sum) = (C::Projective::identity(), C::Projective::identity());
        for bucket in self.buckets.iter().rev() {
            if !bucket.is_infinity() {
                suffix += C::from_coordinates(bucket);
            }
            sum += suffix;
        }
        sum
    }
}

/// The digit width that minimises the work for `len` products.
fn best_width(len: usize) -> u32 {
    // Additions cost 1 in a tree, and about 4 for both sums of a bucket at the end.
    let cost = |width: u32| u64::from(255u32.div_ceil(width)) * (len as u64 + (4 << (width - 1)));
    (3..=16).min_by_key(|width| cost(*width)).unwrap_or(3)
}
