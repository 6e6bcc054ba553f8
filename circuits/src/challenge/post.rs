//! The challenges of WinningPoSt and WindowPoSt, and the choice of the sector that wins.

use sha2::{Digest, Sha256};

use crate::identity::ApiVersion;
use crate::shape::PostShape;

/// The challenged nodes of a sector: challenge `n` is the first eight bytes of
/// `SHA-256(randomness || sector_id as u64 LE || number as u64 LE)` as a little-endian integer, modulo the nodes.
///
/// `sector_index` is the sector's place among all sectors of all partitions. Up to API 1.1.0 a challenge's number
/// counts through the sectors (`sector_index * challenges + n`); from 1.2.0 on it is `n`. A WinningPoSt is always of
/// API 1.0.0. The network clears the two top bits of the randomness it draws, so that it is a field element.
pub fn leaf_challenges(
    shape: &PostShape,
    api: ApiVersion,
    randomness: &[u8; 32],
    sector_id: u64,
    sector_index: usize,
) -> Vec<u64> {
    let count = shape.challenges as u64;
    let first = match api {
        ApiVersion::V1_0_0 | ApiVersion::V1_1_0 => sector_index as u64 * count,
        ApiVersion::V1_2_0 => 0,
    };
    let prefix = Sha256::new().chain_update(randomness).chain_update(sector_id.to_le_bytes());
    (first..first + count).map(|number| hash_word(&prefix, number) % shape.size.nodes()).collect()
}

/// Which of `sectors` sectors, in the order of their ids, WinningPoSt challenge `n` selects: the first eight bytes of
/// `SHA-256(prover_id || randomness || n as u64 LE)` as a little-endian integer, modulo the sectors. `None` where
/// there are no sectors.
pub fn winning_sector(prover_id: &[u8; 32], randomness: &[u8; 32], n: u64, sectors: u64) -> Option<u64> {
    let prefix = Sha256::new().chain_update(prover_id).chain_update(randomness);
    hash_word(&prefix, n).checked_rem(sectors)
}

fn hash_word(prefix: &Sha256, number: u64) -> u64 {
    let hash = prefix.clone().chain_update(number.to_le_bytes()).finalize();
    hash[..8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::shape::SectorSize;

    proptest! {
        #[test]
        fn leaves_are_nodes_and_versions_agree_on_the_first_sector(seed: [u8; 32], id: u64, index in 1usize..10_000) {
            for size in SectorSize::ALL {
                let shape = size.window();
                let of = |api, index| leaf_challenges(&shape, api, &seed, id, index);
                let new = of(ApiVersion::V1_2_0, index);
                prop_assert_eq!(new.len(), shape.challenges);
                prop_assert!(new.iter().all(|leaf| *leaf < size.nodes()));
                prop_assert_eq!(&new, &of(ApiVersion::V1_0_0, 0));
                prop_assert_eq!(&new, &of(ApiVersion::V1_2_0, 0));
                prop_assert_ne!(new, of(ApiVersion::V1_1_0, index));
            }
        }

        #[test]
        fn numbers_count_through_the_sectors(seed: [u8; 32], id: u64) {
            // Sixty-six sectors of one challenge are one sector of sixty-six.
            let single = SectorSize::GiB32.winning();
            let whole = PostShape { sectors: 1, challenges: 66, ..single };
            let api = ApiVersion::V1_0_0;
            let parts: Vec<u64> = (0..66).flat_map(|i| leaf_challenges(&single, api, &seed, id, i)).collect();
            prop_assert_eq!(parts, leaf_challenges(&whole, api, &seed, id, 0));
        }

        #[test]
        fn the_selected_sector_exists(prover: [u8; 32], seed: [u8; 32], n: u64, sectors in 1u64..) {
            prop_assert!(winning_sector(&prover, &seed, n, sectors).unwrap() < sectors);
            prop_assert_eq!(winning_sector(&prover, &seed, n, 0), None);
        }
    }
}
