//! A synthetic PoRep.

use std::collections::{BTreeMap, BTreeSet};

use blstrs::Scalar;
use rayon::prelude::*;

use super::filler::{Filler, SectorSeed};
use super::regular::RegularTree;
use super::sparse::SparseTree;
use crate::graph::StackedGraph;
use crate::hash;
use crate::identity::{ApiVersion, RegisteredSeal, SealVersion, replica_id};
use crate::public::PorepInstance;
use crate::shape::{PorepMode, SectorSize};
use crate::vanilla::{Column, Opening, PorepChallenge, PorepPartition, domain};

/// A PoRep's partitions, and the public values from which their inputs follow.
#[derive(Clone, Debug)]
pub struct SyntheticPorep {
    /// All partitions, in order.
    pub partitions: Vec<PorepPartition>,
    /// The public values; its mode is always interactive (see [`synthetic`](super)).
    pub instance: PorepInstance,
}

/// A synthetic sector's PoRep, with as many partitions as this mode has.
pub fn porep(size: SectorSize, mode: PorepMode, seed: SectorSeed) -> SyntheticPorep {
    let data = DataTree::new(size, seed);
    let ids = Filler::new(seed, "ids");
    let [prover_id, ticket, randomness] = [0, 1, 2].map(|i| ids.bytes(i, 0));
    let seal = RegisteredSeal { size, version: SealVersion::V1_1 };
    let porep_id = seal.porep_id().unwrap_or_else(|| ids.bytes(3, 0));
    let comm_d = data.tree.root();
    let mut instance = PorepInstance {
        size,
        api: ApiVersion::V1_1_0,
        mode: PorepMode::Interactive,
        porep_id,
        replica_id: replica_id(&prover_id, seed.1, &ticket, &domain::to_bytes(&comm_d), &porep_id),
        comm_d,
        // Interactive challenges do not depend on it.
        comm_r: Scalar::default(),
        seed: randomness,
    };
    let challenges: Vec<Vec<u64>> =
        (0..size.porep_partitions(mode)).map(|k| instance.challenges(k)).collect();
    let labels = Labels::new(&instance, &challenges, Filler::new(seed, "labels"));

    let opened: BTreeSet<u64> = labels.opened();
    let columns: BTreeMap<u64, Vec<Scalar>> =
        opened.iter().map(|node| (*node, labels.column(*node))).collect();
    let hashes = columns.par_iter().map(|(node, labels)| (*node, hash::column(labels))).collect();
    let tree_c = SparseTree::new(&size.tree(), hashes, Filler::new(seed, "tree C"));
    let encode = |(node, labels): (&u64, &Vec<Scalar>)| {
        (*node, labels.last().copied().unwrap_or_default() + data.leaf(*node))
    };
    let replica = labels.challenged.iter().map(encode).collect();
    let tree_r = SparseTree::new(&size.tree(), replica, Filler::new(seed, "tree R_last"));
    instance.comm_r = hash::comm_r(tree_c.root(), tree_r.root());

    let column = |node: u64| Column { labels: labels.column(node), path: tree_c.path(node) };
    let challenge = |node: u64| PorepChallenge {
        node,
        data: Opening { leaf: data.leaf(node), path: data.tree.path(node) },
        replica_path: tree_r.path(node),
        column_path: tree_c.path(node),
        drg_parents: labels.graph.drg_parents(node).map(column).to_vec(),
        exp_parents: labels.graph.exp_parents(node).map(column).to_vec(),
    };
    let partitions = challenges.par_iter().map(|nodes| PorepPartition {
        replica_id: instance.replica_id,
        comm_d,
        comm_r: instance.comm_r,
        comm_r_last: tree_r.root(),
        comm_c: tree_c.root(),
        challenges: nodes.iter().map(|node| challenge(*node)).collect(),
    });
    SyntheticPorep { partitions: partitions.collect(), instance }
}

/// The data: a node depends on the number of ones in its index, so that siblings always differ.
struct DataTree {
    tree: RegularTree,
}

impl DataTree {
    fn new(size: SectorSize, seed: SectorSeed) -> Self {
        let filler = Filler::new(seed, "data");
        let arities = vec![2; size.log2_nodes()];
        let leaf = |index: u64| filler.value(index.count_ones().into(), 0);
        Self { tree: RegularTree::new(arities, 0, leaf, |pair| hash::data_node(pair[0], pair[1])) }
    }

    fn leaf(&self, node: u64) -> Scalar {
        self.tree.node(0, node)
    }
}

/// The labels of all layers: computed for challenged nodes, seeded for others.
struct Labels {
    graph: StackedGraph,
    layers: usize,
    /// The challenged nodes' labels, layer 1 first.
    challenged: BTreeMap<u64, Vec<Scalar>>,
    filler: Filler,
}

impl Labels {
    fn new(instance: &PorepInstance, challenges: &[Vec<u64>], filler: Filler) -> Self {
        let layers = instance.size.layers();
        let challenged: BTreeMap<_, _> =
            challenges.iter().flatten().map(|node| (*node, Vec::new())).collect();
        let nodes: Vec<u64> = challenged.keys().copied().collect();
        let mut labels = Self { graph: instance.graph(), layers, challenged, filler };
        // A label needs those of smaller nodes in its layer and of any node in the layer before.
        for layer in 1..=layers {
            for node in &nodes {
                let mut parents: Vec<Scalar> =
                    labels.graph.drg_parents(*node).map(|parent| labels.label(layer, parent)).to_vec();
                if layer > 1 {
                    parents.extend(
                        labels.graph.exp_parents(*node).map(|parent| labels.label(layer - 1, parent)),
                    );
                }
                let parents: Vec<Scalar> = hash::repeat_parents(&parents).copied().collect();
                let label = hash::label(instance.replica_id, layer, *node, &parents);
                labels.challenged.entry(*node).or_default().push(label);
            }
        }
        labels
    }

    fn label(&self, layer: usize, node: u64) -> Scalar {
        let computed = self.challenged.get(&node).and_then(|labels| labels.get(layer - 1));
        computed.copied().unwrap_or_else(|| self.filler.value(layer as u64, node))
    }

    fn column(&self, node: u64) -> Vec<Scalar> {
        (1..=self.layers).map(|layer| self.label(layer, node)).collect()
    }

    /// The nodes whose columns are opened: the challenged ones and their parents.
    fn opened(&self) -> BTreeSet<u64> {
        let with_parents = |node: &u64| {
            let (drg, exp) = (self.graph.drg_parents(*node), self.graph.exp_parents(*node));
            [*node].into_iter().chain(drg).chain(exp)
        };
        self.challenged.keys().flat_map(with_parents).collect()
    }
}
