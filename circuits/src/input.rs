//! Readers of vanilla proofs.
//!
//! A file is recognised by its content, never by its name:
//!
//! | proof | forms |
//! | --- | --- |
//! | PoRep | the wrapper that lotus and curio write (`c1.json`: the phase-1 output in base64), the phase-1 JSON itself |
//! | WinningPoSt, WindowPoSt | bincode 1 or JSON, one sector after another or an array of them |
//! | SnapDeals | bincode 1 or JSON, one partition after another or an array of them |
//!
//! An array may hold objects or bincode in base64. The sectors or partitions of a proof may be spread over any number
//! of files.
//!
//! Readers are strict. They refuse whatever does not have exactly the shape of the circuit, and compare everything that
//! a proof states twice: roots and commitments, leaves and their preimages, indices and challenges. What they do *not*
//! check is the hashing along Merkle paths of Poseidon; the witness does, at no further cost.
//! Nothing is allocated in proportion to a length that a file only claims.

mod bincode;
mod detect;
mod error;
mod merkle;
mod porep;
mod post;
mod raw;
mod update;

pub use error::{InputError, Problem};
pub use porep::read_porep;
pub use post::{read_window, read_winning};
pub use update::read_update;

use blstrs::Scalar;

use crate::public::{porep_inputs, post_inputs, update_inputs};
use crate::shape::{CircuitName, Proof};
use crate::vanilla::{PorepPartition, PostPartition, UpdatePartition};

/// A file's name, for messages, and its content.
#[derive(Clone, Copy, Debug)]
pub struct InputFile<'a> {
    /// The name that errors give.
    pub name: &'a str,
    /// The content.
    pub bytes: &'a [u8],
}

/// All partitions of a proof.
#[derive(Clone, Debug)]
pub enum Partitions {
    /// A PoRep's, one circuit each.
    Porep(Vec<PorepPartition>),
    /// A WinningPoSt's one, or a WindowPoSt's.
    Post(Vec<PostPartition>),
    /// A SnapDeals proof's.
    Update(Vec<UpdatePartition>),
}

impl Partitions {
    /// The number of partitions.
    pub fn len(&self) -> usize {
        match self {
            Partitions::Porep(partitions) => partitions.len(),
            Partitions::Post(partitions) => partitions.len(),
            Partitions::Update(partitions) => partitions.len(),
        }
    }

    /// Whether there is none. A reader always returns some.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Each partition's public inputs, without ONE. The circuit is the one that the partitions were made for.
    pub fn public_inputs(&self, circuit: CircuitName) -> Vec<Vec<Scalar>> {
        match self {
            Partitions::Porep(partitions) => partitions.iter().map(porep_inputs).collect(),
            Partitions::Post(partitions) => partitions.iter().map(post_inputs).collect(),
            Partitions::Update(partitions) => {
                let shape = circuit.size.update();
                partitions.iter().map(|partition| update_inputs(&shape, partition)).collect()
            }
        }
    }
}

/// Reads all partitions of a proof of this circuit from the files together.
///
/// `porep-…` takes a PoRep of any mode; `porep-synth-…` and `porep-ni-…` that mode only.
pub fn read(circuit: CircuitName, files: &[InputFile<'_>]) -> Result<Partitions, InputError> {
    match circuit.proof {
        Proof::Porep(mode) => read_porep(circuit.size, mode, files).map(Partitions::Porep),
        Proof::Winning => {
            read_winning(circuit.size, files).map(|partition| Partitions::Post(vec![partition]))
        }
        Proof::Window => read_window(&circuit.size.window(), files).map(Partitions::Post),
        Proof::Update => read_update(&circuit.size.update(), files).map(Partitions::Update),
    }
}
