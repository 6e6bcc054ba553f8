//! Writers of vanilla proofs, as the reference implementation writes them: the inverse of the readers.

use std::fmt::Write;

use blstrs::Scalar;
use circuits::shape::{SectorSize, TreeShape};
use circuits::vanilla::*;
use gadgets::merkle::{NodeHasher, hash_node_value};

fn poseidon(inputs: &[Scalar]) -> Scalar {
    hash_node_value(NodeHasher::Poseidon, inputs).unwrap()
}

/// A Merkle proof's parts: its form, and the number of levels in each.
fn parts(tree: &TreeShape) -> (u32, Vec<usize>) {
    match (tree.sub, tree.top) {
        (0, _) => (0, vec![tree.base_levels]),
        (_, 0) => (1, vec![tree.base_levels, 1]),
        _ => (2, vec![tree.base_levels, 1, 1]),
    }
}

pub mod bincode {
    use super::*;

    fn number(out: &mut Vec<u8>, value: u64) {
        out.extend(value.to_le_bytes());
    }

    fn scalar(out: &mut Vec<u8>, value: &Scalar) {
        out.extend(domain::to_bytes(value));
    }

    fn merkle(out: &mut Vec<u8>, tree: &TreeShape, leaf: Scalar, root: Scalar, path: &MerklePath) {
        let (form, parts) = parts(tree);
        out.extend(form.to_le_bytes());
        if form == 0 {
            [root, leaf].iter().for_each(|value| scalar(out, value));
        }
        let mut levels = path.levels.iter();
        for part in parts {
            number(out, part as u64);
            for level in levels.by_ref().take(part) {
                number(out, level.siblings.len() as u64);
                level.siblings.iter().for_each(|sibling| scalar(out, sibling));
                number(out, level.index as u64);
            }
        }
        if form != 0 {
            [root, leaf].iter().for_each(|value| scalar(out, value));
        }
    }

    pub fn post(id: u64, size: SectorSize, sector: &PostSector, openings: &[Opening]) -> Vec<u8> {
        let mut out = Vec::new();
        number(&mut out, id);
        scalar(&mut out, &sector.comm_r);
        number(&mut out, 1);
        number(&mut out, openings.len() as u64);
        for opening in openings {
            merkle(&mut out, &size.tree(), opening.leaf, sector.comm_r_last, &opening.path);
        }
        scalar(&mut out, &sector.comm_c);
        scalar(&mut out, &sector.comm_r_last);
        out
    }

    /// `d_paths` are the challenges' whole paths in tree D, `new_leaves` the new replica's nodes.
    pub fn update(
        size: SectorSize,
        partition: &UpdatePartition,
        d_paths: &[MerklePath],
        new_leaves: &[Scalar],
    ) -> Vec<u8> {
        let mut out = Vec::new();
        scalar(&mut out, &partition.comm_c);
        number(&mut out, partition.apex_leaves.len() as u64);
        partition.apex_leaves.iter().for_each(|leaf| scalar(&mut out, leaf));
        number(&mut out, partition.challenges.len() as u64);
        let tree_d = TreeShape::binary(size.log2_nodes());
        for ((challenge, d_path), new_leaf) in partition.challenges.iter().zip(d_paths).zip(new_leaves) {
            merkle(&mut out, &size.tree(), challenge.r_old.leaf, partition.root_r_old, &challenge.r_old.path);
            merkle(&mut out, &tree_d, challenge.d_new.leaf, partition.comm_d_new, d_path);
            merkle(&mut out, &size.tree(), *new_leaf, partition.root_r_new, &challenge.r_new_path);
        }
        out
    }
}

