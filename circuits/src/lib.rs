//! Filecoin's production circuits and their inputs: PoRep, WinningPoSt, WindowPoSt, SnapDeals.
//!
//! - [`shape`]: the constants of every proof at every sector size, and the circuits' names.
//! - [`vanilla`]: what a circuit's witness is made of, one *partition* (one Groth16 proof) at a time.
//! - [`input`]: readers of vanilla proofs.
//! - [`public`]: public inputs, from vanilla proofs and from what a verifier knows.
//! - [`challenge`], [`graph`], [`identity`], [`params_name`]: what public inputs and file names are derived from.
//! - [`sample`]: real vanilla proofs of 2 KiB sectors; [`synthetic`]: satisfying ones of any size, from a seed.
//! - [`porep`], [`post`], [`update`]: the circuits, and [`FilecoinCircuit`], any of them; [`error`]: what can be wrong with a partition.
#![forbid(unsafe_code)]

mod alloc;
mod circuit;
mod form;
mod hash;

pub mod challenge;
pub mod error;
pub mod graph;
pub mod identity;
pub mod input;
pub mod params_name;
pub mod porep;
pub mod post;
pub mod public;
pub mod sample;
pub mod shape;
pub mod synthetic;
pub mod update;
pub mod vanilla;

pub use circuit::{FilecoinCircuit, FilecoinContext, FilecoinPrefix};
