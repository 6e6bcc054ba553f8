//! Shapes of trees and paths through them.

use bellpepper_core::SynthesisError;
use blstrs::Scalar;

/// The hash that makes a node of its children.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeHasher {
    /// Poseidon, with the instance of the level's arity.
    Poseidon,
    /// SHA-256 of the children's 32 little-endian bytes each; the digest without its two highest bits.
    Sha256,
}

/// A tree's hash, arities and height.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    hasher: NodeHasher,
    base_arity: usize,
    base_levels: usize,
    sub_arity: usize,
    top_arity: usize,
}

/// A shape that no gadget is defined for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// Insertion is defined for 2, 4 and 8 children.
    #[error("the {part} arity is 2, 4 or 8, got {got}")]
    Arity {
        /// Which arity.
        part: &'static str,
        /// Its value.
        got: usize,
    },
    /// The top level joins trees that the level below it made.
    #[error("a top level needs a level of subtrees below it")]
    TopWithoutSub,
    /// A leaf's index is a 64-bit number.
    #[error("a leaf's index has at most 63 bits, got {got}")]
    Height {
        /// The bits of an index.
        got: usize,
    },
}

impl Shape {
    /// A tree of `base_levels` levels of `base_arity`, then one of `sub_arity` and one of `top_arity`, each absent if zero.
    pub fn new(
        hasher: NodeHasher,
        base_arity: usize,
        base_levels: usize,
        sub_arity: usize,
        top_arity: usize,
    ) -> Result<Self, ShapeError> {
        let is_supported = |arity| matches!(arity, 2 | 4 | 8);
        let is_absent_or_supported = |arity| arity == 0 || is_supported(arity);
        let arities = [
            ("base", base_arity, is_supported(base_arity)),
            ("sub", sub_arity, is_absent_or_supported(sub_arity)),
            ("top", top_arity, is_absent_or_supported(top_arity)),
        ];
        if let Some((part, got, _)) = arities.into_iter().find(|(_, _, is_valid)| !is_valid) {
            return Err(ShapeError::Arity { part, got });
        }
        if top_arity != 0 && sub_arity == 0 {
            return Err(ShapeError::TopWithoutSub);
        }
        let shape = Self { hasher, base_arity, base_levels, sub_arity, top_arity };
        let index_bits =
            base_levels.saturating_mul(bits(base_arity)).saturating_add(bits(sub_arity) + bits(top_arity));
        if index_bits > 63 {
            return Err(ShapeError::Height { got: index_bits });
        }
        Ok(shape)
    }

    /// The hash of the nodes.
    pub fn hasher(&self) -> NodeHasher {
        self.hasher
    }

    /// The arities of the base, of the level above it and of the one above that; zero where absent.
    pub fn arities(&self) -> (usize, usize, usize) {
        (self.base_arity, self.sub_arity, self.top_arity)
    }

    /// The number of levels of the base.
    pub fn base_levels(&self) -> usize {
        self.base_levels
    }

    /// The number of elements of a path.
    pub fn levels(&self) -> usize {
        self.base_levels + (self.sub_arity != 0) as usize + (self.top_arity != 0) as usize
    }

    /// The arity of each level, from the leaves up.
    pub fn level_arities(&self) -> impl Iterator<Item = usize> + use<> {
        let above = [self.sub_arity, self.top_arity].into_iter().filter(|arity| *arity != 0);
        std::iter::repeat_n(self.base_arity, self.base_levels).chain(above)
    }

    /// The number of bits of a leaf's index.
    pub fn index_bits(&self) -> u32 {
        (self.base_levels * bits(self.base_arity) + bits(self.sub_arity) + bits(self.top_arity)) as u32
    }

    /// The number of leaves.
    pub fn leaves(&self) -> u64 {
        1 << self.index_bits()
    }

    /// Whether a path has the levels, siblings and positions of this shape.
    pub fn check(&self, path: &[PathElement]) -> Result<(), PathError> {
        if path.len() != self.levels() {
            return Err(PathError::Levels { expected: self.levels(), got: path.len() });
        }
        for (level, (element, arity)) in path.iter().zip(self.level_arities()).enumerate() {
            if element.siblings.len() != arity - 1 {
                return Err(PathError::Siblings { level, expected: arity - 1, got: element.siblings.len() });
            }
            if element.index >= arity {
                return Err(PathError::Index { level, arity, got: element.index });
            }
        }
        Ok(())
    }
}

/// The bits of an index among `arity` children.
pub(super) fn bits(arity: usize) -> usize {
    if arity == 0 { 0 } else { arity.trailing_zeros() as usize }
}

/// One level of a path: a node's siblings in order, and the node's position among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathElement {
    /// The other children of the parent, in order.
    pub siblings: Vec<Scalar>,
    /// How many of them precede the node.
    pub index: usize,
}

/// A path that does not fit a tree's shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Not one element for each level.
    #[error("a path through this tree has {expected} levels, got {got}")]
    Levels {
        /// The tree's levels.
        expected: usize,
        /// The path's.
        got: usize,
    },
    /// Too few or too many siblings.
    #[error("level {level} of the path has {expected} siblings, got {got}")]
    Siblings {
        /// From the leaf up, the first is 0.
        level: usize,
        /// One less than the arity.
        expected: usize,
        /// The siblings given.
        got: usize,
    },
    /// A position outside the arity.
    #[error("level {level} of the path has arity {arity}, got position {got}")]
    Index {
        /// From the leaf up, the first is 0.
        level: usize,
        /// The level's arity.
        arity: usize,
        /// The position given.
        got: usize,
    },
}

impl From<PathError> for SynthesisError {
    fn from(error: PathError) -> Self {
        Self::IncompatibleLengthVector(error.to_string())
    }
}
