//! Public inputs of a PoSt partition: for each sector comm_r and the indices of its challenged leaves.

use blstrs::Scalar;

use crate::challenge::post::leaf_challenges;
use crate::identity::ApiVersion;
use crate::shape::{PostShape, SectorSize};
use crate::vanilla::PostPartition;

/// The public inputs that a partition's vanilla proof states.
pub fn post_inputs(partition: &PostPartition) -> Vec<Scalar> {
    let mut inputs = Vec::new();
    for sector in &partition.sectors {
        inputs.push(sector.comm_r);
        inputs.extend(sector.openings.iter().map(|opening| Scalar::from(opening.path.leaf_index())));
    }
    inputs
}

/// What a verifier knows of a proven sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostSectorId {
    /// The sector's number.
    pub id: u64,
    /// The replica's commitment.
    pub comm_r: Scalar,
}

/// The public inputs of partition `k` of a WindowPoSt of all these sectors; a short last partition repeats its last
/// sector. Empty where the sectors end before partition `k`.
pub fn window_inputs(
    shape: &PostShape,
    api: ApiVersion,
    randomness: &[u8; 32],
    sectors: &[PostSectorId],
    k: usize,
) -> Vec<Scalar> {
    let first = k * shape.sectors;
    let last = sectors.len().saturating_sub(1);
    let range = if first < sectors.len() { first..first + shape.sectors } else { 0..0 };
    let indices = range.map(|index| index.min(last));
    indices
        .filter_map(|index| sectors.get(index).map(|sector| (index, sector)))
        .flat_map(|(index, sector)| sector_inputs(shape, api, randomness, sector, index))
        .collect()
}

/// The public inputs of a WinningPoSt: the sector as often as the circuit has sectors, each time under a challenge of
/// its own.
pub fn winning_inputs(size: SectorSize, randomness: &[u8; 32], sector: &PostSectorId) -> Vec<Scalar> {
    let shape = size.winning();
    (0..shape.sectors)
        .flat_map(|index| sector_inputs(&shape, ApiVersion::V1_0_0, randomness, sector, index))
        .collect()
}

fn sector_inputs(
    shape: &PostShape,
    api: ApiVersion,
    randomness: &[u8; 32],
    sector: &PostSectorId,
    index: usize,
) -> Vec<Scalar> {
    let leaves = leaf_challenges(shape, api, randomness, sector.id, index);
    [sector.comm_r].into_iter().chain(leaves.into_iter().map(Scalar::from)).collect()
}
