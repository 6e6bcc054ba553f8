//! Challenges: which nodes a proof opens, derived from public values.

pub mod porep;
pub mod post;
pub mod update;
