//! Assignments of a circuit: the classic proving assignment, the packed witness, and the sink that native witness
//! generators push into.
//!
//! Three ways from a circuit to its values:
//! - [`ProvingAssignment`] takes any bellpepper-core circuit, evaluates its constraints, and keeps densities.
//! - [`WitnessCS`] takes any bellpepper-core circuit and keeps only its values, packed.
//! - [`native_witness`] takes a circuit that says how its values come about ([`NativeWitness`]) and fills a
//!   [`PackedWitness`] in parallel, without a constraint system.
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
