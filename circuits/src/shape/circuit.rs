//! Shapes: what defines a circuit's constraints.

use assignment::CircuitId;
use blstrs::Scalar;
use ff::PrimeField;
use sha2::{Digest, Sha256};

use super::{
    CircuitName, DRG_PARENTS, EXP_PARENTS, PorepMode, Proof, SectorSize, TreeShape, UPDATE_RATES,
    WINNING_SECTORS,
};

/// What defines a PoRep circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PorepShape {
    /// The sector size: it fixes nodes and trees.
    pub size: SectorSize,
    /// Label layers; a column has that many labels.
    pub layers: usize,
    /// Challenges of one partition.
    pub challenges: usize,
}

/// What defines a FallbackPoSt circuit, WinningPoSt and WindowPoSt alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PostShape {
    /// The sector size: it fixes nodes and trees.
    pub size: SectorSize,
    /// Sectors of one partition.
    pub sectors: usize,
    /// Challenges of each sector.
    pub challenges: usize,
}

/// What defines a SnapDeals (EmptySectorUpdate) circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UpdateShape {
    /// The sector size: it fixes nodes and trees.
    pub size: SectorSize,
    /// Partitions of a proof; a power of two, at least one.
    pub partitions: usize,
    /// Challenges of one partition.
    pub challenges: usize,
    /// Nodes of tree D, all of one level, from which a partition's part of the tree is rebuilt; a power of two.
    pub apex_leaves: usize,
    /// The values of h (high bits of a challenge that choose its randomness) that the circuit selects from.
    pub hs: [usize; UPDATE_RATES],
    /// The index within [`hs`](Self::hs) that provers use.
    pub default_rate: usize,
}

impl PorepShape {
    /// The shape of trees C and R_last.
    pub fn tree(&self) -> TreeShape {
        self.size.tree()
    }

    /// The shape of tree D.
    pub fn tree_d(&self) -> TreeShape {
        TreeShape::binary(self.size.log2_nodes())
    }

    /// Public inputs of one partition, without ONE.
    pub fn public_inputs(&self) -> usize {
        3 + self.challenges * (4 + DRG_PARENTS + EXP_PARENTS)
    }

    /// The circuit's key.
    pub fn id(&self) -> CircuitId {
        let name = CircuitName { proof: Proof::Porep(PorepMode::Interactive), size: self.size };
        let constants = [self.size.bytes(), self.layers as u64, self.challenges as u64];
        id(name, *self == self.size.porep(), "porep", &constants)
    }
}

impl PostShape {
    /// The shape of tree R_last.
    pub fn tree(&self) -> TreeShape {
        self.size.tree()
    }

    /// Public inputs of one partition, without ONE.
    pub fn public_inputs(&self) -> usize {
        self.sectors * (1 + self.challenges)
    }

    /// The circuit's key.
    pub fn id(&self) -> CircuitId {
        // The two production shapes of one size differ by their challenges a sector.
        let winning = self.challenges == 1 && self.sectors == WINNING_SECTORS;
        let proof = if winning { Proof::Winning } else { Proof::Window };
        let production = winning || *self == self.size.window();
        let constants = [self.size.bytes(), self.sectors as u64, self.challenges as u64];
        id(CircuitName { proof, size: self.size }, production, "post", &constants)
    }
}

impl UpdateShape {
    /// The shape of the trees R_last, old and new.
    pub fn tree(&self) -> TreeShape {
        self.size.tree()
    }

    /// The base-2 logarithm of [`partitions`](Self::partitions): levels of tree D above the partitions' sub-trees.
    pub fn partition_levels(&self) -> usize {
        self.partitions.trailing_zeros() as usize
    }

    /// Levels of tree D between the apex leaves and the root of a partition's sub-tree.
    pub fn apex_levels(&self) -> usize {
        self.apex_leaves.trailing_zeros() as usize
    }

    /// Levels of tree D from a challenged node to its apex leaf.
    pub fn node_levels(&self) -> usize {
        self.size.log2_nodes() - self.partition_levels() - self.apex_levels()
    }

    /// Bits of a challenge that a digest gives: those of a node's index below the partition's.
    pub fn challenge_bits(&self) -> usize {
        self.size.log2_nodes() - self.partition_levels()
    }

    /// Challenges that one digest gives: as many as its 254 low bits hold.
    pub fn challenges_per_digest(&self) -> usize {
        Scalar::CAPACITY as usize / self.challenge_bits()
    }

    /// Digests that a partition's challenges take.
    pub fn digests(&self) -> usize {
        self.challenges.div_ceil(self.challenges_per_digest())
    }

    /// The first public input: the partition's index and, above its bits, `h_select`, which is `1 << rate`.
    pub fn k_and_h_select(&self, k: usize, rate: usize) -> u64 {
        k as u64 | 1 << (self.partition_levels() + rate)
    }

    /// Public inputs of one partition, without ONE.
    pub fn public_inputs(&self) -> usize {
        4
    }

    /// The circuit's key.
    pub fn id(&self) -> CircuitId {
        let name = CircuitName { proof: Proof::Update, size: self.size };
        let mut constants =
            vec![self.size.bytes(), self.partitions as u64, self.challenges as u64, self.apex_leaves as u64];
        constants.extend(self.hs.iter().map(|h| *h as u64));
        id(name, *self == self.size.update(), "update", &constants)
    }
}

/// The key: a digest over the family's name and the constants, and the command line's name, marked by the digest's
/// first bytes where the shape is not production's.
fn id(name: CircuitName, production: bool, family: &str, constants: &[u64]) -> CircuitId {
    let mut hasher = Sha256::new();
    hasher.update(family.as_bytes());
    constants.iter().for_each(|constant| hasher.update(constant.to_le_bytes()));
    let digest: [u8; 32] = hasher.finalize().into();
    let name = if production { name.to_string() } else { format!("{name}-{}", hex::encode(&digest[..4])) };
    CircuitId::new(name, digest)
}
