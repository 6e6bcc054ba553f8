//! The hashes of vanilla proofs, as values.

use blstrs::Scalar;
use gadgets::merkle::{NodeHasher, hash_node_value};
use gadgets::poseidon::{Constants, hash_value};
use sha2::{Digest, Sha256};

use crate::shape::LABEL_PARENTS;
use crate::vanilla::{Column, domain};

/// Shapes have no other arities, and a vanilla proof is held against its shape before anything of it is hashed.
const INSTANCE: &str = "Poseidon has an instance for every arity of a sector's trees and columns";

/// A node of a Poseidon tree from its children, or a column's hash from its labels: 2, 4, 8 or 11 inputs.
pub(crate) fn poseidon(inputs: &[Scalar]) -> Scalar {
    hash_node_value(NodeHasher::Poseidon, inputs).expect(INSTANCE)
}

/// A column's hash: a leaf of tree C.
pub(crate) fn column(labels: &[Scalar]) -> Scalar {
    poseidon(labels)
}

/// A replica's commitment from the roots of trees C and R_last.
pub(crate) fn comm_r(comm_c: Scalar, comm_r_last: Scalar) -> Scalar {
    poseidon(&[comm_c, comm_r_last])
}

/// SnapDeals' randomness: Poseidon under its own domain tag.
pub(crate) fn randomness(left: Scalar, right: Scalar) -> Scalar {
    hash_value(&[left, right], Constants::update()).expect(INSTANCE)
}

/// A node of tree D.
pub(crate) fn data_node(left: Scalar, right: Scalar) -> Scalar {
    let hash = Sha256::new().chain_update(domain::to_bytes(&left)).chain_update(domain::to_bytes(&right));
    domain::from_hash(hash.finalize().into())
}

/// The labels that a label of `layer` (1 and up) hashes, with their repetitions: those of the parents in its own
/// layer, and from layer 2 on those of the expander's parents in the layer before.
pub(crate) fn label_parents(layer: usize, drg: &[Column], exp: &[Column]) -> Vec<Scalar> {
    let label = |column: &Column, layer: usize| column.labels.get(layer - 1).copied();
    let mut parents: Vec<Scalar> = drg.iter().filter_map(|column| label(column, layer)).collect();
    if layer > 1 {
        parents.extend(exp.iter().filter_map(|column| label(column, layer - 1)));
    }
    repeat_parents(&parents).copied().collect()
}

/// The parents over and over, as many as a label hashes.
pub(crate) fn repeat_parents<T>(parents: &[T]) -> impl Iterator<Item = &T> {
    parents.iter().cycle().take(LABEL_PARENTS)
}

/// `SHA-256(replica_id || layer as u32 BE || node as u64 BE || 20 zeros || parents)` as a field element.
pub(crate) fn label(replica_id: Scalar, layer: usize, node: u64, parents: &[Scalar]) -> Scalar {
    let mut hash = Sha256::new()
        .chain_update(domain::to_bytes(&replica_id))
        .chain_update((layer as u32).to_be_bytes())
        .chain_update(node.to_be_bytes())
        .chain_update([0; 20]);
    parents.iter().for_each(|parent| hash.update(domain::to_bytes(parent)));
    domain::from_hash(hash.finalize().into())
}
