//! Rank-1 constraint systems: recording, satisfaction, products, statistics, the digest, the compiled form on disk.
//!
//! A constraint system is three sparse matrices A, B and C over the scalar field of BLS12-381; an assignment `w` satisfies
//! it when `(A·w)_i * (B·w)_i = (C·w)_i` for every row `i`. Filecoin's largest has 130 million rows, nearly all of them in copies of one
//! unit, so a [`CompiledCircuit`] keeps the prefix and one unit and expands on the way.
//!
//! - [`CompiledCircuit::compile`] records a `StructuredCircuit`, [`Recorder`] any bellpepper-core circuit.
//! - [`CompiledCircuit::products`] and [`CompiledCircuit::check`] apply it to a witness, packed or plain.
//! - [`device`] does the same on a CUDA device.
//! - [`CompiledCircuit::digest`], or [`DigestCS`] without keeping anything, tell whether two circuits are one.
//! - [`CompiledCircuit::load_or_compile`] keeps it on disk.
//!
//! ```
//! use bellpepper_core::ConstraintSystem;
//! use blstrs::Scalar;
//! use r1cs::{CheckError, PlainAssignment, Recorder};
//!
//! // x * x = y, for a public y.
//! let mut recorder = Recorder::new();
//! let y = recorder.alloc_input(|| "y", || unreachable!("values are not asked for"))?;
//! let x = recorder.alloc(|| "x", || unreachable!())?;
//! recorder.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + y);
//! let circuit = recorder.finish(assignment::CircuitId::new("square", [0; 32]))?;
//!
//! let inputs = [1, 49].map(Scalar::from);
//! assert_eq!(circuit.check(&PlainAssignment { inputs: &inputs, aux: &[Scalar::from(7)] }), Ok(()));
//! let wrong = circuit.check(&PlainAssignment { inputs: &inputs, aux: &[Scalar::from(8)] });
//! assert!(matches!(wrong, Err(CheckError::Unsatisfied { row: 0, .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod coefficient;
mod compare;
mod compile;
mod compiled;
mod density;
pub mod device;
mod digest_cs;
mod error;
mod ffi;
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
pub use file::{FileError, NotAFile, Source, check_target, folder_of, open_regular, write_whole};
pub use products::{Assignment, PlainAssignment, ProductsMut, first_unsatisfied};
pub use recorder::Recorder;
pub use rows::{Row, Rows, Term};
pub use stats::{Checkpoint, CircuitStats};
