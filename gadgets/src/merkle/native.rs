//! The native side.

use assignment::WitnessSink;
use blstrs::Scalar;
use sha2::{Digest, Sha256};

use super::shape::bits;
use super::{NodeHasher, PathElement, PathError, Shape};
use crate::num::insert_witness;
use crate::pack::digest_to_scalar;
use crate::{poseidon, sha256};

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    /// The root computed from the leaf and the path. Nothing has compared it with any other.
    pub root: Scalar,
    /// The leaf's index.
    pub index: u64,
}

/// The root and the index that a path gives a leaf, without any witness.
pub fn opening(shape: &Shape, leaf: Scalar, path: &[PathElement]) -> Result<Opening, PathError> {
    climb(shape, leaf, path, |node, element| {
        let mut children = element.siblings.clone();
        children.insert(element.index, node);
        hash_node_value(shape.hasher(), &children)
    })
}

/// The values of [`inclusion`](super::inclusion) without those of a leaf or a root that it allocates: the
/// caller pushes a leaf before and a root after.
pub fn inclusion_witness(
    sink: &mut impl WitnessSink<Scalar>,
    shape: &Shape,
    leaf: Scalar,
    path: &[PathElement],
) -> Result<Opening, PathError> {
    let hasher = shape.hasher();
    let opening = climb(shape, leaf, path, |node, element| {
        sink.bits(element.index as u64, bits(element.siblings.len() + 1) as u32);
        sink.elements(&element.siblings);
        insert_and_hash(sink, hasher, node, element)
    })?;
    if shape.index_bits() > 0 {
        sink.input(Scalar::from(opening.index));
    }
    Ok(opening)
}

/// The values of [`inclusion_of_bits`](super::inclusion_of_bits), whose bits and siblings are variables already.
pub fn inclusion_of_bits_witness(
    sink: &mut impl WitnessSink<Scalar>,
    shape: &Shape,
    leaf: Scalar,
    path: &[PathElement],
) -> Result<Opening, PathError> {
    climb(shape, leaf, path, |node, element| insert_and_hash(sink, shape.hasher(), node, element))
}

/// The values of [`hash_node`](super::hash_node), and the node. `None`, with nothing pushed, if Poseidon has no instance for as many
/// children.
pub fn hash_node_witness(
    sink: &mut impl WitnessSink<Scalar>,
    hasher: NodeHasher,
    children: &[Scalar],
) -> Option<Scalar> {
    match hasher {
        NodeHasher::Poseidon => {
            let constants = poseidon::Constants::merkle(children.len())?;
            poseidon::hash_witness(sink, children, constants).ok()
        }
        NodeHasher::Sha256 => Some(sha256::hash_scalars_witness(sink, children)),
    }
}

/// A node's value from those of its children. `None` if Poseidon has no instance for as many children.
pub fn hash_node_value(hasher: NodeHasher, children: &[Scalar]) -> Option<Scalar> {
    match hasher {
        NodeHasher::Poseidon => {
            let constants = poseidon::Constants::merkle(children.len())?;
            poseidon::hash_value(children, constants).ok()
        }
        NodeHasher::Sha256 => {
            let mut hash = Sha256::new();
            children.iter().for_each(|child| hash.update(child.to_bytes_le()));
            Some(digest_to_scalar(hash.finalize().into()))
        }
    }
}

fn insert_and_hash(
    sink: &mut impl WitnessSink<Scalar>,
    hasher: NodeHasher,
    node: Scalar,
    element: &PathElement,
) -> Option<Scalar> {
    let children = insert_witness(sink, node, element.index, &element.siblings).ok()?;
    hash_node_witness(sink, hasher, &children)
}

/// Goes from the leaf to the root. `step` makes a node's parent; it fails for an arity that a [`Shape`] cannot have.
fn climb(
    shape: &Shape,
    leaf: Scalar,
    path: &[PathElement],
    mut step: impl FnMut(Scalar, &PathElement) -> Option<Scalar>,
) -> Result<Opening, PathError> {
    shape.check(path)?;
    let (mut node, mut index, mut shift) = (leaf, 0, 0);
    for (level, element) in path.iter().enumerate() {
        let children = element.siblings.len() + 1;
        let unsupported = PathError::Siblings { level, expected: children - 1, got: children - 1 };
        node = step(node, element).ok_or(unsupported)?;
        index |= (element.index as u64) << shift;
        shift += bits(children);
    }
    Ok(Opening { root: node, index })
}
