//! Vanilla proofs: what the circuits' witnesses are made of, one partition (one Groth16 proof) at a time.
//!
//! These types hold only what a witness needs, each value once. Whatever a proof file states twice (roots, leaves
//! that are hashes, indices of columns) is compared when it is read and then dropped. All field elements are
//! [`Scalar`]s, so that a value of the modulus or above cannot occur; how bytes become one is in [`domain`].
//!
//! Node indices are natural: node `i` of a sector is its bytes `32 i .. 32 (i + 1)`.

mod merkle;

pub mod domain;

pub use merkle::{MerklePath, Opening, PathElement};

use std::sync::Arc;

use blstrs::Scalar;

use crate::shape::PostShape;

/// One partition of a PoRep: the witness of [`PorepShape`](crate::shape::PorepShape).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PorepPartition {
    /// The key of the encoding: public input 1.
    pub replica_id: Scalar,
    /// The root of tree D, the data: public input 2.
    pub comm_d: Scalar,
    /// `Poseidon(comm_c, comm_r_last)`: public input 3.
    pub comm_r: Scalar,
    /// The root of tree R_last, the replica.
    pub comm_r_last: Scalar,
    /// The root of tree C, the column hashes.
    pub comm_c: Scalar,
    /// The challenges, as many as the shape says.
    pub challenges: Vec<PorepChallenge>,
}

/// What a PoRep opens for one challenged node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PorepChallenge {
    /// The challenged node, from 1 to nodes - 1.
    pub node: u64,
    /// The data node in tree D (binary, SHA-256): the leaf is the unsealed 32 bytes.
    pub data: Opening,
    /// The path of the replica node in tree R_last. Its leaf, label + data, is computed by the circuit.
    pub replica_path: MerklePath,
    /// The path of the node's column hash in tree C. Its leaf is computed by the circuit from the labels.
    pub column_path: MerklePath,
    /// The columns of the depth-robust graph's [`DRG_PARENTS`](crate::shape::DRG_PARENTS) parents, in order.
    pub drg_parents: Vec<Column>,
    /// The columns of the expander's [`EXP_PARENTS`](crate::shape::EXP_PARENTS) parents, in order.
    pub exp_parents: Vec<Column>,
}

/// A node's labels in all layers, and the path of their hash in tree C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The labels, layer 1 first, as many as the sector size has layers.
    pub labels: Vec<Scalar>,
    /// The path of the column's hash in tree C; its index is the node.
    pub path: MerklePath,
}

/// One partition of a WinningPoSt or WindowPoSt: the witness of [`PostShape`].
///
/// It has as many sectors as the shape says. Repetitions of a sector (in a WindowPoSt's short last partition) share
/// its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostPartition {
    /// The sectors, in order.
    pub sectors: Vec<Arc<PostSector>>,
}

impl PostPartition {
    /// A WindowPoSt's partitions: sectors fill them in order, and the last partition is filled by repeating the last
    /// sector.
    pub fn fill(shape: &PostShape, sectors: &[Arc<PostSector>]) -> Vec<Self> {
        let partitions = sectors.chunks(shape.sectors.max(1)).map(|chunk| {
            let last = chunk.last().into_iter().cycle();
            PostPartition { sectors: chunk.iter().chain(last).take(shape.sectors).cloned().collect() }
        });
        partitions.collect()
    }
}

/// What a PoSt opens of one sector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostSector {
    /// `Poseidon(comm_c, comm_r_last)`: the sector's first public input.
    pub comm_r: Scalar,
    /// The root of tree C.
    pub comm_c: Scalar,
    /// The root of tree R_last, which all openings lead to.
    pub comm_r_last: Scalar,
    /// The challenged nodes of the replica in tree R_last, as many as the shape has challenges a sector.
    pub openings: Vec<Opening>,
}

/// One partition of SnapDeals: the witness of [`UpdateShape`](crate::shape::UpdateShape).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdatePartition {
    /// The partition's index.
    pub k: usize,
    /// Which of the shape's rates `hs` is used, from 0 to 5; `h_select` is `1 << rate`.
    pub rate: usize,
    /// The old replica's `Poseidon(comm_c, root_r_old)`: public input 2.
    pub comm_r_old: Scalar,
    /// The root of the new data's tree D: public input 3.
    pub comm_d_new: Scalar,
    /// `Poseidon(comm_c, root_r_new)`: public input 4.
    pub comm_r_new: Scalar,
    /// The root of tree C, the same before and after.
    pub comm_c: Scalar,
    /// The root of the old replica's tree R_last.
    pub root_r_old: Scalar,
    /// The root of the new replica's tree R_last.
    pub root_r_new: Scalar,
    /// The partition's nodes of tree D at the apex level, left to right, as many as the shape has apex leaves.
    pub apex_leaves: Vec<Scalar>,
    /// The path from the root of the partition's part of tree D to `comm_d_new`; its index is `k`.
    pub partition_path: MerklePath,
    /// The challenges, as many as the shape says.
    pub challenges: Vec<UpdateChallenge>,
}

/// What SnapDeals opens for one challenged node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateChallenge {
    /// The challenged node. The circuit derives it from `comm_r_new` and the partition's index.
    pub node: u64,
    /// The node of the old replica, in its tree R_last.
    pub r_old: Opening,
    /// The node of the new data, in tree D: a path up to its apex leaf only
    /// ([`UpdateShape::node_levels`](crate::shape::UpdateShape::node_levels) levels).
    pub d_new: Opening,
    /// The path of the new replica's node in its tree R_last. The leaf, `r_old + d_new * rho`, is computed by the
    /// circuit.
    pub r_new_path: MerklePath,
}
