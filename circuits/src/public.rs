//! Public inputs: from a partition's vanilla proof, and from the public values that a verifier knows.
//!
//! The order is that of allocation in the circuit; the constant ONE is not among them.

mod porep;
mod post;
mod update;

pub use porep::{PorepInstance, porep_inputs};
pub use post::{PostSectorId, post_inputs, window_inputs, winning_inputs};
pub use update::{UpdateInstance, update_inputs};
