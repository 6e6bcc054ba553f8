//! Sums of products with packed scalars.

use group::Group;
use rayon::prelude::*;

use super::forest::Forest;
use super::msm::Pippenger;
use crate::curve::Curve;
use crate::{Density, Error, PackedScalars};

/// Words of the bitmaps that one task sums: up to 4,096 points.
const WORDS: usize = 64;

/// `Σ scalars[i] · base(i)`, over all scalars, or those that `density` says have a base; `bases` has just those, in order.
///
/// The points whose scalar is one are summed; the field elements go through [`msm`](super::msm).
pub fn msm_packed<C: Curve>(
    bases: &[C::Affine],
    scalars: &PackedScalars<'_>,
    density: Option<&Density<'_>>,
) -> Result<C::Projective, Error> {
    if let Some(density) = density
        && density.len() != scalars.len()
    {
        return Err(Error::DensityLength { expected: scalars.len(), got: density.len() });
    }
    let expected = density.map_or(scalars.len(), Density::count);
    if bases.len() != expected {
        return Err(Error::Bases { expected, got: bases.len() });
    }
    let selection = Selection { words: density.map(Density::words) };
    Ok(sum_of_ones::<C>(bases, scalars, &selection) + dense_part::<C>(bases, scalars, &selection))
}

/// Which scalars have a base, word by word.
struct Selection<'a> {
    words: Option<&'a [u64]>,
}

impl Selection<'_> {
    fn word(&self, i: usize) -> u64 {
        self.words.map_or(u64::MAX, |words| words[i])
    }
}

/// The positions of the bits of a word that are one.
fn bits(word: u64) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)))
        .take_while(|word| *word != 0)
        .map(u64::trailing_zeros)
}

/// The number of bits of `word` below bit `bit`.
fn rank(word: u64, bit: u32) -> usize {
    (word & ((1 << bit) - 1)).count_ones() as usize
}

fn sum_of_ones<C: Curve>(
    bases: &[C::Affine],
    scalars: &PackedScalars<'_>,
    selection: &Selection<'_>,
) -> C::Projective {
    let words = scalars.ones();
    // The first base of each task.
    let mut base = 0;
    let firsts: Vec<usize> = (0..words.len())
        .step_by(WORDS)
        .map(|start| {
            let first = base;
            let end = words.len().min(start + WORDS);
            base += (start..end).map(|i| selection.word(i).count_ones() as usize).sum::<usize>();
            first
        })
        .collect();
    firsts
        .into_par_iter()
        .enumerate()
        .fold(
            || (Forest::default(), C::Projective::identity()),
            |(mut forest, mut sum), (task, mut first)| {
                let end = words.len().min((task + 1) * WORDS);
                for i in task * WORDS..end {
                    let selected = selection.word(i);
                    for bit in bits(words[i] & selected) {
                        forest.push(C::coordinates(&bases[first + rank(selected, bit)]));
                    }
                    first += selected.count_ones() as usize;
                }
                if forest.len() > 0 {
                    forest.close(forest.len() as u32);
                    if let Some(point) = forest.sum().first() {
                        sum += C::from_coordinates(point);
                    }
                    forest.clear();
                }
                (forest, sum)
            },
        )
        .map(|(_, sum)| sum)
        .reduce(C::Projective::identity, |a, b| a + b)
}

fn dense_part<C: Curve>(
    bases: &[C::Affine],
    scalars: &PackedScalars<'_>,
    selection: &Selection<'_>,
) -> C::Projective {
    let used = scalars.is_dense().iter().enumerate().map(|(i, word)| word & selection.word(i));
    let count: usize = used.map(|word| word.count_ones() as usize).sum();
    if count == 0 {
        return C::Projective::identity();
    }
    let mut pippenger = Pippenger::<C>::new(count);
    let tile = pippenger.tile();
    // Indices of base and element of each product, a tile at a time.
    let mut products: Vec<(usize, usize)> = Vec::with_capacity(tile.min(count) + 64);
    let (mut base, mut element) = (0, 0);
    for (i, word) in scalars.is_dense().iter().enumerate() {
        let selected = selection.word(i);
        for bit in bits(word & selected) {
            products.push((base + rank(selected, bit), element + rank(*word, bit)));
        }
        base += selected.count_ones() as usize;
        element += word.count_ones() as usize;
        if products.len() >= tile {
            pippenger.add(products.len(), |k| (bases[products[k].0], scalars.dense()[products[k].1]));
            products.clear();
        }
    }
    pippenger.add(products.len(), |k| (bases[products[k].0], scalars.dense()[products[k].1]));
    pippenger.finish()
}
