//! Scalars that are mostly bits, and queries that skip variables.

use blstrs::Scalar;

use crate::Error;

/// Scalars of which each is a bit or a field element, in the packed form that witnesses are kept in.
///
/// Scalar `i` is `dense[k]` if it is the `k`-th whose bit in `is_dense` is set; otherwise it is its bit in `ones`. Bit `i` is bit
/// `i % 64` of word `i / 64`; bits beyond the last scalar are zero, and no scalar has both bits. Elements are in Montgomery form
/// and may be any value, 0 and 1 included.
#[derive(Debug, Clone, Copy)]
pub struct PackedScalars<'a> {
    len: usize,
    ones: &'a [u64],
    is_dense: &'a [u64],
    dense: &'a [Scalar],
}

impl<'a> PackedScalars<'a> {
    /// `len` scalars from their parts, which must fit.
    pub fn new(len: usize, ones: &'a [u64], is_dense: &'a [u64], dense: &'a [Scalar]) -> Result<Self, Error> {
        check_words("ones", len, ones)?;
        check_words("is_dense", len, is_dense)?;
        for (i, (one, full)) in ones.iter().zip(is_dense).enumerate() {
            if one & full != 0 {
                return Err(Error::Overlap { index: 64 * i + (one & full).trailing_zeros() as usize });
            }
        }
        let expected = count(is_dense);
        if expected != dense.len() {
            return Err(Error::Dense { expected, got: dense.len() });
        }
        Ok(Self { len, ones, is_dense, dense })
    }

    /// The number of scalars.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bitmap of scalars that are one.
    pub fn ones(&self) -> &'a [u64] {
        self.ones
    }

    /// The bitmap of scalars that are field elements.
    pub fn is_dense(&self) -> &'a [u64] {
        self.is_dense
    }

    /// The field elements in order.
    pub fn dense(&self) -> &'a [Scalar] {
        self.dense
    }
}

/// Which scalars have a base: the bases of a query that skips variables stand close together, one for each bit that is set.
#[derive(Debug, Clone, Copy)]
pub struct Density<'a> {
    len: usize,
    words: &'a [u64],
    count: usize,
}

impl<'a> Density<'a> {
    /// A density over `len` scalars.
    pub fn new(len: usize, words: &'a [u64]) -> Result<Self, Error> {
        check_words("density", len, words)?;
        Ok(Self { len, words, count: count(words) })
    }

    /// The number of scalars.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of scalars with a base.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The bitmap.
    pub fn words(&self) -> &'a [u64] {
        self.words
    }
}

fn count(words: &[u64]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

fn check_words(what: &'static str, len: usize, words: &[u64]) -> Result<(), Error> {
    let expected = len.div_ceil(64);
    if words.len() != expected {
        return Err(Error::Words { what, len, expected, got: words.len() });
    }
    match words.last() {
        Some(last) if !len.is_multiple_of(64) && last >> (len % 64) != 0 => {
            Err(Error::TrailingBits { what, len })
        }
        _ => Ok(()),
    }
}
