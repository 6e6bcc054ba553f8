//! Errors of reading, writing and matching parameters.

use std::fmt;
use std::io;
use std::ops::Range;

use thiserror::Error;

use crate::PointError;

/// A part of a parameter file, in file order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// `α` in G1.
    AlphaG1,
    /// `β` in G1.
    BetaG1,
    /// `β` in G2.
    BetaG2,
    /// `γ` in G2.
    GammaG2,
    /// `δ` in G1.
    DeltaG1,
    /// `δ` in G2.
    DeltaG2,
    /// One point for each public input, ONE included.
    Ic,
    /// The powers of τ times the vanishing polynomial.
    H,
    /// One point for each auxiliary variable.
    L,
    /// The A query.
    A,
    /// The B query in G1.
    BG1,
    /// The B query in G2.
    BG2,
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AlphaG1 => "alpha_g1",
            Self::BetaG1 => "beta_g1",
            Self::BetaG2 => "beta_g2",
            Self::GammaG2 => "gamma_g2",
            Self::DeltaG1 => "delta_g1",
            Self::DeltaG2 => "delta_g2",
            Self::Ic => "ic",
            Self::H => "h",
            Self::L => "l",
            Self::A => "a",
            Self::BG1 => "b_g1",
            Self::BG2 => "b_g2",
        })
    }
}

/// A parameter or key file that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// The file system failed.
    #[error("{action}: {source}")]
    Io {
        /// What was being done.
        action: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file ends too early.
    #[error("section {section}: the file ends within element {index}")]
    Truncated {
        /// The section.
        section: Section,
        /// The element that is not all there; for a missing length, 0.
        index: usize,
    },
    /// A section claims more than the file holds.
    #[error("section {section}: {count} elements take {needed} bytes, but only {remaining} remain")]
    SectionLength {
        /// The section.
        section: Section,
        /// The elements claimed.
        count: u32,
        /// The bytes they take.
        needed: u64,
        /// The bytes that are left.
        remaining: u64,
    },
    /// A section has not the number of elements that the circuit asks for.
    #[error("section {section}: expected {expected} elements for this circuit, got {got}")]
    Shape {
        /// The section.
        section: Section,
        /// The circuit's number.
        expected: usize,
        /// The file's number.
        got: usize,
    },
    /// The process gets no memory for a section.
    #[error("section {section}: no memory for {count} elements")]
    OutOfMemory {
        /// The section.
        section: Section,
        /// Its elements.
        count: usize,
    },
    /// Points that a section has no place for.
    #[error("section {section}: points {}..{} are not among its {len}", range.start, range.end)]
    Range {
        /// The section.
        section: Section,
        /// The points, those of inputs not counted.
        range: Range<usize>,
        /// How many the section has.
        len: usize,
    },
    /// A key file is longer than any key.
    #[error("{len} bytes, but no verifying key has more than {limit}")]
    KeyTooLong {
        /// The file's length.
        len: u64,
        /// The greatest length.
        limit: u64,
    },
    /// A point is not usable.
    #[error("section {section}, element {index}: {source}")]
    Point {
        /// The section.
        section: Section,
        /// The element; 0 for single points.
        index: usize,
        /// What is wrong with it.
        source: PointError,
    },
    /// The device refuses some point, as it is encoded or for being outside the subgroup of prime order, and the processor none.
    #[error(
        "section {section}: the device finds a bad point, the processor none: one of them computes wrongly"
    )]
    Disagreement {
        /// The section.
        section: Section,
    },
    /// A verifying key is internally wrong.
    #[error("verifying key: {0}")]
    Key(#[from] KeyError),
    /// A verifying key is followed by something.
    #[error("{count} bytes follow the verifying key")]
    TrailingBytes {
        /// How many.
        count: u64,
    },
    /// The file's digest is not the expected one.
    #[error("digest (BLAKE2b-512, first half in hex): expected {expected}, got {got}")]
    Digest {
        /// What it should be.
        expected: String,
        /// What it is.
        got: String,
    },
    /// The file changed while it was being read.
    #[error("the file changed while it was being read: {what}")]
    Changed {
        /// What is different.
        what: String,
    },
    /// Test parameters must not be taken for a ceremony's.
    #[error("refusing to write test parameters to {path}: {reason}")]
    CeremonyPlace {
        /// The target.
        path: String,
        /// Why not.
        reason: String,
    },
}

/// A verifying key with which proofs mean nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// `γ = δ`: then a proof's public inputs can be changed without its witness.
    #[error("gamma_g2 equals delta_g2")]
    GammaIsDelta,
    /// `δ` is the generator: nobody has contributed to it.
    #[error("{0} is the generator: nobody contributed to it")]
    Generator(Section),
    /// An element's parts in G1 and G2 have different discrete logarithms.
    #[error("{0} and {1} do not have the same discrete logarithm")]
    Mismatch(Section, Section),
    /// There is no point for the constant ONE.
    #[error("ic is empty: it has a point for the constant ONE and each public input")]
    NoInputs,
    /// A point that must not be is at infinity, or outside the subgroup.
    #[error("{section}, element {index}: {source}")]
    Point {
        /// Which.
        section: Section,
        /// The element; 0 for single points.
        index: usize,
        /// What is wrong.
        source: PointError,
    },
}

impl ParameterError {
    pub(crate) fn io(action: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let action = action.into();
        move |source| Self::Io { action, source }
    }
}
