//! The native witness.

use assignment::{NativeWitness, Packer, WitnessSink};
use blstrs::Scalar;
use ff::Field;
use gadgets::merkle::{NodeHasher, Shape, hash_node_value, inclusion_of_bits_witness};
use gadgets::num::{add_witness, select_witness, to_bits_le_witness};
use gadgets::poseidon::{self, Constants};
use gadgets::sha256::hash_pair_witness;
use rayon::prelude::*;

use super::UpdateCircuit;
use crate::challenge::update::challenges;
use crate::error::{Part, Place, Relation, Site, WitnessError};
use crate::shape::UPDATE_RATES;
use crate::vanilla::MerklePath;

/// What the generator of SnapDeals' prefix hands to its challenges.
pub struct UpdateContext {
    phi: Scalar,
    /// The challenged nodes, as `comm_r_new` and the partition determine them.
    nodes: Vec<u64>,
}

impl NativeWitness<Scalar> for UpdateCircuit {
    type Context = UpdateContext;
    type Error = WitnessError;

    fn prefix_witness<S: WitnessSink<Scalar>>(&self, sink: &mut S) -> Result<UpdateContext, WitnessError> {
        let partition = self.partition.as_ref().ok_or(WitnessError::Missing { unit: 0 })?;
        let whole = Site::new(Place::Partition, Part::Whole);

        let packed = self.shape.k_and_h_select(partition.k, partition.rate);
        sink.element(packed.into());
        sink.input(packed.into());
        sink.bits(packed, (self.shape.partition_levels() + UPDATE_RATES) as u32);
        sink.element(Scalar::from(partition.k as u64));
        for comm in [partition.comm_r_old, partition.comm_d_new, partition.comm_r_new] {
            sink.element(comm);
            sink.input(comm);
        }
        let phi =
            poseidon::hash_witness(sink, &[partition.comm_d_new, partition.comm_r_old], Constants::update())?;

        sink.elements(&[partition.comm_c, partition.root_r_old, partition.root_r_new]);
        sink.elements(&partition.apex_leaves);
        push_siblings(sink, &partition.partition_path);
        let old = (partition.root_r_old, partition.comm_r_old, Relation::CommR);
        let new = (partition.root_r_new, partition.comm_r_new, Relation::CommRNew);
        for (root, comm_r, relation) in [old, new] {
            let hash = poseidon::hash_witness(sink, &[partition.comm_c, root], Constants::arity_2())?;
            whole.field(relation, comm_r, hash)?;
        }

        let root = apex_root(sink, &partition.apex_leaves);
        let opened =
            inclusion_of_bits_witness(sink, &self.partition_tree, root, &partition.partition_path.levels)?;
        let apex = Site::new(Place::Partition, Part::ApexTree);
        apex.index(Relation::Index, partition.k as u64, opened.index)?;
        apex.field(Relation::Root, partition.comm_d_new, opened.root)?;

        let first = (partition.k * self.shape.digests()) as u64;
        for j in 0..self.shape.digests() as u64 {
            let index = Scalar::from(first + j);
            sink.element(index);
            let digest = poseidon::hash_witness(sink, &[partition.comm_r_new, index], Constants::update())?;
            to_bits_le_witness(sink, &digest);
        }
        let nodes = challenges(&self.shape, partition.comm_r_new, partition.k);
        Ok(UpdateContext { phi, nodes })
    }

    fn unit_witness<S: WitnessSink<Scalar>>(
        &self,
        context: &UpdateContext,
        unit: usize,
        sink: &mut S,
    ) -> Result<(), WitnessError> {
        let missing = WitnessError::Missing { unit };
        let partition = self.partition.as_ref().ok_or(missing.clone())?;
        let challenge = partition.challenges.get(unit).ok_or(missing.clone())?;
        let node = *context.nodes.get(unit).ok_or(missing.clone())?;
        let at = |part| Site::new(Place::Challenge(unit), part);
        at(Part::Whole).index(Relation::Challenge, node, challenge.node)?;

        let mut chosen = Scalar::ZERO;
        for (i, h) in self.shape.hs.iter().enumerate() {
            let high = Scalar::from(node >> (self.shape.size.log2_nodes() - h));
            let product = if i == partition.rate { high } else { Scalar::ZERO };
            sink.elements(&[high, product]);
            chosen += product;
        }
        sink.element(chosen);
        let rho = poseidon::hash_witness(sink, &[context.phi, chosen], Constants::update())?;

        let (r_old, d_new) = (challenge.r_old.leaf, challenge.d_new.leaf);
        let product = d_new * rho;
        sink.elements(&[r_old, d_new, product]);
        let r_new = add_witness(sink, r_old, product);

        let old = (Part::OldReplica, r_old, &challenge.r_old.path, partition.root_r_old);
        let new = (Part::NewReplica, r_new, &challenge.r_new_path, partition.root_r_new);
        for (part, leaf, path, root) in [old, new] {
            include(sink, at(part), &self.tree, leaf, path, node, root)?;
        }

        let node_levels = self.shape.node_levels();
        let apex = (node >> node_levels) as usize % self.shape.apex_leaves;
        let apex = select_witness(sink, &partition.apex_leaves, apex).ok_or(missing)?;
        let below = node & ((1 << node_levels) - 1);
        include(sink, at(Part::NewData), &self.node_tree, d_new, &challenge.d_new.path, below, apex)
    }
}

fn push_siblings<S: WitnessSink<Scalar>>(sink: &mut S, path: &MerklePath) {
    path.levels.iter().for_each(|level| sink.elements(&level.siblings));
}

/// Pushes a path's siblings and the path, which must lead from `leaf`, at `index`, to `root`.
fn include<S: WitnessSink<Scalar>>(
    sink: &mut S,
    site: Site,
    tree: &Shape,
    leaf: Scalar,
    path: &MerklePath,
    index: u64,
    root: Scalar,
) -> Result<(), WitnessError> {
    push_siblings(sink, path);
    let opened = inclusion_of_bits_witness(sink, tree, leaf, &path.levels)?;
    site.index(Relation::Index, index, opened.index)?;
    Ok(site.field(Relation::Root, root, opened.root)?)
}

/// Pushes the SHA-256 tree over the apex leaves and returns its root.
///
/// The nodes' values are cheap beside the bits of their hashes, so they are computed first; then all hashes are independent.
fn apex_root<S: WitnessSink<Scalar>>(sink: &mut S, leaves: &[Scalar]) -> Scalar {
    let mut rows = vec![leaves.to_vec()];
    while let Some(row) = rows.last().filter(|row| row.len() > 1) {
        rows.push(row.chunks(2).filter_map(|pair| hash_node_value(NodeHasher::Sha256, pair)).collect());
    }
    let root = rows.pop().and_then(|row| row.first().copied()).unwrap_or_default();

    let pairs: Vec<&[Scalar]> = rows.iter().flat_map(|row| row.chunks_exact(2)).collect();
    let chunk = pairs.len().div_ceil(4 * rayon::current_num_threads()).max(1);
    let parts: Vec<Packer<'static, Scalar>> = pairs
        .par_chunks(chunk)
        .map(|pairs| {
            let mut packer = Packer::new();
            for pair in pairs {
                hash_pair_witness(&mut packer, pair[0], pair[1]);
            }
            packer
        })
        .collect();
    parts.iter().for_each(|part| part.replay(sink));
    root
}
