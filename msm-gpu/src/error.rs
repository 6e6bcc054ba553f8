//! What can go wrong with a multi-scalar multiplication.

use thiserror::Error;

/// An error of this crate.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// Bases and scalars are not equally many.
    #[error("expected {expected} bases, one for each scalar that has one, got {got}")]
    Bases {
        /// The number of scalars with a base.
        expected: usize,
        /// The number of bases.
        got: usize,
    },
    /// A bitmap has not one bit for each scalar.
    #[error("{what}: expected {expected} words for {len} scalars, got {got}")]
    Words {
        /// Which bitmap.
        what: &'static str,
        /// The number of scalars.
        len: usize,
        /// The number of 64-bit words that takes.
        expected: usize,
        /// The number of words given.
        got: usize,
    },
    /// A bitmap has bits set after the last scalar.
    #[error("{what}: bits are set beyond scalar {len}")]
    TrailingBits {
        /// Which bitmap.
        what: &'static str,
        /// The number of scalars.
        len: usize,
    },
    /// A scalar is both a one and a dense element.
    #[error("scalar {index} is marked both as one and as dense")]
    Overlap {
        /// Its index.
        index: usize,
    },
    /// The dense elements are not as many as the bitmap says.
    #[error("expected {expected} dense elements, got {got}")]
    Dense {
        /// Bits set in the bitmap.
        expected: usize,
        /// Elements given.
        got: usize,
    },
    /// The density speaks of another number of scalars.
    #[error("the density is for {got} scalars, not for {expected}")]
    DensityLength {
        /// The number of scalars.
        expected: usize,
        /// The length of the density.
        got: usize,
    },
    /// A point is on the curve but outside the subgroup of prime order.
    #[error("point {index} is outside the prime-order subgroup")]
    NotInSubgroup {
        /// Its index.
        index: usize,
    },
    /// A point is not encoded as it should be, or not on the curve. Of several the first.
    #[error("point {index} is no point of the curve in its uncompressed encoding")]
    Encoding {
        /// Its index.
        index: usize,
    },
    /// A [`Reader`](crate::device::Reader) failed; this is its error, whole.
    #[error("an input cannot be read: {0}")]
    Reader(Box<dyn std::error::Error + Send + Sync>),
    /// A device refused or failed.
    #[error(transparent)]
    Device(#[from] gpu::Error),
}
