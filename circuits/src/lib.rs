//! Filecoin's production circuits and their inputs: PoRep, WinningPoSt, WindowPoSt, SnapDeals.
//!
//! - [`shape`]: the constants of every proof at every sector size, and the circuits' names.
//! - [`vanilla`]: what a circuit's witness is made of, one *partition* (one Groth16 proof) at a time.
#![forbid(unsafe_code)]

pub mod shape;
pub mod vanilla;
