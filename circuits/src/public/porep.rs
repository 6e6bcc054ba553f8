//! Public inputs of a PoRep partition: replica_id, comm_d, comm_r; then for each challenge its index in tree D, the
//! indices of its 6 + 8 parents, the challenge, its index in tree R_last, its index in tree C.

use blstrs::Scalar;

use crate::challenge::porep::Source;
use crate::graph::StackedGraph;
use crate::identity::ApiVersion;
use crate::shape::{PorepMode, SectorSize};
use crate::vanilla::{Column, PorepPartition, domain};

/// The public inputs that a partition's vanilla proof states.
pub fn porep_inputs(partition: &PorepPartition) -> Vec<Scalar> {
    let mut inputs = vec![partition.replica_id, partition.comm_d, partition.comm_r];
    for challenge in &partition.challenges {
        let index = |column: &Column| column.path.leaf_index();
        inputs.push(challenge.data.path.leaf_index().into());
        inputs
            .extend(challenge.drg_parents.iter().chain(&challenge.exp_parents).map(index).map(Scalar::from));
        inputs.push(challenge.node.into());
        inputs.push(challenge.replica_path.leaf_index().into());
        inputs.push(challenge.column_path.leaf_index().into());
    }
    inputs
}

/// The public values of a PoRep, from which a verifier derives every partition's public inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PorepInstance {
    /// The sector size.
    pub size: SectorSize,
    /// The API version, which the graph depends on.
    pub api: ApiVersion,
    /// How challenges are made.
    pub mode: PorepMode,
    /// What the graph is seeded with.
    pub porep_id: [u8; 32],
    /// The replica id; see [`replica_id`](crate::identity::replica_id).
    pub replica_id: Scalar,
    /// The root of tree D.
    pub comm_d: Scalar,
    /// The replica's commitment.
    pub comm_r: Scalar,
    /// The randomness drawn after the commitment; unused in non-interactive mode.
    pub seed: [u8; 32],
}

impl PorepInstance {
    /// The challenged nodes of partition `k`.
    pub fn challenges(&self, k: usize) -> Vec<u64> {
        let source = Source {
            mode: self.mode,
            size: self.size,
            replica_id: &domain::to_bytes(&self.replica_id),
            comm_r: &domain::to_bytes(&self.comm_r),
            seed: &self.seed,
        };
        source.partition(k, self.size.porep().challenges)
    }

    /// The graph that parents come from.
    pub fn graph(&self) -> StackedGraph {
        StackedGraph::new(self.size, &self.porep_id, self.api)
    }

    /// The public inputs of partition `k`.
    pub fn public_inputs(&self, k: usize) -> Vec<Scalar> {
        let graph = self.graph();
        let mut inputs = vec![self.replica_id, self.comm_d, self.comm_r];
        for node in self.challenges(k) {
            let parents = graph.drg_parents(node).into_iter().chain(graph.exp_parents(node));
            let indices = [node].into_iter().chain(parents).chain([node; 3]);
            inputs.extend(indices.map(Scalar::from));
        }
        inputs
    }
}
