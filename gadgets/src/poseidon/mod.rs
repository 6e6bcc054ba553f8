//! Poseidon with the constants of Filecoin, in the circuit that its parameters were made for: neptune's first ("legacy") one.
//!
//! A permutation of width `arity + 1` has 8 full rounds and 55 to 57 partial ones. Its state is a row vector that matrices
//! multiply from the right, `out_j = Σ_i s_i · m_ij`. The first element starts as a domain tag, the second ends as the hash.
//! Round keys are added after the fifth powers and moved through the linear layers, so that a partial round has one; the
//! partial rounds' matrices are factored into sparse ones. Both factorisations show in the rows' coefficients.

mod circuit;
mod constants;
mod limbs;
mod native;
mod tables;

pub use circuit::hash;
pub use constants::Constants;
pub(crate) use limbs::{LimbsOf52, MODULUS_OF_52, limbs_of_52};
pub use native::{AT_ONCE, WrongPreimage, hash_value, hash_witness, hash_witness_each};
pub(crate) use tables::VectorTables;
