//! Rank-1 constraint systems: recording, satisfaction, products, statistics, the digest, the compiled form on disk.
#![forbid(unsafe_code)]

mod coefficient;
mod compare;
mod compile;
mod compiled;
mod density;
mod digest_cs;
mod error;
mod file;
mod matrix;
mod products;
mod recorder;
mod rows;
mod stats;
mod stream;

pub use compiled::CompiledCircuit;
pub use digest_cs::{CircuitDigest, DigestCS, NamespaceEnd};
pub use error::{CheckError, CompileError, MatrixName, SizeError};
pub use file::{FileError, Source};
pub use products::{Assignment, PlainAssignment, ProductsMut, first_unsatisfied};
pub use recorder::Recorder;
pub use rows::{Row, Rows, Term};
pub use stats::{Checkpoint, CircuitStats};