/// The phase-1 output of these partitions, in JSON.
pub fn phase1(size: SectorSize, registered: &str, seed: &[u8; 32], partitions: &[PorepPartition]) -> String {
    let first = &partitions[0];
    let mut out = format!(r#"{{"registered_proof":"{registered}","vanilla_proofs":{{"StackedDrg{size}V1":["#);
    for (k, partition) in partitions.iter().enumerate() {
        out += if k == 0 { "[" } else { ",[" };
        for (i, challenge) in partition.challenges.iter().enumerate() {
            out += if i == 0 { "" } else { "," };
            porep_challenge(&mut out, size, partition, challenge);
        }
        out += "]";
    }
    out += "]}";
    for (name, value) in
        [("comm_r", first.comm_r), ("comm_d", first.comm_d), ("replica_id", first.replica_id)]
    {
        write!(out, r#","{name}":{:?}"#, domain::to_bytes(&value)).unwrap();
    }
    write!(out, r#","seed":{seed:?},"ticket":{:?}}}"#, [0u8; 32]).unwrap();
    out
}

fn porep_challenge(
    out: &mut String,
    size: SectorSize,
    partition: &PorepPartition,
    challenge: &PorepChallenge,
) {
    let (tree, tree_d) = (size.tree(), TreeShape::binary(size.log2_nodes()));
    let labels: Vec<Scalar> = (1..=size.layers()).map(|layer| label(partition, challenge, layer)).collect();
    *out += r#"{"comm_d_proofs":"#;
    merkle(out, &tree_d, challenge.data.leaf, partition.comm_d, &challenge.data.path);
    *out += r#","comm_r_last_proof":"#;
    let replica = labels[labels.len() - 1] + challenge.data.leaf;
    merkle(out, &tree, replica, partition.comm_r_last, &challenge.replica_path);
    *out += r#","replica_column_proofs":{"c_x":"#;
    column(out, &tree, partition.comm_c, &labels, &challenge.column_path);
    for (name, parents) in [("drg_parents", &challenge.drg_parents), ("exp_parents", &challenge.exp_parents)]
    {
        write!(out, r#","{name}":["#).unwrap();
        for (i, parent) in parents.iter().enumerate() {
            *out += if i == 0 { "" } else { "," };
            column(out, &tree, partition.comm_c, &parent.labels, &parent.path);
        }
        *out += "]";
    }
    *out += r#"},"labeling_proofs":["#;
    for layer in 1..=size.layers() {
        *out += if layer == 1 { "" } else { "," };
        label_proof(out, challenge, layer);
    }
    *out += r#"],"encoding_proof":"#;
    label_proof(out, challenge, size.layers());
    *out += "}";
}

fn merkle(out: &mut String, tree: &TreeShape, leaf: Scalar, root: Scalar, path: &MerklePath) {
    let (form, parts) = parts(tree);
    let (form, names): (_, &[&str]) = match form {
        0 => ("Single", &["path"]),
        1 => ("Sub", &["base_proof", "sub_proof"]),
        _ => ("Top", &["base_proof", "sub_proof", "top_proof"]),
    };
    write!(out, r#"{{"data":{{"{form}":{{"#).unwrap();
    let mut levels = path.levels.iter();
    for (name, part) in names.iter().zip(parts) {
        write!(out, r#""{name}":{{"path":["#).unwrap();
        for (i, level) in levels.by_ref().take(part).enumerate() {
            let hashes: Vec<_> = level.siblings.iter().map(domain::to_bytes).collect();
            let comma = if i == 0 { "" } else { "," };
            write!(out, r#"{comma}{{"hashes":{hashes:?},"index":{}}}"#, level.index).unwrap();
        }
        *out += "]},";
    }
    let [root, leaf] = [root, leaf].map(|value| domain::to_bytes(&value));
    write!(out, r#""root":{root:?},"leaf":{leaf:?}}}}}}}"#).unwrap();
}

fn column(out: &mut String, tree: &TreeShape, comm_c: Scalar, labels: &[Scalar], path: &MerklePath) {
    let rows: Vec<_> = labels.iter().map(domain::to_bytes).collect();
    let index = path.leaf_index();
    write!(out, r#"{{"column":{{"index":{index},"rows":{rows:?},"_h":null}},"inclusion_proof":"#).unwrap();
    merkle(out, tree, poseidon(labels), comm_c, path);
    *out += "}";
}

fn label_proof(out: &mut String, challenge: &PorepChallenge, layer: usize) {
    let parents: Vec<_> = label_parents(challenge, layer).iter().map(domain::to_bytes).collect();
    let node = challenge.node;
    write!(out, r#"{{"parents":{parents:?},"layer_index":{layer},"node":{node}}}"#).unwrap();
}

fn label_parents(challenge: &PorepChallenge, layer: usize) -> Vec<Scalar> {
    let mut parents: Vec<Scalar> =
        challenge.drg_parents.iter().map(|column| column.labels[layer - 1]).collect();
    if layer > 1 {
        parents.extend(challenge.exp_parents.iter().map(|column| column.labels[layer - 2]));
    }
    (0..37).map(|i| parents[i % parents.len()]).collect()
}

fn label(partition: &PorepPartition, challenge: &PorepChallenge, layer: usize) -> Scalar {
    use sha2::{Digest, Sha256};
    let mut hash = Sha256::new();
    hash.update(domain::to_bytes(&partition.replica_id));
    hash.update((layer as u32).to_be_bytes());
    hash.update(challenge.node.to_be_bytes());
    hash.update([0; 20]);
    label_parents(challenge, layer).iter().for_each(|parent| hash.update(domain::to_bytes(parent)));
    domain::from_hash(hash.finalize().into())
}
