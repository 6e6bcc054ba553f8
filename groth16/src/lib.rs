//! Groth16 over BLS12-381 in Filecoin's file formats: setup, parameters, proving, verifying.
//!
//! - [`setup`] makes test parameters for a compiled circuit from a trapdoor ([`ToxicWaste`]); [`setup_on`] does so on a device, and
//!   [`setup_file`] without holding them.
//! - [`Parameters`] and [`VerifyingKey`] read and write Filecoin's `.params` and `.vk` files.
//! - [`Prover`] proves packed witnesses of a compiled circuit on a [`Backend`]; its [`Plan`] says where on a device's machine
//!   everything is, within [`Budgets`] of memory. [`prove_assignment`] proves whatever a bellpepper-core circuit synthesised into a
//!   `ProvingAssignment`.
//! - [`Fleet`] is a prover for each of several devices, and proves batches.
//! - [`worker`] has a device used by a process of its own, so that a kernel that faults costs one proof.
//! - Feature `filecoin` adds the module `filecoin`: entry points by Filecoin's proof types.
//! - [`PreparedVerifyingKey`] verifies one [`Proof`] or many.

mod backend;
mod cpu;
mod cuda;
mod encoding;
mod error;
mod ffi;
#[cfg(feature = "filecoin")]
pub mod filecoin;
mod files;
mod fleet;
mod key;
mod many;
mod parameters;
mod pipeline;
mod plan;
mod points;
mod proof;
mod prove;
mod secret;
mod setup;
mod shape;
mod source;
#[doc(hidden)]
pub mod testing;
mod times;
mod turns;
mod verify;
pub mod worker;

pub use backend::Backend;
pub use encoding::PointError;
pub use error::{KeyError, ParameterError, Section};
pub use files::check_test_target;
pub use fleet::{Batch, DropOut, Fleet, FleetError};
pub use key::VerifyingKey;
pub use many::{Outcome, ProveManyError, until_error};
pub use parameters::{FileOptions, Parameters, ReadOptions};
pub use plan::{Budgets, Origin, Place, Plan, PlanError, Sizes};
pub use proof::{Proof, ProofError, ProofPoint, PublicInputError, public_inputs_from_bytes};
pub use prove::{ProveError, Proved, Prover, prove_assignment};
pub use secret::{Randomness, ToxicWaste, ZeroSecret};
pub use setup::{SetupError, setup, setup_file, setup_into, setup_on};
pub use shape::Shape;
pub use times::{Clocks, StageTimes, SumTimes};
pub use verify::{BatchError, PreparedVerifyingKey, VerificationError};
