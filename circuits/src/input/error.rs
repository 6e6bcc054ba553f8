//! What can be wrong with an input, and where.

use std::fmt;

use blstrs::Scalar;

use crate::identity::UnknownSeal;
use crate::vanilla::domain;

/// A fault in an input: the file, the place within it (`partition 3, challenge 5, comm_r_last_proof, level 2`), and
/// what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// The file, where the fault lies in one.
    pub file: Option<String>,
    /// From the outermost part inwards; empty where the file as a whole is at fault.
    pub place: Vec<String>,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with an input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// No file was given.
    #[error("no input file")]
    NoFile,
    /// The file has no bytes.
    #[error("the file is empty")]
    Empty,
    /// The content is no form of a vanilla proof that is known.
    #[error("unrecognised content: {0}")]
    Unrecognised(String),
    /// A vanilla proof, but of something else.
    #[error("expected {expected}, got {got}")]
    Kind {
        /// What the circuit takes.
        expected: &'static str,
        /// What the file holds.
        got: &'static str,
    },
    /// Malformed JSON, or JSON of another structure.
    #[error("{0}")]
    Json(String),
    /// Malformed base64.
    #[error("malformed base64: {0}")]
    Base64(String),
    /// The data ends too early.
    #[error("truncated: {needed} bytes wanted at offset {offset}, {left} left")]
    Truncated {
        /// Where, in bytes from the start of the encoding.
        offset: usize,
        /// The bytes that should follow.
        needed: usize,
        /// The bytes that do.
        left: usize,
    },
    /// A length that the remaining bytes cannot hold.
    #[error("a length of {claimed} at offset {offset} exceeds the {left} bytes left")]
    Length {
        /// Where, in bytes from the start of the encoding.
        offset: usize,
        /// The number of elements claimed.
        claimed: u64,
        /// The bytes that follow.
        left: usize,
    },
    /// An unknown variant of a Merkle proof.
    #[error("unknown Merkle proof variant {tag} at offset {offset}")]
    Variant {
        /// Where, in bytes from the start of the encoding.
        offset: usize,
        /// The variant's number.
        tag: u32,
    },
    /// Bytes after the end, too few for another proof.
    #[error("{count} trailing bytes at offset {offset}")]
    Trailing {
        /// Where, in bytes from the start of the file.
        offset: usize,
        /// How many.
        count: usize,
    },
    /// A name that is no registered seal proof's.
    #[error(transparent)]
    UnknownSeal(#[from] UnknownSeal),
    /// A number of things that differs from the circuit's.
    #[error("expected {expected} {what}, got {got}")]
    Count {
        /// What is counted, in the plural.
        what: &'static str,
        /// The circuit's number.
        expected: usize,
        /// The input's.
        got: usize,
    },
    /// A position at or above the arity of its level.
    #[error("index {index} is out of range for arity {arity}")]
    Index {
        /// The position.
        index: u64,
        /// The number of positions.
        arity: usize,
    },
    /// 32 bytes that are no canonical field element.
    #[error("0x{} (little-endian) is not below the field's modulus", hex::encode(.0))]
    NotCanonical([u8; 32]),
    /// Two things that must be equal and are not.
    #[error("{relation}: expected {expected}, got {got}")]
    Relation {
        /// The relation, as an equation or a sentence.
        relation: &'static str,
        /// What it should be.
        expected: String,
        /// What it is.
        got: String,
    },
}

impl InputError {
    /// A fault at the place that the callers will add.
    pub(crate) fn new(problem: Problem) -> Self {
        Self { file: None, place: Vec::new(), problem }
    }

    pub(crate) fn count(what: &'static str, expected: usize, got: usize) -> Self {
        Self::new(Problem::Count { what, expected, got })
    }

    /// The same fault, said to lie within `place`.
    pub(crate) fn within(mut self, place: impl fmt::Display) -> Self {
        self.place.insert(0, place.to_string());
        self
    }

    /// The same fault, said to lie in the file of this name.
    pub(crate) fn in_file(mut self, name: &str) -> Self {
        self.file.get_or_insert_with(|| name.into());
        self
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place.join(", "))?;
        }
        self.problem.fmt(f)
    }
}

impl std::error::Error for InputError {}

impl From<Problem> for InputError {
    fn from(problem: Problem) -> Self {
        Self::new(problem)
    }
}

/// Adds a place to an error on its way out.
pub(crate) trait Within<T> {
    fn within(self, place: impl FnOnce() -> String) -> Result<T, InputError>;
}

impl<T> Within<T> for Result<T, InputError> {
    fn within(self, place: impl FnOnce() -> String) -> Result<T, InputError> {
        self.map_err(|error| error.within(place()))
    }
}

/// A value that errors can show.
pub(crate) trait Shown {
    fn shown(&self) -> String;
}

impl Shown for Scalar {
    fn shown(&self) -> String {
        format!("0x{} (little-endian)", hex::encode(domain::to_bytes(self)))
    }
}

impl Shown for [u8; 32] {
    fn shown(&self) -> String {
        format!("0x{}", hex::encode(self))
    }
}

macro_rules! shown_as_written {
    ($($kind:ty)*) => { $(impl Shown for $kind { fn shown(&self) -> String { self.to_string() } })* };
}
shown_as_written!(u32 u64 usize String &str);

/// Refuses two values that must be equal and are not, naming the relation.
pub(crate) fn equal<T: PartialEq + Shown>(
    relation: &'static str,
    expected: &T,
    got: &T,
) -> Result<(), InputError> {
    if expected == got {
        return Ok(());
    }
    Err(Problem::Relation { relation, expected: expected.shown(), got: got.shown() }.into())
}

/// Refuses a number of things that differs from the circuit's.
pub(crate) fn count(what: &'static str, expected: usize, got: usize) -> Result<(), InputError> {
    if expected == got { Ok(()) } else { Err(InputError::count(what, expected, got)) }
}
