//! Pippenger's bucket method with affine buckets.

use std::sync::{Mutex, PoisonError};

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
    let mut sum = DenseSum::<C>::new(scalars);
    if bases.len() != scalars.len() {
        return Err(Error::Bases { expected: scalars.len(), got: bases.len() });
    }
    let mut rest = bases;
    while let Some((bases, others)) = rest.split_at_checked(sum.wanted())
        && !bases.is_empty()
    {
        sum.add(bases)?;
        rest = others;
    }
    Ok(sum.finish())
}

/// [`msm`] with bases that come a stretch at a time: while [`wanted`](Self::wanted) is not zero, [`add`](Self::add) that many.
pub struct DenseSum<'a, C: Curve> {
    scalars: &'a [Scalar],
    pippenger: Pippenger<C>,
}

impl<'a, C: Curve> DenseSum<'a, C> {
    /// With these scalars.
    pub fn new(scalars: &'a [Scalar]) -> Self {
        Self { scalars, pippenger: Pippenger::new(scalars.len()) }
    }

    /// The number of bases to add next; zero at the end.
    pub fn wanted(&mut self) -> usize {
        self.pippenger.tile().min(self.scalars.len())
    }

    /// Adds the next products.
    pub fn add(&mut self, bases: &[C::Affine]) -> Result<(), Error> {
        let expected = self.wanted();
        if bases.len() != expected {
            return Err(Error::Bases { expected, got: bases.len() });
        }
        let (scalars, rest) = self.scalars.split_at(expected);
        self.pippenger.add(expected, |i| (bases[i], scalars[i]));
        self.scalars = rest;
        Ok(())
    }

    /// The sum of all that was added.
    pub fn finish(self) -> C::Projective {
        self.pippenger.finish()
    }
}

/// Products that are added tile by tile: a tile's points stay in the cache while every window reads them.
pub(super) struct Pippenger<C: Curve> {
    windows: Windows,
    states: Vec<WindowState<C>>,
    points: Vec<Affine<C::Base>>,
    scalars: Vec<Prepared>,
    /// As many as windows were ever worked on at once: one is 16 MiB in G1 for the largest tiles.
    scratch: Mutex<Vec<Scratch<C>>>,
}

/// What one window keeps.
struct WindowState<C: Curve> {
    buckets: Vec<Affine<C::Base>>,
}

/// Memory for a window while a tile is added.
struct Scratch<C: Curve> {
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
            .map(|_| WindowState { buckets: vec![Affine::default(); windows.buckets()] })
            .collect();
        Self { windows, states, points: Vec::new(), scalars: Vec::new(), scratch: Mutex::default() }
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
        let (points, scalars, pool) = (&self.points, &self.scalars, &self.scratch);
        self.states.par_iter_mut().enumerate().with_max_len(1).for_each(|(window, state)| {
            let free = || pool.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = free().pop();
            let mut scratch = taken.unwrap_or_default();
            state.add(&windows, window as u32, points, scalars, &mut scratch);
            free().push(scratch);
        });
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

impl<C: Curve> Default for Scratch<C> {
    fn default() -> Self {
        Self { forest: Forest::default(), starts: Vec::new(), entries: Vec::new() }
    }
}

impl<C: Curve> WindowState<C> {
    fn add(
        &mut self,
        windows: &Windows,
        window: u32,
        points: &[Affine<C::Base>],
        scalars: &[Prepared],
        Scratch { forest, starts, entries }: &mut Scratch<C>,
    ) {
        // Counting sort by bucket.
        starts.clear();
        starts.resize(self.buckets.len() + 1, 0);
        for scalar in scalars {
            if let Some((magnitude, _)) = windows.digit(scalar, window) {
                starts[magnitude as usize] += 1;
            }
        }
        let mut total = 0;
        for start in starts.iter_mut() {
            total += *start;
            *start = total;
        }
        // starts[m] is now the end of bucket m - 1 in the usual count from zero; filling backwards makes it the start.
        entries.clear();
        entries.resize(total as usize, 0);
        for (i, scalar) in scalars.iter().enumerate().rev() {
            if let Some((magnitude, negative)) = windows.digit(scalar, window) {
                let slot = &mut starts[magnitude as usize];
                *slot -= 1;
                entries[*slot as usize] = (i as u32) << 1 | u32::from(negative);
            }
        }
        starts.push(total);

        forest.clear();
        for (bucket, range) in self.buckets.iter().zip(starts[1..].windows(2)) {
            let entries = &entries[range[0] as usize..range[1] as usize];
            if entries.is_empty() {
                continue;
            }
            forest.push(*bucket);
            for entry in entries {
                forest.push(points[(entry >> 1) as usize].negate_if(entry & 1 == 1));
            }
            forest.close(entries.len() as u32 + 1);
        }
        let mut sums = forest.sum().iter();
        for (bucket, range) in self.buckets.iter_mut().zip(starts[1..].windows(2)) {
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
