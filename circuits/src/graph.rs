//! The stacked graph: which nodes a label depends on.
//!
//! A node has six parents in its own layer (a depth-robust graph by bucket sampling) and eight in the layer before (an
//! expander by Chung's construction). Both follow from the porep id. Source: the Filecoin specification, "Stacked
//! DRG", and its reference implementation for the details that differ by API version.

mod feistel;

pub use feistel::Feistel;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use sha2::{Digest, Sha256};

use crate::identity::ApiVersion;
use crate::shape::{DRG_PARENTS, EXP_PARENTS, SectorSize};

/// The parents of the depth-robust graph that are sampled; the remaining one is the predecessor.
const SAMPLED: usize = DRG_PARENTS - 1;

/// The graph of one porep id.
#[derive(Clone, Debug)]
pub struct StackedGraph {
    api: ApiVersion,
    drg_seed: [u8; 28],
    permutation: Feistel,
}

impl StackedGraph {
    /// The graph of a sector of this size under this porep id.
    pub fn new(size: SectorSize, porep_id: &[u8; 32], api: ApiVersion) -> Self {
        let seed = |tag: &str| -> [u8; 32] {
            Sha256::new().chain_update(tag).chain_update(porep_id).finalize().into()
        };
        let mut drg_seed = [0; 28];
        drg_seed.copy_from_slice(&seed("Filecoin_DRSample")[..28]);
        let key_bytes = seed("Filecoin_Feistel");
        let keys = std::array::from_fn(|i| le_word(&key_bytes, i));
        Self { api, drg_seed, permutation: Feistel::new(size.nodes() * EXP_PARENTS as u64, keys) }
    }

    /// The parents of `node` in its own layer, in the order in which a label hashes them. Those of nodes 0 and 1 are
    /// all 0; every other node's are below it, and one is its predecessor.
    pub fn drg_parents(&self, node: u64) -> [u64; DRG_PARENTS] {
        let mut parents = [0; DRG_PARENTS];
        if node < 2 {
            return parents;
        }
        let mut seed = [0; 32];
        seed[..28].copy_from_slice(&self.drg_seed);
        seed[28..].copy_from_slice(&(node as u32).to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(seed);

        // Each node is SAMPLED nodes of a "metagraph", each of which has one sampled parent: first a bucket of
        // distances between two powers of two, then a distance in it.
        let meta = node * SAMPLED as u64;
        let buckets = u64::from(meta.next_power_of_two().trailing_zeros());
        let (predecessor, sampled) = match self.api {
            ApiVersion::V1_0_0 => (SAMPLED, 0..SAMPLED),
            ApiVersion::V1_1_0 | ApiVersion::V1_2_0 => (0, 1..DRG_PARENTS),
        };
        for parent in &mut parents[sampled] {
            let bucket = rng.next_u64() % buckets + 1;
            let largest = meta.min(1 << bucket);
            let smallest = 2.max(largest >> 1);
            let distance = smallest + rng.next_u64() % (largest - smallest + 1);
            // A metagraph parent within the node itself stands for the predecessor.
            *parent = ((meta - distance) / SAMPLED as u64).min(node - 1);
        }
        parents[predecessor] = node - 1;
        parents
    }

    /// The parents of `node` in the layer before, in the order in which a label hashes them. Over all nodes every
    /// node is a parent exactly [`EXP_PARENTS`] times, except under API 1.0.0 for sectors of 2^29 nodes and more.
    pub fn exp_parents(&self, node: u64) -> [u64; EXP_PARENTS] {
        let degree = EXP_PARENTS as u64;
        std::array::from_fn(|i| {
            let image = self.permutation.permute(node * degree + i as u64);
            match self.api {
                // The first version cut the permuted index to 32 bits before dividing.
                ApiVersion::V1_0_0 => u64::from(image as u32) / degree,
                ApiVersion::V1_1_0 | ApiVersion::V1_2_0 => image / degree,
            }
        })
    }
}

/// The `i`-th little-endian 64-bit word of a hash.
fn le_word(hash: &[u8; 32], i: usize) -> u64 {
    hash[8 * i..8 * i + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn version() -> impl Strategy<Value = ApiVersion> {
        prop_oneof![Just(ApiVersion::V1_0_0), Just(ApiVersion::V1_1_0), Just(ApiVersion::V1_2_0)]
    }

    fn size() -> impl Strategy<Value = SectorSize> {
        (0..SectorSize::ALL.len()).prop_map(|i| SectorSize::ALL[i])
    }

    proptest! {
        #[test]
        fn drg_parents_are_below_their_child(porep_id: [u8; 32], api in version(), size in size(), pick: u64) {
            let graph = StackedGraph::new(size, &porep_id, api);
            for node in [2, 3, 4, size.nodes() - 1, 2 + pick % (size.nodes() - 2)] {
                let parents = graph.drg_parents(node);
                prop_assert!(parents.iter().all(|parent| *parent < node), "{node}: {parents:?}");
                let predecessor = if api == ApiVersion::V1_0_0 { 5 } else { 0 };
                prop_assert_eq!(parents[predecessor], node - 1);
            }
            prop_assert_eq!(graph.drg_parents(0), [0; 6]);
            prop_assert_eq!(graph.drg_parents(1), [0; 6]);
        }

        #[test]
        fn versions_differ_in_the_place_of_the_predecessor_alone(porep_id: [u8; 32], pick: u64) {
            let size = SectorSize::GiB64;
            let node = pick % size.nodes();
            let [old, new] = [ApiVersion::V1_0_0, ApiVersion::V1_1_0]
                .map(|api| StackedGraph::new(size, &porep_id, api).drg_parents(node));
            prop_assert_eq!(&old[..5], &new[1..]);
        }

        #[test]
        fn exp_parents_are_nodes(porep_id: [u8; 32], api in version(), size in size(), pick: u64) {
            let graph = StackedGraph::new(size, &porep_id, api);
            for node in [0, size.nodes() - 1, pick % size.nodes()] {
                prop_assert!(graph.exp_parents(node).iter().all(|parent| *parent < size.nodes()));
            }
        }

        #[test]
        fn every_node_is_an_expander_parent_eight_times(porep_id: [u8; 32], api in version()) {
            let size = SectorSize::KiB16;
            let graph = StackedGraph::new(size, &porep_id, api);
            let mut children = vec![0; size.nodes() as usize];
            for parent in (0..size.nodes()).flat_map(|node| graph.exp_parents(node)) {
                children[parent as usize] += 1;
            }
            prop_assert!(children.iter().all(|count| *count == EXP_PARENTS));
        }
    }
}
