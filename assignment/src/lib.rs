//! Assignments of a circuit: the classic proving assignment, the packed witness, and the sink that native witness
//! generators push into.
//!
//! Three ways from a circuit to its values:
//! - [`ProvingAssignment`] takes any bellpepper-core circuit, evaluates its constraints, and keeps densities.
//! - [`WitnessCS`] takes any bellpepper-core circuit and keeps only its values, packed.
//! - [`native_witness`] takes a circuit that says how its values come about ([`NativeWitness`]) and fills a
//!   [`PackedWitness`] in parallel, without a constraint system.
//!
//! ```
//! use assignment::{ProvingAssignment, WitnessCS};
//! use bellpepper_core::{ConstraintSystem, SynthesisError};
//! use blstrs::Scalar;
//!
//! fn square<CS: ConstraintSystem<Scalar>>(cs: &mut CS, x: u64) -> Result<(), SynthesisError> {
//!     let y = cs.alloc_input(|| "y", || Ok(Scalar::from(x * x)))?;
//!     let x = cs.alloc(|| "x", || Ok(Scalar::from(x)))?;
//!     cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + y);
//!     Ok(())
//! }
//!
//! let mut classic = ProvingAssignment::with_hint(None);
//! square(&mut classic, 7)?;
//! assert_eq!(classic.c(), [Scalar::from(49)]);
//! assert_eq!(classic.first_unsatisfied(), None);
//!
//! let mut witness = WitnessCS::with_hint(Some(classic.capacity_hint()));
//! square(&mut witness, 7)?;
//! assert_eq!(witness.into_witness().dense_values(), [Scalar::from(7)]);
//! # Ok::<(), SynthesisError>(())
//! ```
#![forbid(unsafe_code)]

mod assembly;
mod bitmap;
pub mod hints;
mod id;
mod native;
mod packed;
mod packer;
mod proving;
pub mod reaper;
mod sink;
mod structured;
mod witness_cs;

pub use assembly::{Assembly, Combination};
pub use bitmap::Bitmap;
pub use hints::{CapacityHint, PackedShape, WitnessCounts};
pub use id::CircuitId;
pub use native::{NativeWitnessError, native_witness};
pub use packed::{AuxValue, Difference, PackedError, PackedWitness};
pub use packer::Packer;
pub use proving::{ProvingAssignment, ProvingVectors};
pub use sink::WitnessSink;
pub use structured::{NativeWitness, StructuredCircuit, Whole};
pub use witness_cs::WitnessCS;
