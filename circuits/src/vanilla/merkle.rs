//! Paths in Merkle trees of mixed arity.

use blstrs::Scalar;

/// A path from a leaf to the root of a Merkle tree: base tree, then sub level, then top level, without distinction.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MerklePath {
    /// The levels, from the leaf up.
    pub levels: Vec<PathLevel>,
}

/// One level of a path: the hash's other inputs, and where among all of them the path's own node stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathLevel {
    /// The position of the path's node among the hash's inputs, below the level's arity.
    pub index: usize,
    /// The other inputs, in order: arity - 1 of them.
    pub siblings: Vec<Scalar>,
}

/// A leaf and its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The leaf.
    pub leaf: Scalar,
    /// Its path.
    pub path: MerklePath,
}

impl PathLevel {
    /// The number of inputs of this level's hash.
    pub fn arity(&self) -> usize {
        self.siblings.len() + 1
    }

    /// The inputs of this level's hash, `node` being the path's own.
    pub fn inputs(&self, node: Scalar) -> Vec<Scalar> {
        let (before, after) = self.siblings.split_at(self.index.min(self.siblings.len()));
        before.iter().chain([&node]).chain(after).copied().collect()
    }
}

impl MerklePath {
    /// The index of the leaf in the tree. It is below the product of the arities as each level's index is below its
    /// arity; trees have at most 2^63 leaves.
    pub fn leaf_index(&self) -> u64 {
        self.levels.iter().rev().fold(0, |index, level| index * level.arity() as u64 + level.index as u64)
    }

    /// The root that `leaf` has under this path, with `hash` hashing the inputs of one level.
    pub fn root(&self, leaf: Scalar, mut hash: impl FnMut(&[Scalar]) -> Scalar) -> Scalar {
        self.levels.iter().fold(leaf, |node, level| hash(&level.inputs(node)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leaf_index_counts_from_the_top() {
        let level = |index, arity: usize| PathLevel { index, siblings: vec![Scalar::from(0); arity - 1] };
        let path = MerklePath { levels: vec![level(3, 8), level(5, 8), level(1, 2)] };
        assert_eq!(path.leaf_index(), 64 + 5 * 8 + 3);
    }

    #[test]
    fn a_level_puts_the_node_at_its_index() {
        let scalars = |values: &[u64]| values.iter().copied().map(Scalar::from).collect::<Vec<_>>();
        for (index, inputs) in [(0, [9, 1, 2, 3]), (2, [1, 2, 9, 3]), (3, [1, 2, 3, 9])] {
            let level = PathLevel { index, siblings: scalars(&[1, 2, 3]) };
            assert_eq!(level.inputs(Scalar::from(9)), scalars(&inputs));
        }
    }
}
