//! Paths in Merkle trees of mixed arity.

use blstrs::Scalar;
pub use gadgets::merkle::PathElement;

/// A path from a leaf to the root of a Merkle tree: base tree, then sub level, then top level, without distinction.
///
/// A level is the hash's other inputs and where among all of them the path's own node stands.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MerklePath {
    /// The levels, from the leaf up.
    pub levels: Vec<PathElement>,
}

/// A leaf and its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The leaf.
    pub leaf: Scalar,
    /// Its path.
    pub path: MerklePath,
}

impl MerklePath {
    /// The index of the leaf in the tree. It is below the product of the arities as each level's index is below its
    /// arity; trees have at most 2^63 leaves.
    pub fn leaf_index(&self) -> u64 {
        let arity = |level: &PathElement| level.siblings.len() as u64 + 1;
        self.levels.iter().rev().fold(0, |index, level| index * arity(level) + level.index as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leaf_index_counts_from_the_top() {
        let level = |index, arity: usize| PathElement { index, siblings: vec![Scalar::from(0); arity - 1] };
        let path = MerklePath { levels: vec![level(3, 8), level(5, 8), level(1, 2)] };
        assert_eq!(path.leaf_index(), 64 + 5 * 8 + 3);
    }
}
