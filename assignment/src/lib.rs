//! Assignments of a circuit: the classic proving assignment, the packed witness, and the sink that native witness
//! generators push into.

mod id;
mod sink;
mod structured;

pub use id::CircuitId;
pub use sink::WitnessSink;
pub use structured::{NativeWitness, StructuredCircuit, Whole};
