//! One challenge: that the node's label follows from its parents' columns, and its replica from label and data.

use bellpepper_core::boolean::Boolean;
use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use gadgets::merkle::{Root, Shape, inclusion};
use gadgets::num::add;
use gadgets::pack::reverse_bit_numbering;
use gadgets::uint64::UInt64;
use gadgets::{poseidon, sha256};

use super::{PorepCircuit, PorepPrefix};
use crate::alloc::alloc;
use crate::hash::repeat_parents;
use crate::shape::{DRG_PARENTS, EXP_PARENTS};
use crate::vanilla::{Column, MerklePath, PorepChallenge};

/// The labels of a parent, layer 1 first.
type Labels = Vec<AllocatedNum<Scalar>>;

impl PorepCircuit {
    pub(super) fn challenge<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
        prefix: &PorepPrefix,
        values: Option<&PorepChallenge>,
    ) -> Result<(), SynthesisError> {
        let data = alloc(cs.namespace(|| "data_leaf"), values.map(|values| values.data.leaf))?;
        let path = values.map(|values| &values.data.path);
        include(cs.namespace(|| "comm_d_inclusion"), &self.tree_d, &data, path, &prefix.comm_d)?;

        let drg = self.parents(cs, prefix, "drg", DRG_PARENTS, values.map(|values| &*values.drg_parents))?;
        let exp = self.parents(cs, prefix, "exp", EXP_PARENTS, values.map(|values| &*values.exp_parents))?;

        let node = UInt64::alloc(cs.namespace(|| "challenge"), values.map(|values| values.node))?;
        node.pack_into_input(cs.namespace(|| "challenge input"))?;
        let layers = 1..=self.shape.layers;
        let labels: Labels = layers
            .map(|layer| {
                self.label(cs.namespace(|| format!("labeling_{layer}")), prefix, &drg, &exp, layer, &node)
            })
            .collect::<Result<_, _>>()?;

        if let Some(key) = labels.last() {
            let replica = add(cs.namespace(|| "encode_node"), key, &data)?;
            let path = values.map(|values| &values.replica_path);
            let cs = cs.namespace(|| "comm_r_last_data_inclusion");
            include(cs, &self.tree, &replica, path, &prefix.comm_r_last)?;
        }
        let column = poseidon::hash(cs.namespace(|| "c_x_column_hash"), &labels, self.column)?;
        let path = values.map(|values| &values.column_path);
        include(cs.namespace(|| "c_x_inclusion"), &self.tree, &column, path, &prefix.comm_c)
    }

    /// The parents' labels, whose hashes are in tree C.
    fn parents<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
        prefix: &PorepPrefix,
        kind: &str,
        count: usize,
        columns: Option<&[Column]>,
    ) -> Result<Vec<Labels>, SynthesisError> {
        let mut parent = |i: usize| {
            let column = columns.and_then(|columns| columns.get(i));
            let labels = self.column(cs.namespace(|| format!("{kind}_parent_{i}_num")), column)?;
            let cs_hash = cs.namespace(|| format!("{kind}_parent_{i}_constraint"));
            let hash = poseidon::hash(cs_hash, &labels, self.column)?;
            let path = column.map(|column| &column.path);
            let cs = cs.namespace(|| format!("{kind}_parent_{i}_inclusion"));
            include(cs, &self.tree, &hash, path, &prefix.comm_c)?;
            Ok(labels)
        };
        (0..count).map(&mut parent).collect()
    }

    fn column<CS: ConstraintSystem<Scalar>>(
        &self,
        mut cs: CS,
        column: Option<&Column>,
    ) -> Result<Labels, SynthesisError> {
        let label = |i: usize| column.and_then(|column| column.labels.get(i)).copied();
        let layers = 0..self.shape.layers;
        layers.map(|i| alloc(cs.namespace(|| format!("column_num_row_{i}")), label(i))).collect()
    }

    /// The node's label in a layer: the SHA-256 of replica_id, layer, node, padding to 64 bytes, and 37 parents' labels;
    /// of the graph's own layer, and, from the second layer on, of the layer before.
    fn label<CS: ConstraintSystem<Scalar>>(
        &self,
        mut cs: CS,
        prefix: &PorepPrefix,
        drg: &[Labels],
        exp: &[Labels],
        layer: usize,
        node: &UInt64,
    ) -> Result<AllocatedNum<Scalar>, SynthesisError> {
        let own = drg.iter().map(|labels| ("drg", labels.get(layer - 1)));
        let before =
            exp.iter().filter(|_| layer > 1).map(|labels| ("exp", labels.get(layer.wrapping_sub(2))));
        let mut parents = Vec::with_capacity(DRG_PARENTS + EXP_PARENTS);
        for (i, (kind, label)) in own.chain(before).enumerate() {
            let label = label.ok_or(SynthesisError::Unsatisfiable)?;
            let bits = label.to_bits_le(cs.namespace(|| format!("{kind}_parent_{i}_bits")))?;
            parents.push(reverse_bit_numbering(bits));
        }

        let mut cs = cs.namespace(|| "create_label");
        let mut message = prefix.replica_id.clone();
        let layer = layer as u32;
        message.extend((0..u32::BITS).rev().map(|i| Boolean::Constant((layer >> i) & 1 == 1)));
        message.extend(node.to_bits_be());
        message.resize(512, Boolean::Constant(false));
        repeat_parents(&parents).for_each(|bits| message.extend_from_slice(bits));
        let digest = sha256::sha256(cs.namespace(|| "hash"), &message)?;
        sha256::pack_digest(cs.namespace(|| "result_num"), digest)
    }
}

fn include<CS: ConstraintSystem<Scalar>>(
    cs: CS,
    tree: &Shape,
    leaf: &AllocatedNum<Scalar>,
    path: Option<&MerklePath>,
    root: &AllocatedNum<Scalar>,
) -> Result<(), SynthesisError> {
    let path = path.map(|path| path.levels.as_slice());
    inclusion(cs, tree, Root::Var(leaf.clone()), path, Root::Var(root.clone())).map(drop)
}
