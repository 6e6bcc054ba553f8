//! The constraint side.

use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{ConstraintSystem, SynthesisError};
use blstrs::Scalar;

use super::shape::bits;
use super::{NodeHasher, PathElement, Shape};
use crate::num::{equal, insert};
use crate::pack::{pack_into_inputs, reverse_bit_numbering};
use crate::{poseidon, sha256};

/// A leaf or a root: a variable that exists, or a value to allocate.
#[derive(Clone)]
pub enum Root {
    /// A variable.
    Var(AllocatedNum<Scalar>),
    /// A value to allocate, `None` in a blank circuit.
    Val(Option<Scalar>),
}

impl Root {
    /// The variable, allocated if there is none yet.
    pub fn allocated<CS: ConstraintSystem<Scalar>>(
        self,
        cs: CS,
    ) -> Result<AllocatedNum<Scalar>, SynthesisError> {
        match self {
            Self::Var(num) => Ok(num),
            Self::Val(value) => AllocatedNum::alloc(cs, || value.ok_or(SynthesisError::AssignmentMissing)),
        }
    }
}

/// Proves that `leaf` is in the tree with `root`, at a position that becomes a public input.
///
/// In this order: the leaf, if it is to be allocated; for each level from the leaf up the index bits (least significant first),
/// the siblings, the insertion and the hash; one public input that packs all index bits, the lowest level's first, which
/// is the leaf's index; the root, if it is to be allocated; the row `computed · 1 = root`.
///
/// `path` is `None` in a blank circuit; `shape` alone decides what is allocated. Returns the root's variable.
///
/// # Errors
/// [`SynthesisError::IncompatibleLengthVector`] for a path that does not fit the shape.
pub fn inclusion<CS>(
    mut cs: CS,
    shape: &Shape,
    leaf: Root,
    path: Option<&[PathElement]>,
    root: Root,
) -> Result<AllocatedNum<Scalar>, SynthesisError>
where
    CS: ConstraintSystem<Scalar>,
{
    if let Some(path) = path {
        shape.check(path)?;
    }
    let mut node = leaf.allocated(cs.namespace(|| "value"))?;
    let mut index_bits = Vec::with_capacity(shape.index_bits() as usize);
    let (base, sub, top) = shape.arities();
    let parts = [
        ("base", base, shape.base_levels()),
        ("sub", sub, (sub != 0).into()),
        ("top", top, (top != 0).into()),
    ];
    let mut levels = 0..;
    for (part, arity, part_levels) in parts {
        let mut cs = cs.namespace(|| part);
        for (i, level) in levels.by_ref().take(part_levels).enumerate() {
            let element = path.and_then(|path| path.get(level));
            let mut cs = cs.namespace(|| format!("merkle tree hash {i}"));
            let position = alloc_position(&mut cs, arity, element)?;
            let siblings = alloc_siblings(&mut cs, arity, element)?;
            let children = insert(&mut cs, &node, &position, &siblings)?;
            index_bits.extend(position);
            node = hash_node(cs.namespace(|| "computation of commitment hash"), shape.hasher(), &children)?;
        }
    }
    pack_into_inputs(cs.namespace(|| "path"), &index_bits)?;
    let root = root.allocated(cs.namespace(|| "root_value"))?;
    equal(cs, || "enforce root is correct".to_owned(), &node, &root);
    Ok(root)
}

fn alloc_position<CS>(
    cs: &mut CS,
    arity: usize,
    element: Option<&PathElement>,
) -> Result<Vec<Boolean>, SynthesisError>
where
    CS: ConstraintSystem<Scalar>,
{
    let alloc = |i: usize| {
        let bit = element.map(|element| (element.index >> i) & 1 == 1);
        AllocatedBit::alloc(cs.namespace(|| format!("index bit {i}")), bit).map(Boolean::from)
    };
    (0..bits(arity)).map(alloc).collect()
}

fn alloc_siblings<CS>(
    cs: &mut CS,
    arity: usize,
    element: Option<&PathElement>,
) -> Result<Vec<AllocatedNum<Scalar>>, SynthesisError>
where
    CS: ConstraintSystem<Scalar>,
{
    let alloc = |i: usize| {
        AllocatedNum::alloc(cs.namespace(|| format!("path element {i}")), || {
            let sibling = element.and_then(|element| element.siblings.get(i));
            sibling.copied().ok_or(SynthesisError::AssignmentMissing)
        })
    };
    (0..arity - 1).map(alloc).collect()
}

/// Proves that `leaf` is in the tree with `root`, at the position with the given bits, least significant first, along
/// siblings that are variables already. No public input.
///
/// # Errors
/// [`SynthesisError::IncompatibleLengthVector`] unless bits and siblings fit the shape.
pub fn inclusion_of_bits<CS>(
    mut cs: CS,
    shape: &Shape,
    leaf: &AllocatedNum<Scalar>,
    index_bits: &[Boolean],
    siblings: &[Vec<AllocatedNum<Scalar>>],
    root: &AllocatedNum<Scalar>,
) -> Result<(), SynthesisError>
where
    CS: ConstraintSystem<Scalar>,
{
    if index_bits.len() != shape.index_bits() as usize || siblings.len() != shape.levels() {
        return Err(SynthesisError::IncompatibleLengthVector(format!(
            "a path through this tree has {} index bits and {} levels, got {} and {}",
            shape.index_bits(),
            shape.levels(),
            index_bits.len(),
            siblings.len()
        )));
    }
    let mut node = leaf.clone();
    let mut rest = index_bits;
    for (height, (arity, siblings)) in shape.level_arities().zip(siblings).enumerate() {
        let (position, above) = rest.split_at(bits(arity));
        rest = above;
        let cs_insert = cs.namespace(|| format!("merkle proof insert (height={height})"));
        let children = insert(cs_insert, &node, position, siblings)?;
        node = hash_node(
            cs.namespace(|| format!("merkle proof hash (height={height})")),
            shape.hasher(),
            &children,
        )?;
    }
    equal(cs, || "calculated root == provided root".to_owned(), &node, root);
    Ok(())
}

/// A node's value from those of its children.
///
/// # Errors
/// [`SynthesisError::IncompatibleLengthVector`] if Poseidon has no instance for as many children.
pub fn hash_node<CS>(
    mut cs: CS,
    hasher: NodeHasher,
    children: &[AllocatedNum<Scalar>],
) -> Result<AllocatedNum<Scalar>, SynthesisError>
where
    CS: ConstraintSystem<Scalar>,
{
    match hasher {
        NodeHasher::Poseidon => {
            let constants = poseidon::Constants::merkle(children.len()).ok_or_else(|| {
                SynthesisError::IncompatibleLengthVector(format!(
                    "no Poseidon instance has {} inputs",
                    children.len()
                ))
            })?;
            poseidon::hash(cs, children, constants)
        }
        NodeHasher::Sha256 => {
            let mut message = Vec::with_capacity(256 * children.len());
            for (i, child) in children.iter().enumerate() {
                let bits = child.to_bits_le(cs.namespace(|| format!("{i}_num_into_bits")))?;
                message.extend(reverse_bit_numbering(bits));
            }
            let digest = sha256::sha256(cs.namespace(|| "hash"), &message)?;
            sha256::pack_digest(cs.namespace(|| "pack_le"), digest)
        }
    }
}
