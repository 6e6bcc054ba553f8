//! Filecoin's circuit gadgets, each with a native witness generator: SHA-256, Poseidon, Merkle paths, packing.
//!
//! A gadget is written twice. The *constraint side* allocates variables and enforces rows on a
//! [`ConstraintSystem`](bellpepper_core::ConstraintSystem); it is the definition. The *native side*, a function whose
//! name ends in `_witness`, pushes the same values in the same order into a
//! [`WitnessSink`](assignment::WitnessSink), computed on machine words and field elements without any linear
//! combination. The tests hold the two against each other, value for value and kind (bit or element) for kind.
//!
//! Production parameters fix every row: the order of allocations and constraints is that of Filecoin's circuits
//! (rust-fil-proofs 19), and so are oddities such as variables without a booleanity row.
//!
//! | module | gadgets |
//! | --- | --- |
//! | [`boolean`] | bits into linear combinations; SHA-256's choice and majority |
//! | [`uint32`], [`multieq`], [`uint64`] | words; many 32-bit additions in one row |
//! | [`sha256`] | the hash of a message whose bits may be constants |
//! | [`poseidon`] | the permutation in the form of neptune's first circuit |
//! | [`num`] | choice, insertion, selection, equality, addition, bits of a number |
//! | [`pack`] | bits to numbers and public inputs |
//! | [`merkle`] | inclusion in Poseidon and SHA-256 trees |
//!
//! # Variables of a blank circuit
//! A gadget runs without values: allocations then fail with
//! [`AssignmentMissing`](bellpepper_core::SynthesisError::AssignmentMissing) only if the constraint system asks for them.

pub mod boolean;
mod ffi;
pub mod merkle;
pub mod multieq;
pub mod num;
pub mod pack;
pub mod poseidon;
pub mod sha256;
pub mod uint32;
pub mod uint64;
