//! The challenges of a PoRep, in its three modes.
//!
//! A challenge is a node from 1 to nodes - 1. Challenges are numbered through the partitions: partition `k` has those
//! from `k * count` on.

use blake2b_simd::Params;
use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use sha2::{Digest, Sha256};

use crate::shape::{PorepMode, SectorSize};

/// The most challenges that a synthetic PoRep fixes beforehand.
const SYNTHETIC_SET: u64 = 1 << 18;
const SYNTHETIC_NONCE: &[u8; 12] = b"synth-porep\0";

/// The public values from which the challenges of a PoRep follow.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// How challenges are made.
    pub mode: PorepMode,
    /// The sector size.
    pub size: SectorSize,
    /// The replica id. All bytes here are canonical field elements, little-endian.
    pub replica_id: &'a [u8; 32],
    /// The replica's commitment; interactive challenges do not depend on it.
    pub comm_r: &'a [u8; 32],
    /// The randomness drawn after the commitment, any 32 bytes; non-interactive challenges do not depend on it.
    pub seed: &'a [u8; 32],
}

impl Source<'_> {
    /// The challenges of partition `k`, with `count` challenges a partition.
    pub fn partition(&self, k: usize, count: usize) -> Vec<u64> {
        let first = (k * count) as u32;
        let numbers = first..first + count as u32;
        let nodes = self.size.nodes();
        match self.mode {
            PorepMode::Interactive => {
                let prefix = Sha256::new().chain_update(self.replica_id).chain_update(self.seed);
                numbers.map(|number| numbered(&prefix, number, nodes)).collect()
            }
            PorepMode::NonInteractive => {
                let prefix = Sha256::new()
                    .chain_update("filecoin.io|PoRep|1|NonInteractive|1")
                    .chain_update(self.replica_id)
                    .chain_update(self.comm_r);
                numbers.map(|number| numbered(&prefix, number, nodes)).collect()
            }
            PorepMode::Synthetic => {
                let set = SyntheticSet::new(self.size, self.replica_id, self.comm_r);
                numbers.map(|number| set.challenge(self.select(number, set.len()))).collect()
            }
        }
    }

    /// Which member of the synthetic set is challenge `number`.
    fn select(&self, number: u32, set: u64) -> u64 {
        let key = key(b"filecoin.io|PoRep|1|Synthetic|1|Selection", self.replica_id, self.seed);
        u64::from(u32::from_le_bytes(keystream(&key, number.into()))) % set
    }
}

/// The challenges that a synthetic PoRep fixes with its commitment, of which the seed selects some.
#[derive(Clone, Debug)]
pub struct SyntheticSet {
    nodes: u64,
    key: [u8; 32],
}

impl SyntheticSet {
    /// The set of a replica.
    pub fn new(size: SectorSize, replica_id: &[u8; 32], comm_r: &[u8; 32]) -> Self {
        Self {
            nodes: size.nodes(),
            key: key(b"filecoin.io|PoRep|1|Synthetic|1|Generation", replica_id, comm_r),
        }
    }

    /// The number of challenges in the set.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> u64 {
        self.nodes.min(SYNTHETIC_SET)
    }

    /// Challenge `i` of the set.
    pub fn challenge(&self, i: u64) -> u64 {
        node(&keystream(&self.key, i), self.nodes)
    }
}

/// BLAKE2b-256 of two values under a personal key.
fn key(personal: &[u8], first: &[u8; 32], second: &[u8; 32]) -> [u8; 32] {
    let hash = Params::new().hash_length(32).key(personal).to_state().update(first).update(second).finalize();
    let mut key = [0; 32];
    key.copy_from_slice(hash.as_bytes());
    key
}

/// Block `i` of `N` bytes of ChaCha20's key stream.
fn keystream<const N: usize>(key: &[u8; 32], i: u64) -> [u8; N] {
    let mut stream = ChaCha20::new(key.into(), SYNTHETIC_NONCE.into());
    let mut block = [0; N];
    stream.seek(i * N as u64);
    stream.apply_keystream(&mut block);
    block
}

/// The challenge with this number: a hash over a prefix and the number.
fn numbered(prefix: &Sha256, number: u32, nodes: u64) -> u64 {
    node(&prefix.clone().chain_update(number.to_le_bytes()).finalize().into(), nodes)
}

/// A node other than the first: 32 bytes as a little-endian integer, modulo nodes - 1, plus 1.
fn node(bytes: &[u8; 32], nodes: u64) -> u64 {
    let modulus = u128::from(nodes - 1);
    let remainder = bytes.iter().rev().fold(0, |rest, byte| (rest << 8 | u128::from(*byte)) % modulus);
    remainder as u64 + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MODES: [PorepMode; 3] = [PorepMode::Interactive, PorepMode::Synthetic, PorepMode::NonInteractive];

    proptest! {
        #[test]
        fn challenges_are_nodes_but_the_first(replica_id: [u8; 32], comm_r: [u8; 32], seed: [u8; 32], k in 0usize..126) {
            for (mode, size) in MODES.iter().flat_map(|mode| SectorSize::ALL.map(|size| (*mode, size))) {
                let source = Source { mode, size, replica_id: &replica_id, comm_r: &comm_r, seed: &seed };
                let challenges = source.partition(k, 18);
                prop_assert_eq!(challenges.len(), 18);
                prop_assert!(challenges.iter().all(|node| (1..size.nodes()).contains(node)));
            }
        }

        #[test]
        fn partitions_continue_one_another(replica_id: [u8; 32], comm_r: [u8; 32], seed: [u8; 32]) {
            for mode in MODES {
                let size = SectorSize::GiB32;
                let source = Source { mode, size, replica_id: &replica_id, comm_r: &comm_r, seed: &seed };
                let parts: Vec<u64> = (0..5).flat_map(|k| source.partition(k, 7)).collect();
                prop_assert_eq!(parts, source.partition(0, 35));
            }
        }

        #[test]
        fn a_mode_depends_on_what_it_says(replica_id: [u8; 32], comm_r: [u8; 32], seed: [u8; 32]) {
            let of = |mode, comm_r: &[u8; 32], seed: &[u8; 32]| {
                Source { mode, size: SectorSize::GiB32, replica_id: &replica_id, comm_r, seed }.partition(0, 18)
            };
            let other = |bytes: &[u8; 32]| bytes.map(|byte| !byte);
            for mode in MODES {
                let challenges = of(mode, &comm_r, &seed);
                let uses_comm_r = mode != PorepMode::Interactive;
                let uses_seed = mode != PorepMode::NonInteractive;
                prop_assert_eq!(challenges != of(mode, &other(&comm_r), &seed), uses_comm_r);
                prop_assert_eq!(challenges != of(mode, &comm_r, &other(&seed)), uses_seed);
            }
        }
    }

    #[test]
    fn bytes_are_reduced_as_one_little_endian_integer() {
        let mut bytes = [0; 32];
        bytes[0] = 63;
        assert_eq!(node(&bytes, 64), 1);
        bytes[0] = 62;
        assert_eq!(node(&bytes, 64), 63);
        bytes = [0; 32];
        // 256 = 4 * 63 + 4.
        bytes[1] = 1;
        assert_eq!(node(&bytes, 64), 5);
    }
}
