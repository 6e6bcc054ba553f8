//! What can go wrong with a transform.

use thiserror::Error;

/// An error of this crate.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The field has no subgroup of this size.
    #[error("no evaluation domain of size 2^{log_size}: the scalar field's two-adicity is {two_adicity}")]
    DomainTooLarge {
        /// The base-two logarithm that was asked for.
        log_size: u32,
        /// The largest one that exists.
        two_adicity: u32,
    },
    /// No domain covers this many values.
    #[error("no evaluation domain holds {len} values: the largest holds 2^{two_adicity}")]
    TooManyValues {
        /// The number of values.
        len: usize,
        /// The base-two logarithm of the largest domain's size.
        two_adicity: u32,
    },
    /// The domain is the whole two-adic subgroup, so that its size has no primitive 2n-th root of unity.
    #[error("the domain of size 2^{log_size} has no coset by a primitive 2n-th root of unity")]
    NoCoset {
        /// The base-two logarithm of the domain's size.
        log_size: u32,
    },
    /// The device transforms do not go so far.
    #[error("no device transforms of size 2^{log_size}: the largest is 2^{limit}")]
    DeviceDomain {
        /// The base-two logarithm of the domain's size.
        log_size: u32,
        /// The largest one.
        limit: u32,
    },
    /// The device layer failed.
    #[error(transparent)]
    Device(#[from] gpu::Error),
    /// A vector's length is not the domain's size.
    #[error("{what}: expected {expected} values (the domain's size), got {got}")]
    Length {
        /// Which argument.
        what: &'static str,
        /// The domain's size.
        expected: usize,
        /// The argument's length.
        got: usize,
    },
    /// The quotient's top coefficient is not zero: the arithmetic went wrong (memory, hardware).
    #[error("the quotient's coefficient of degree {degree} is not zero: the transforms disagree")]
    InexactQuotient {
        /// The degree of that coefficient.
        degree: usize,
    },
}
