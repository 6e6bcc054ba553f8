//! Inclusion of a leaf in a Merkle tree.
//!
//! A tree has base levels of one arity, and may have one level of another above them (joining subtrees) and one more above that
//! (joining those). Poseidon trees of Filecoin are 8-ary with an optional level of 8 or 2, then 2; the data tree is binary with
//! SHA-256.

mod circuit;
mod native;
mod shape;

pub use circuit::{Root, hash_node, inclusion, inclusion_of_bits};
pub use native::{
    Opening, hash_node_value, hash_node_witness, inclusion_of_bits_witness, inclusion_witness,
    inclusion_witness_each, opening,
};
pub use shape::{NodeHasher, PathElement, PathError, Shape, ShapeError};
