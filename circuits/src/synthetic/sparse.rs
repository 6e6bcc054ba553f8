//! A Poseidon tree of which only the opened paths exist.

use std::collections::BTreeMap;

use blstrs::Scalar;
use rayon::prelude::*;

use super::filler::Filler;
use crate::hash;
use crate::shape::TreeShape;
use crate::vanilla::{MerklePath, PathElement};

/// The nodes on the paths of the opened leaves; every other node is a seeded value.
pub(super) struct SparseTree {
    arities: Vec<usize>,
    /// By level, from the leaves up: the nodes that are known, by index.
    levels: Vec<BTreeMap<u64, Scalar>>,
    filler: Filler,
}

impl SparseTree {
    /// The tree in which these leaves are opened.
    pub fn new(shape: &TreeShape, leaves: BTreeMap<u64, Scalar>, filler: Filler) -> Self {
        let arities = shape.arities();
        let mut tree = Self { levels: vec![leaves], filler, arities };
        for level in 0..tree.arities.len() {
            let arity = tree.arities[level] as u64;
            let mut parents: Vec<u64> = tree.levels[level].keys().map(|index| index / arity).collect();
            parents.dedup();
            let hashed = parents.par_iter().map(|parent| {
                let children: Vec<_> = (0..arity).map(|i| tree.node(level, parent * arity + i)).collect();
                (*parent, hash::poseidon(&children))
            });
            let hashed = hashed.collect();
            tree.levels.push(hashed);
        }
        tree
    }

    fn node(&self, level: usize, index: u64) -> Scalar {
        let known = self.levels[level].get(&index);
        known.copied().unwrap_or_else(|| self.filler.value(level as u64, index))
    }

    /// The root; a seeded value where no leaf is opened.
    pub fn root(&self) -> Scalar {
        self.node(self.arities.len(), 0)
    }

    /// The path of an opened leaf.
    pub fn path(&self, leaf: u64) -> MerklePath {
        path(&self.arities, leaf, |level, index| self.node(level, index))
    }
}

/// The path of a leaf in a tree whose nodes are known, by level and index.
pub(super) fn path(arities: &[usize], leaf: u64, node: impl Fn(usize, u64) -> Scalar) -> MerklePath {
    let mut index = leaf;
    let levels = arities.iter().enumerate().map(|(level, arity)| {
        let arity = *arity as u64;
        let first = index / arity * arity;
        let siblings = (first..first + arity).filter(|sibling| *sibling != index);
        let element = PathElement {
            siblings: siblings.map(|sibling| node(level, sibling)).collect(),
            index: (index % arity) as usize,
        };
        index /= arity;
        element
    });
    MerklePath { levels: levels.collect() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::shape::SectorSize;
    use crate::synthetic::tests::root_of;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn all_paths_lead_to_the_root(seed: u64, picks: Vec<u64>, size in 0..SectorSize::ALL.len()) {
            let size = SectorSize::ALL[size];
            // Neighbours among them, so that paths meet at every height.
            let picks = picks.iter().flat_map(|pick| [*pick, pick ^ 1, pick ^ 64]);
            let leaves: BTreeMap<u64, Scalar> =
                picks.map(|pick| (pick % size.nodes(), Scalar::from(pick))).collect();
            let tree = SparseTree::new(&size.tree(), leaves.clone(), Filler::new((seed, 0), "test"));
            for (index, leaf) in leaves {
                let path = tree.path(index);
                prop_assert_eq!(path.leaf_index(), index);
                prop_assert_eq!(root_of(&size.tree(), leaf, &path), tree.root());
            }
        }
    }
}
