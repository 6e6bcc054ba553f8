//! Synthetic sectors: satisfying vanilla proofs for any circuit at any size, from a seed and without a sector.
//!
//! Every hash, label, encoding and challenge that a proof opens is computed, so that circuits are satisfied for real
//! reasons. What is not opened does not exist:
//!
//! - Trees C and R_last of PoRep and PoSt are *sparse*: the opened paths, consistent with each other where they meet,
//!   and seeded values for all other siblings.
//! - Commitments that challenges depend on must be known before the challenges. Tree D of a PoRep (through the
//!   replica id) and all three trees of SnapDeals are therefore *regular*: a leaf depends on few bits of information
//!   about its index, so that a whole tree of 2^30 leaves is a few thousand hashes.
//! - A PoRep's label is computed for challenged nodes; a parent's labels are seeded, unless it is challenged too.
//!
//! The challenges of synthetic and non-interactive PoReps depend on comm_r, which depends on what is opened. A sparse
//! tree cannot have both, and the circuit does not ask for it: these modes take interactive challenges here, as
//! many partitions as theirs.

mod filler;
mod porep;
mod post;
mod regular;
mod sparse;
mod update;

pub use filler::SectorSeed;
pub use porep::{SyntheticPorep, porep};
pub use post::{SyntheticWindow, SyntheticWinning, window, winning};
pub use update::{SyntheticUpdate, update};

use crate::input::Partitions;
use crate::shape::{CircuitName, Proof};

/// All partitions of `sectors` synthetic sectors' proofs.
///
/// A WindowPoSt proves all sectors together, as many a partition as the circuit has; any other proof has partitions of
/// its own for each sector, which come one sector after another. No sectors have no partitions.
pub fn synthetic(circuit: CircuitName, seed: u64, sectors: usize) -> Partitions {
    let size = circuit.size;
    let sector_seeds = (0..sectors as u64).map(|sector| (seed, sector));
    match circuit.proof {
        Proof::Porep(mode) => {
            Partitions::Porep(sector_seeds.flat_map(|seed| porep(size, mode, seed).partitions).collect())
        }
        Proof::Winning => Partitions::Post(sector_seeds.map(|seed| winning(size, seed).partition).collect()),
        Proof::Window => Partitions::Post(window(&size.window(), seed, sectors).partitions),
        Proof::Update => {
            let shape = size.update();
            Partitions::Update(sector_seeds.flat_map(|seed| update(&shape, seed).partitions).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use blstrs::Scalar;
    use gadgets::merkle::{NodeHasher, Shape, opening};

    use crate::shape::TreeShape;
    use crate::vanilla::MerklePath;

    /// The root of a path by the gadgets' own reckoning.
    pub(super) fn root_of(tree: &TreeShape, leaf: Scalar, path: &MerklePath) -> Scalar {
        let hasher = if tree.base == 2 { NodeHasher::Sha256 } else { NodeHasher::Poseidon };
        let shape = Shape::new(hasher, tree.base, tree.base_levels, tree.sub, tree.top).unwrap();
        opening(&shape, leaf, &path.levels).unwrap().root
    }
}
