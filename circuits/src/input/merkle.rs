//! Merkle proofs against the shape of their tree.

use blstrs::Scalar;

use super::error::{InputError, Problem, Within, count, equal};
use super::raw::{Bytes32, InclusionPath, MerkleProof, ProofData};
use crate::shape::TreeShape;
use crate::vanilla::{MerklePath, PathElement, domain};

/// A Merkle proof of the right shape, with what it states of its ends.
pub(super) struct Checked {
    pub leaf: Scalar,
    pub root: Scalar,
    pub path: MerklePath,
}

/// A field element from 32 bytes that must be canonical.
pub(super) fn scalar(bytes: &Bytes32) -> Result<Scalar, InputError> {
    domain::from_bytes(bytes).ok_or_else(|| Problem::NotCanonical(*bytes).into())
}

/// Field elements from a list of bytes; errors name the position.
pub(super) fn scalars(bytes: &[Bytes32], what: &str) -> Result<Vec<Scalar>, InputError> {
    bytes.iter().enumerate().map(|(i, bytes)| scalar(bytes).within(|| format!("{what} {i}"))).collect()
}

impl MerkleProof {
    /// The proof's path, if it has the form, number of levels and arities of the tree.
    pub(super) fn check(&self, tree: &TreeShape) -> Result<Checked, InputError> {
        let expected = form(tree);
        let (got, parts, root, leaf) = match &self.data {
            ProofData::Single { root, leaf, path } => ("Single", vec![path], root, leaf),
            ProofData::Sub { base_proof, sub_proof, root, leaf } => {
                ("Sub", vec![base_proof, sub_proof], root, leaf)
            }
            ProofData::Top { base_proof, sub_proof, top_proof, root, leaf } => {
                ("Top", vec![base_proof, sub_proof, top_proof], root, leaf)
            }
        };
        equal("the Merkle proof has the form of the sector size's trees", &expected, &got)?;

        let names = [("levels of the base path", tree.base_levels), ("sub levels", 1), ("top levels", 1)];
        for (part, (what, levels)) in parts.iter().zip(names) {
            count(what, levels, part.path.len())?;
        }
        Ok(Checked {
            leaf: scalar(leaf).within(|| "leaf".into())?,
            root: scalar(root).within(|| "root".into())?,
            path: path(&parts, tree)?,
        })
    }
}

/// The variant of Merkle proofs that a tree has.
fn form(tree: &TreeShape) -> &'static str {
    match (tree.sub, tree.top) {
        (0, _) => "Single",
        (_, 0) => "Sub",
        _ => "Top",
    }
}

fn path(parts: &[&InclusionPath], tree: &TreeShape) -> Result<MerklePath, InputError> {
    let elements = parts.iter().flat_map(|part| &part.path);
    let levels = elements.zip(tree.arities()).enumerate().map(|(level, (element, arity))| {
        let check = || {
            count("siblings", arity - 1, element.hashes.len())?;
            let index = usize::try_from(element.index).ok().filter(|index| *index < arity);
            let index = index.ok_or(Problem::Index { index: element.index, arity })?;
            Ok(PathElement { index, siblings: scalars(&element.hashes, "sibling")? })
        };
        check().within(|| format!("level {level}"))
    });
    levels.collect::<Result<_, _>>().map(|levels| MerklePath { levels })
}
