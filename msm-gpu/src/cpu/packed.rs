//! Sums of products with packed scalars.

use std::ops::Range;

use group::Group;
use rayon::prelude::*;

use super::forest::Forest;
use super::msm::Pippenger;
use crate::curve::Curve;
use crate::{Density, Error, PackedScalars};

/// Words of the bitmaps that one task sums: up to 4,096 points.
const WORDS: usize = 64;
/// Scalars whose bases are wanted at once, a multiple of 64.
const STRETCH: usize = 1 << 17;

/// `Σ scalars[i] · base(i)`, over all scalars, or those that `density` says have a base; `bases` has just those, in order.
///
/// The points whose scalar is one are summed; the field elements go through [`msm`](super::msm).
pub fn msm_packed<C: Curve>(
    bases: &[C::Affine],
    scalars: &PackedScalars<'_>,
    density: Option<&Density<'_>>,
) -> Result<C::Projective, Error> {
    let mut sum = PackedSum::<C>::new(*scalars, density.copied())?;
    sum.add_words(bases, scalars.ones().len())?;
    Ok(sum.finish())
}

/// [`msm_packed`] with bases that come a stretch at a time: while [`wanted`](Self::wanted) is not zero, [`add`](Self::add) that many.
pub struct PackedSum<'a, C: Curve> {
    scalars: PackedScalars<'a>,
    selection: Selection<'a>,
    /// The first word of the bitmaps that was not added yet, and the first element.
    word: usize,
    element: usize,
    ones: C::Projective,
    elements: Pippenger<C>,
    /// Bases of a tile's products, with the indices of their elements.
    products: Vec<(C::Affine, usize)>,
}

impl<'a, C: Curve> PackedSum<'a, C> {
    /// Of these scalars, or those that have a base. A density must speak of as many.
    pub fn new(scalars: PackedScalars<'a>, density: Option<Density<'a>>) -> Result<Self, Error> {
        if let Some(density) = &density
            && density.len() != scalars.len()
        {
            return Err(Error::DensityLength { expected: scalars.len(), got: density.len() });
        }
        let selection = Selection { len: scalars.len(), words: density.map(|density| density.words()) };
        let used = scalars.is_dense().iter().enumerate().map(|(i, word)| word & selection.word(i));
        let count = used.map(|word| word.count_ones() as usize).sum();
        Ok(Self {
            scalars,
            selection,
            word: 0,
            element: 0,
            ones: C::Projective::identity(),
            elements: Pippenger::new(count),
            products: Vec::new(),
        })
    }

    /// The end of the words whose bases are wanted next.
    fn next_end(&self) -> usize {
        self.scalars.ones().len().min(self.word + STRETCH / 64)
    }

    /// The number of bases to add next; zero at the end, or where none of many scalars has one.
    pub fn wanted(&mut self) -> usize {
        loop {
            let end = self.next_end();
            match self.selection.count(self.word..end) {
                // Without a base a word has nothing to add, but its elements are passed over.
                0 if end > self.word => self.pass(end),
                count => return count,
            }
        }
    }

    /// Adds the next products.
    pub fn add(&mut self, bases: &[C::Affine]) -> Result<(), Error> {
        self.add_words(bases, self.next_end())
    }

    fn pass(&mut self, end: usize) {
        let words = &self.scalars.is_dense()[self.word..end];
        self.element += words.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        self.word = end;
    }

    fn add_words(&mut self, bases: &[C::Affine], end: usize) -> Result<(), Error> {
        let expected = self.selection.count(self.word..end);
        if bases.len() != expected {
            return Err(Error::Bases { expected, got: bases.len() });
        }
        self.ones += sum_of_ones::<C>(bases, self.scalars.ones(), self.word..end, &self.selection);
        self.add_elements(bases, end);
        self.pass(end);
        Ok(())
    }

    fn add_elements(&mut self, bases: &[C::Affine], end: usize) {
        let (mut base, mut element) = (0, self.element);
        for i in self.word..end {
            let (selected, word) = (self.selection.word(i), self.scalars.is_dense()[i]);
            for bit in bits(word & selected) {
                self.products.push((bases[base + rank(selected, bit)], element + rank(word, bit)));
            }
            base += selected.count_ones() as usize;
            element += word.count_ones() as usize;
            if self.products.len() >= self.elements.tile() {
                self.flush();
            }
        }
    }

    fn flush(&mut self) {
        let (products, dense) = (&self.products, self.scalars.dense());
        self.elements.add(products.len(), |k| (products[k].0, dense[products[k].1]));
        self.products.clear();
    }

    /// The sum of all that was added.
    pub fn finish(mut self) -> C::Projective {
        self.flush();
        self.ones + self.elements.finish()
    }
}

/// Which scalars have a base, word by word.
struct Selection<'a> {
    len: usize,
    words: Option<&'a [u64]>,
}

impl Selection<'_> {
    fn word(&self, i: usize) -> u64 {
        match self.words {
            Some(words) => words[i],
            // Bits beyond the last scalar are zero.
            None if self.len < 64 * (i + 1) => (1 << (self.len % 64)) - 1,
            None => u64::MAX,
        }
    }

    /// How many scalars of these words have a base.
    fn count(&self, words: Range<usize>) -> usize {
        words.into_par_iter().with_min_len(1 << 14).map(|i| self.word(i).count_ones() as usize).sum()
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

/// The sum of those of `bases`, which are the ones of these words, whose scalar is one.
fn sum_of_ones<C: Curve>(
    bases: &[C::Affine],
    ones: &[u64],
    range: Range<usize>,
    selection: &Selection<'_>,
) -> C::Projective {
    // The first base of each task.
    let mut base = 0;
    let firsts: Vec<usize> = range
        .clone()
        .step_by(WORDS)
        .map(|start| {
            let first = base;
            base += selection.count(start..range.end.min(start + WORDS));
            first
        })
        .collect();
    firsts
        .into_par_iter()
        .enumerate()
        .fold(
            || (Forest::default(), C::Projective::identity()),
            |(mut forest, mut sum), (task, mut first)| {
                let start = range.start + task * WORDS;
                for i in start..range.end.min(start + WORDS) {
                    let selected = selection.word(i);
                    for bit in bits(ones[i] & selected) {
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
