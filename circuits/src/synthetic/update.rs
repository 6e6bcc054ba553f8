//! A synthetic SnapDeals proof.

use blstrs::Scalar;

use super::filler::{Filler, SectorSeed};
use super::regular::RegularTree;
use crate::challenge::update::{challenges, phi, rho};
use crate::hash;
use crate::public::UpdateInstance;
use crate::shape::UpdateShape;
use crate::vanilla::{MerklePath, Opening, UpdateChallenge, UpdatePartition};

/// A SnapDeals proof's partitions, and the public values from which their inputs follow.
#[derive(Clone, Debug)]
pub struct SyntheticUpdate {
    /// All partitions, in order.
    pub partitions: Vec<UpdatePartition>,
    /// The public values.
    pub instance: UpdateInstance,
}

/// A synthetic sector's SnapDeals proof, encoded with the shape's default rate.
///
/// A node of the old replica, and of the data, depends on the number of ones in its index; the new replica's depends on
/// its index's h high bits too, through rho.
pub fn update(shape: &UpdateShape, seed: SectorSeed) -> SyntheticUpdate {
    let rate = shape.default_rate;
    let h = shape.hs.get(rate).copied().unwrap_or_default();
    let [old, data] = ["old replica", "data"].map(|purpose| Filler::new(seed, purpose));
    let old = |index: u64| old.value(index.count_ones().into(), 0);
    let data = |index: u64| data.value(index.count_ones().into(), 0);
    let arities = shape.tree().arities();
    let binary = vec![2; shape.size.log2_nodes()];
    let tree_r_old = RegularTree::new(arities.clone(), 0, old, hash::poseidon);
    let tree_d_new = RegularTree::new(binary, 0, data, |pair| hash::data_node(pair[0], pair[1]));

    let comm_c = Filler::new(seed, "comm_c").value(0, 0);
    let comm_r_old = hash::comm_r(comm_c, tree_r_old.root());
    let comm_d_new = tree_d_new.root();
    let phi = phi(comm_d_new, comm_r_old);
    let part_bits = shape.size.log2_nodes() - h;
    let rhos: Vec<Scalar> = (0..1u64 << h).map(|part| rho(shape, phi, part << part_bits, h)).collect();
    let new = |index: u64| old(index) + data(index) * rhos[(index >> part_bits) as usize];
    let tree_r_new = RegularTree::new(arities, h as u32, new, hash::poseidon);
    let comm_r_new = hash::comm_r(comm_c, tree_r_new.root());

    let challenge = |node: u64| {
        let mut d_path = tree_d_new.path(node);
        d_path.levels.truncate(shape.node_levels());
        UpdateChallenge {
            node,
            r_old: Opening { leaf: old(node), path: tree_r_old.path(node) },
            d_new: Opening { leaf: data(node), path: d_path },
            r_new_path: tree_r_new.path(node),
        }
    };
    let partition = |k: usize| {
        let apex = shape.apex_leaves as u64;
        let apex_nodes = (0..apex).map(|i| tree_d_new.node(shape.node_levels(), k as u64 * apex + i));
        let first_node = (k as u64) << (shape.node_levels() + shape.apex_levels());
        let levels = tree_d_new.path(first_node).levels.split_off(shape.node_levels() + shape.apex_levels());
        UpdatePartition {
            k,
            rate,
            comm_r_old,
            comm_d_new,
            comm_r_new,
            comm_c,
            root_r_old: tree_r_old.root(),
            root_r_new: tree_r_new.root(),
            apex_leaves: apex_nodes.collect(),
            partition_path: MerklePath { levels },
            challenges: challenges(shape, comm_r_new, k).into_iter().map(challenge).collect(),
        }
    };
    SyntheticUpdate {
        partitions: (0..shape.partitions).map(partition).collect(),
        instance: UpdateInstance { rate, comm_r_old, comm_d_new, comm_r_new },
    }
}
