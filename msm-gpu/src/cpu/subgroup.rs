//! Subgroup membership of many points at once.

use group::Group;
use group::prime::PrimeCurveAffine;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;

use super::forest::Forest;
use crate::Error;
use crate::curve::{Affine, Curve};

/// The bits of soundness that are wanted.
const SECURITY: u32 = 80;
/// Below this many points, one by one is cheaper.
const FEW: usize = 1 << 12;
/// Points that a task throws into buckets at once.
const TILE: usize = 1 << 16;

/// Checks that all points, which must be on the curve, are in the subgroup of prime order; names the first that is not.
///
/// Each round throws the points into `2^k` random buckets and checks the sum of each. Let a point lie outside. Given where
/// all others go, at most one bucket for it leaves every sum inside (if two did, the sum of the others in
/// the first would be both inside, by the second, and outside, by the first). So a round misses with probability at most
/// `2^-k`, whatever the group's cofactor and however the points were chosen, and the rounds are independent: together at most `2^-80`.
/// `rng` must be unpredictable to whoever chose the points.
pub fn check_subgroup<C: Curve>(points: &[C::Affine], rng: &mut impl RngCore) -> Result<(), Error> {
    if points.len() >= FEW {
        // Bucket sums cost some 400 additions each to check.
        let bits = (points.len() / 256).ilog2().clamp(4, 12);
        let rounds = SECURITY.div_ceil(bits);
        let seeds = (0..rounds).map(|_| {
            let mut seed = [0; 32];
            rng.fill_bytes(&mut seed);
            seed
        });
        let seeds: Vec<[u8; 32]> = seeds.collect();
        if seeds.into_iter().all(|seed| round::<C>(points, bits, seed)) {
            return Ok(());
        }
    }
    // Few points, or one of them is bad: find it.
    match points.par_iter().position_first(|point| !C::is_in_subgroup(point)) {
        Some(index) => Err(Error::NotInSubgroup { index }),
        None => Ok(()),
    }
}

/// Whether all bucket sums are in the subgroup.
fn round<C: Curve>(points: &[C::Affine], bits: u32, seed: [u8; 32]) -> bool {
    let buckets = 1usize << bits;
    let sums = points
        .par_chunks(TILE)
        .enumerate()
        .map(|(task, points)| tile_sums::<C>(points, bits, seed, task as u64))
        .reduce(
            || vec![C::Projective::identity(); buckets],
            |mut all, sums| {
                all.iter_mut().zip(sums).for_each(|(all, sum)| *all += sum);
                all
            },
        );
    sums.par_iter().all(|sum| C::is_in_subgroup(&group::Curve::to_affine(sum)))
}

fn tile_sums<C: Curve>(points: &[C::Affine], bits: u32, seed: [u8; 32], task: u64) -> Vec<C::Projective> {
    let buckets = 1usize << bits;
    let mut rng = ChaCha8Rng::from_seed(seed);
    rng.set_stream(task);
    let places: Vec<u16> = points.iter().map(|_| (rng.next_u32() >> (32 - bits)) as u16).collect();
    let mut starts = vec![0u32; buckets + 1];
    places.iter().for_each(|place| starts[*place as usize + 1] += 1);
    (0..buckets).for_each(|i| starts[i + 1] += starts[i]);
    let mut next = starts.clone();
    let mut sorted = vec![Affine::default(); points.len()];
    for (point, place) in points.iter().zip(&places) {
        sorted[next[*place as usize] as usize] = C::coordinates(point);
        next[*place as usize] += 1;
    }
    let mut forest = Forest::default();
    sorted.into_iter().for_each(|point| forest.push(point));
    let lengths: Vec<u32> = starts.windows(2).map(|range| range[1] - range[0]).collect();
    lengths.iter().filter(|len| **len > 0).for_each(|len| forest.close(*len));
    let mut sums = forest.sum().iter();
    lengths
        .iter()
        .map(|len| match (*len > 0).then(|| sums.next()).flatten() {
            Some(sum) => C::from_coordinates(sum).to_curve(),
            None => C::Projective::identity(),
        })
        .collect()
}
