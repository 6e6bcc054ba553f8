//! The challenges of SnapDeals, and the randomness of its encoding.
//!
//! A new replica's node is `old + data * rho`, where `rho` depends on the node's `h` high bits.

use blstrs::Scalar;
use ff::PrimeField;

use crate::hash;
use crate::shape::UpdateShape;

/// The challenged nodes of partition `k`.
///
/// Each digest `Poseidon(comm_r_new, index)` gives as many challenges as its 254 low bits hold; digests are numbered
/// through the partitions. The partition's index makes the high bits of each challenge.
pub fn challenges(shape: &UpdateShape, comm_r_new: Scalar, k: usize) -> Vec<u64> {
    let (bits, per_digest) = (shape.challenge_bits(), shape.challenges_per_digest());
    let first = (k * shape.digests()) as u64;
    let nodes = (first..).flat_map(|index| {
        let digest = hash::randomness(comm_r_new, index.into()).to_repr();
        (0..per_digest).map(move |i| low_bits(&digest, i * bits, bits))
    });
    nodes.map(|node| node | (k as u64) << bits).take(shape.challenges).collect()
}

/// `bits <= 64` bits from bit `start` on.
fn low_bits(bytes: &[u8; 32], start: usize, bits: usize) -> u64 {
    let bit = |i: usize| u64::from(bytes[i / 8] >> (i % 8) & 1);
    (0..bits).fold(0, |value, i| value | bit(start + i) << i)
}

/// `phi = Poseidon(comm_d_new, comm_r_old)`: what all of a sector's randomness is made from.
pub fn phi(comm_d_new: Scalar, comm_r_old: Scalar) -> Scalar {
    hash::randomness(comm_d_new, comm_r_old)
}

/// `rho = Poseidon(phi, high)`, with the `h` high bits of the node.
pub fn rho(shape: &UpdateShape, phi: Scalar, node: u64, h: usize) -> Scalar {
    let high = node >> (shape.size.log2_nodes() - h);
    hash::randomness(phi, high.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::shape::SectorSize;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]
        #[test]
        fn challenges_lie_in_their_partition(comm_r_new: u64) {
            for shape in SectorSize::ALL.map(SectorSize::update) {
                let part = shape.size.nodes() / shape.partitions as u64;
                for k in [0, shape.partitions / 2, shape.partitions - 1] {
                    let nodes = challenges(&shape, comm_r_new.into(), k);
                    prop_assert_eq!(nodes.len(), shape.challenges);
                    prop_assert!(nodes.iter().all(|node| node / part == k as u64));
                }
            }
        }

        #[test]
        fn nodes_with_equal_high_bits_share_their_rho(phi: u64, node in 0u64..1 << 30) {
            let shape = SectorSize::GiB32.update();
            for h in shape.hs {
                let part = 1 << (30 - h);
                let rho = |node| rho(&shape, phi.into(), node, h);
                prop_assert_eq!(rho(node), rho(node / part * part));
                prop_assert_eq!(rho(node), rho(node / part * part + part - 1));
                prop_assert_ne!(rho(node), rho((node + part) % (1 << 30)));
            }
        }
    }

    #[test]
    fn bits_are_little_endian() {
        let mut bytes = [0; 32];
        bytes[1] = 0b1010_0001;
        assert_eq!(low_bits(&bytes, 8, 8), 0b1010_0001);
        assert_eq!(low_bits(&bytes, 12, 3), 0b010);
        assert_eq!(low_bits(&bytes, 4, 5), 0b1_0000);
    }
}
