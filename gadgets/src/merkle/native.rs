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
        push_position(sink, element);
        insert_and_hash(sink, hasher, node, element)
    })?;
    push_index(sink, shape, &opening);
    Ok(opening)
}

/// [`inclusion_witness`] of several leaves, each into its own sink: paths go up side by side, so that a Poseidon tree's nodes
/// are made [several at a time](poseidon::hash_witness_each).
///
/// # Errors
/// That of the first path that does not fit the shape, with nothing pushed.
pub fn inclusion_witness_each<S: WitnessSink<Scalar>>(
    sinks: &mut [S],
    shape: &Shape,
    leaves: &[Scalar],
    paths: &[&[PathElement]],
) -> Result<Vec<Opening>, PathError> {
    paths.iter().try_for_each(|path| shape.check(path))?;
    if shape.hasher() != NodeHasher::Poseidon {
        let each = sinks.iter_mut().zip(leaves).zip(paths);
        return each.map(|((sink, leaf), path)| inclusion_witness(sink, shape, *leaf, path)).collect();
    }
    let mut nodes = leaves.to_vec();
    for (level, arity) in shape.level_arities().enumerate() {
        let unsupported = PathError::Siblings { level, expected: arity - 1, got: arity - 1 };
        let constants = poseidon::Constants::merkle(arity).ok_or(unsupported)?;
        let mut children = Vec::with_capacity(nodes.len());
        for ((sink, node), path) in sinks.iter_mut().zip(nodes).zip(paths) {
            let element = &path[level];
            push_position(sink, element);
            let inserted = insert_witness(sink, node, element.index, &element.siblings);
            children.push(inserted.map_err(|_| unsupported)?);
        }
        let children: Vec<&[Scalar]> = children.iter().map(Vec::as_slice).collect();
        nodes = poseidon::hash_witness_each(sinks, &children, constants).map_err(|_| unsupported)?;
    }
    let each = sinks.iter_mut().zip(nodes).zip(paths);
    Ok(each
        .map(|((sink, root), path)| {
            let opening = Opening { root, index: leaf_index(path) };
            push_index(sink, shape, &opening);
            opening
        })
        .collect())
}

/// The bits of a node's position, and its siblings.
fn push_position(sink: &mut impl WitnessSink<Scalar>, element: &PathElement) {
    sink.bits(element.index as u64, bits(element.siblings.len() + 1) as u32);
    sink.elements(&element.siblings);
}

/// The leaf's index, which is a public input unless the tree is its leaf.
fn push_index(sink: &mut impl WitnessSink<Scalar>, shape: &Shape, opening: &Opening) {
    if shape.index_bits() > 0 {
        sink.input(Scalar::from(opening.index));
    }
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
    let mut node = leaf;
    for (level, element) in path.iter().enumerate() {
        let siblings = element.siblings.len();
        let unsupported = PathError::Siblings { level, expected: siblings, got: siblings };
        node = step(node, element).ok_or(unsupported)?;
    }
    Ok(Opening { root: node, index: leaf_index(path) })
}

/// The index of the leaf of a path: the lowest level has the lowest bits.
fn leaf_index(path: &[PathElement]) -> u64 {
    path.iter()
        .rev()
        .fold(0, |index, element| index << bits(element.siblings.len() + 1) | element.index as u64)
}
