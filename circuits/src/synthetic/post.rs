//! Synthetic WinningPoSt and WindowPoSt.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::filler::{Filler, SectorSeed};
use super::sparse::SparseTree;
use crate::challenge::post::leaf_challenges;
use crate::hash;
use crate::identity::ApiVersion;
use crate::public::PostSectorId;
use crate::shape::{PostShape, SectorSize};
use crate::vanilla::{Opening, PostPartition, PostSector};

/// A WinningPoSt's partition, and the public values from which its inputs follow.
#[derive(Clone, Debug)]
pub struct SyntheticWinning {
    /// The partition.
    pub partition: PostPartition,
    /// The randomness of the challenges.
    pub randomness: [u8; 32],
    /// The sector.
    pub sector: PostSectorId,
}

/// A WindowPoSt's partitions, and the public values from which their inputs follow (API version 1.2.0).
#[derive(Clone, Debug)]
pub struct SyntheticWindow {
    /// All partitions, in order.
    pub partitions: Vec<PostPartition>,
    /// The randomness of the challenges.
    pub randomness: [u8; 32],
    /// The sectors, without repetitions.
    pub sectors: Vec<PostSectorId>,
}

/// A synthetic sector's WinningPoSt.
pub fn winning(size: SectorSize, seed: SectorSeed) -> SyntheticWinning {
    let shape = size.winning();
    let randomness = randomness(seed.0);
    let id = seed.1;
    let api = ApiVersion::V1_0_0;
    let leaves = (0..shape.sectors).flat_map(|index| leaf_challenges(&shape, api, &randomness, id, index));
    let sector = sector(&shape, seed, leaves.collect());
    let parts = sector.openings.chunks(shape.challenges);
    let sectors =
        parts.map(|openings| Arc::new(PostSector { openings: openings.to_vec(), ..sector.clone() }));
    SyntheticWinning {
        partition: PostPartition { sectors: sectors.collect() },
        randomness,
        sector: PostSectorId { id, comm_r: sector.comm_r },
    }
}

/// A WindowPoSt of that many synthetic sectors; its last partition is filled by repeating the last sector.
pub fn window(shape: &PostShape, seed: u64, sectors: usize) -> SyntheticWindow {
    let randomness = randomness(seed);
    let made = (0..sectors as u64).into_par_iter().map(|id| {
        let leaves = leaf_challenges(shape, ApiVersion::V1_2_0, &randomness, id, 0);
        Arc::new(sector(shape, (seed, id), leaves))
    });
    let sectors: Vec<_> = made.collect();
    let ids = sectors.iter().zip(0..).map(|(sector, id)| PostSectorId { id, comm_r: sector.comm_r });
    let ids = ids.collect();
    SyntheticWindow { partitions: PostPartition::fill(shape, &sectors), randomness, sectors: ids }
}

fn randomness(seed: u64) -> [u8; 32] {
    Filler::new((seed, 0), "PoSt randomness").bytes(0, 0)
}

/// A sector of which these leaves are opened, in this order.
fn sector(shape: &PostShape, seed: SectorSeed, leaves: Vec<u64>) -> PostSector {
    let replica = Filler::new(seed, "replica");
    let known: BTreeMap<_, _> = leaves.iter().map(|leaf| (*leaf, replica.value(0, *leaf))).collect();
    let tree = SparseTree::new(&shape.tree(), known, Filler::new(seed, "tree R_last"));
    let comm_c = Filler::new(seed, "comm_c").value(0, 0);
    let open = |leaf: u64| Opening { leaf: replica.value(0, leaf), path: tree.path(leaf) };
    PostSector {
        comm_r: hash::comm_r(comm_c, tree.root()),
        comm_c,
        comm_r_last: tree.root(),
        openings: leaves.into_iter().map(open).collect(),
    }
}
