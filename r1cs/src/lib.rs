//! Rank-1 constraint systems: recording, satisfaction, products, statistics, the digest, the compiled form on disk.
#![forbid(unsafe_code)]

mod coefficient;
mod compare;
mod compile;
mod compiled;
mod density;
mod error;
mod matrix;
mod recorder;
mod rows;

pub use compiled::CompiledCircuit;
pub use error::{CheckError, CompileError, MatrixName, SizeError};
pub use recorder::Recorder;
pub use rows::{Row, Rows, Term};
