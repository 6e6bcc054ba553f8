//! One challenge: that the new replica's node is the old one plus the new data's, times rho.

use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use ff::Field;
use gadgets::merkle::{Shape, inclusion_of_bits};
use gadgets::num::{add, select};
use gadgets::pack::pack_bits;
use gadgets::poseidon::{self, Constants};

use super::{UpdateCircuit, UpdatePrefix};
use crate::alloc::alloc;
use crate::vanilla::{MerklePath, UpdateChallenge};

impl UpdateCircuit {
    pub(super) fn challenge<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
        prefix: &UpdatePrefix,
        bits: &[AllocatedBit],
        values: Option<&UpdateChallenge>,
    ) -> Result<(), SynthesisError> {
        // The index of the challenged node, least significant bit first.
        let node: Vec<Boolean> = bits.iter().chain(&prefix.partition).cloned().map(Boolean::from).collect();
        let high = self.high_bits(cs.namespace(|| "get_challenge_high_bits"), prefix, &node)?;
        let rho = poseidon::hash(cs.namespace(|| "rho"), &[prefix.phi.clone(), high], Constants::update())?;

        let r_old = alloc(cs.namespace(|| "leaf_r_old"), values.map(|values| values.r_old.leaf))?;
        let d_new = alloc(cs.namespace(|| "leaf_d_new"), values.map(|values| values.d_new.leaf))?;
        let r_new = {
            let mut cs = cs.namespace(|| "leaf_r_new");
            let product = d_new.mul(cs.namespace(|| "label_d_new * rho"), &rho)?;
            add(cs.namespace(|| "label_r_new"), &r_old, &product)?
        };

        let path = values.map(|values| &values.r_old.path);
        let path = siblings(cs.namespace(|| "path_r_old"), &self.tree, path)?;
        inclusion_of_bits(
            cs.namespace(|| "por tree_r_old"),
            &self.tree,
            &r_old,
            &node,
            &path,
            &prefix.root_r_old,
        )?;
        let path = values.map(|values| &values.r_new_path);
        let path = siblings(cs.namespace(|| "path_r_new"), &self.tree, path)?;
        inclusion_of_bits(
            cs.namespace(|| "por tree_r_new"),
            &self.tree,
            &r_new,
            &node,
            &path,
            &prefix.root_r_new,
        )?;

        let (below, above) = node.split_at(self.shape.node_levels());
        let apex = &above[..self.shape.apex_levels()];
        let apex = select(cs.namespace(|| "select_apex_leaf"), &prefix.apex_leaves, apex)?;
        let path = values.map(|values| &values.d_new.path);
        let path = siblings(cs.namespace(|| "path_to_apex_leaf"), &self.node_tree, path)?;
        inclusion_of_bits(cs.namespace(|| "por to_apex_leaf"), &self.node_tree, &d_new, below, &path, &apex)
    }

    /// The `h` high bits of the node's index as a number, for the chosen rate `h`: the sum over all rates of the high bits
    /// times the rate's bit.
    fn high_bits<CS: ConstraintSystem<Scalar>>(
        &self,
        mut cs: CS,
        prefix: &UpdatePrefix,
        node: &[Boolean],
    ) -> Result<AllocatedNum<Scalar>, SynthesisError> {
        let mut products = Vec::with_capacity(self.shape.hs.len());
        for (i, (h, select)) in self.shape.hs.iter().zip(&prefix.h_select).enumerate() {
            let high = pack_bits(cs.namespace(|| format!("c_high (h={h}, k={i})")), &node[node.len() - h..])?;
            let value = select.get_value().zip(high.get_value());
            let value = value.map(|(select, high)| if select { high } else { Scalar::ZERO });
            let product = alloc(cs.namespace(|| format!("c_high_or_zero (h={h}, k={i})")), value)?;
            cs.enforce(
                || format!("c_high_or_zero == c_high * h_select_bit (h={h}, k={i})"),
                |lc| lc + high.get_variable(),
                |lc| lc + select.get_variable(),
                |lc| lc + product.get_variable(),
            );
            products.push(product);
        }
        let sum: Option<Scalar> = products.iter().map(AllocatedNum::get_value).sum();
        let sum = alloc(cs.namespace(|| "c_high_selected"), sum)?;
        cs.enforce(
            || "c_high_selected == dot(c_highs, h_select_bits)",
            |lc| products.iter().fold(lc, |lc, product| lc + product.get_variable()),
            |lc| lc + CS::one(),
            |lc| lc + sum.get_variable(),
        );
        Ok(sum)
    }
}

/// The siblings of a path, from the leaf up.
fn siblings<CS: ConstraintSystem<Scalar>>(
    mut cs: CS,
    tree: &Shape,
    path: Option<&MerklePath>,
) -> Result<Vec<Vec<AllocatedNum<Scalar>>>, SynthesisError> {
    let mut level = |(i, arity): (usize, usize)| {
        let values = path.and_then(|path| path.levels.get(i));
        (0..arity - 1)
            .map(|j| {
                let value = values.and_then(|level| level.siblings.get(j)).copied();
                alloc(cs.namespace(|| format!("sibling (tree_row={i}, sibling_index={j})")), value)
            })
            .collect()
    };
    tree.level_arities().enumerate().map(&mut level).collect()
}
