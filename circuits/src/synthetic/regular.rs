//! A whole tree whose nodes repeat.
//!
//! The leaves are cut into equal parts, and a leaf depends on its part and on the number of ones ("weight") in the
//! remaining bits of its index. A node within a part then depends on the same of *its* index: a part of 2^b leaves has
//! b + 1 different leaves, and fewer nodes on each level above. Nodes above the parts are all different.

use blstrs::Scalar;
use rayon::prelude::*;

use super::sparse::path;
use crate::vanilla::MerklePath;

/// A tree of which every node is known.
pub(super) struct RegularTree {
    arities: Vec<usize>,
    /// By level, from the leaves up: the base-2 logarithm of the leaves below a node, and the nodes by class.
    levels: Vec<Level>,
    /// The base-2 logarithm of the leaves of a part.
    part_bits: u32,
}

struct Level {
    /// Bits of a leaf's index below a node of this level.
    below: u32,
    nodes: Vec<Scalar>,
}

impl RegularTree {
    /// The tree with these arities (powers of two), cut into `2^parts_log2` parts. `leaf` gives a leaf by its index;
    /// it must depend on nothing but the part and the weight. `hash` makes a node of its children.
    pub fn new(
        arities: Vec<usize>,
        parts_log2: u32,
        leaf: impl Fn(u64) -> Scalar + Sync,
        hash: impl Fn(&[Scalar]) -> Scalar + Sync,
    ) -> Self {
        let bits: u32 = arities.iter().map(|arity| arity.trailing_zeros()).sum();
        let part_bits = bits - parts_log2;
        let mut tree = Self { arities, levels: Vec::new(), part_bits };
        let leaves = tree.representatives(0, bits).into_par_iter().map(&leaf).collect();
        tree.levels.push(Level { below: 0, nodes: leaves });
        for level in 0..tree.arities.len() {
            let arity = tree.arities[level] as u64;
            let below = tree.levels[level].below + arity.trailing_zeros();
            let nodes = tree.representatives(below, bits).into_par_iter().map(|node| {
                let children: Vec<_> = (0..arity).map(|i| tree.node(level, node * arity + i)).collect();
                hash(&children)
            });
            let nodes = nodes.collect();
            tree.levels.push(Level { below, nodes });
        }
        tree
    }

    /// A node's class: nodes of one level and class are equal.
    fn class(&self, below: u32, index: u64) -> usize {
        let Some(free) = self.part_bits.checked_sub(below) else { return index as usize };
        let weight = (index & ((1 << free) - 1)).count_ones();
        ((index >> free) * u64::from(free + 1) + u64::from(weight)) as usize
    }

    /// An index for each class of a level, in the order of the classes.
    fn representatives(&self, below: u32, bits: u32) -> Vec<u64> {
        let Some(free) = self.part_bits.checked_sub(below) else { return (0..1 << (bits - below)).collect() };
        let parts = 0..1u64 << (bits - self.part_bits);
        parts.flat_map(|part| (0..=free).map(move |weight| part << free | ((1 << weight) - 1))).collect()
    }

    /// The node of a level, from the leaves up, with this index.
    pub fn node(&self, level: usize, index: u64) -> Scalar {
        let Level { below, nodes } = &self.levels[level];
        nodes[self.class(*below, index)]
    }

    /// The root.
    pub fn root(&self) -> Scalar {
        self.node(self.arities.len(), 0)
    }

    /// The path of a leaf.
    pub fn path(&self, leaf: u64) -> MerklePath {
        path(&self.arities, leaf, |level, index| self.node(level, index))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hash;
    use crate::shape::SectorSize;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn it_is_the_tree_of_all_its_leaves(seed: u64, parts in 0u32..5, size in 0..4usize) {
            let size = SectorSize::ALL[size];
            let part_bits = size.log2_nodes() as u32 - parts;
            let leaf = |index: u64| {
                let (part, rest) = (index >> part_bits, index & ((1 << part_bits) - 1));
                Scalar::from(seed) * Scalar::from(1 + part * 64 + u64::from(rest.count_ones()))
            };
            let tree = RegularTree::new(size.tree().arities(), parts, leaf, hash::poseidon);
            let mut nodes: Vec<Scalar> = (0..size.nodes()).map(leaf).collect();
            for (level, arity) in size.tree().arities().into_iter().enumerate() {
                let known: Vec<_> = (0..nodes.len() as u64).map(|index| tree.node(level, index)).collect();
                prop_assert_eq!(&nodes, &known);
                nodes = nodes.chunks(arity).map(hash::poseidon).collect();
            }
            prop_assert_eq!(nodes, [tree.root()]);
        }
    }
}
