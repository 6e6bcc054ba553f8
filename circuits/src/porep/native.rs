//! The native witness.

use assignment::{NativeWitness, WitnessSink};
use blstrs::Scalar;
use gadgets::merkle::{Shape, inclusion_witness};
use gadgets::num::{add_witness, to_bits_le_witness};
use gadgets::pack::pack_digest_witness;
use gadgets::poseidon::{self, Constants};
use gadgets::sha256::{Message, sha256_witness};
use gadgets::uint64;

use super::PorepCircuit;
use crate::error::{Part, Place, Relation, Site, WitnessError};
use crate::hash::repeat_parents;
use crate::shape::{DRG_PARENTS, EXP_PARENTS, LABEL_PARENTS};
use crate::vanilla::{Column, MerklePath, PorepChallenge, PorepPartition, domain};

impl NativeWitness<Scalar> for PorepCircuit {
    type Context = ();
    type Error = WitnessError;

    fn prefix_witness<S: WitnessSink<Scalar>>(&self, sink: &mut S) -> Result<(), WitnessError> {
        let partition = self.partition.as_ref().ok_or(WitnessError::Missing { unit: 0 })?;
        sink.element(partition.replica_id);
        sink.input(partition.replica_id);
        to_bits_le_witness(sink, &partition.replica_id);
        sink.element(partition.comm_d);
        sink.input(partition.comm_d);
        sink.element(partition.comm_r);
        sink.input(partition.comm_r);
        sink.elements(&[partition.comm_r_last, partition.comm_c]);
        let preimage = [partition.comm_c, partition.comm_r_last];
        let hash = poseidon::hash_witness(sink, &preimage, Constants::arity_2())?;
        Site::new(Place::Partition, Part::Whole).field(Relation::CommR, partition.comm_r, hash)?;
        Ok(())
    }

    fn unit_witness<S: WitnessSink<Scalar>>(
        &self,
        _context: &(),
        unit: usize,
        sink: &mut S,
    ) -> Result<(), WitnessError> {
        let partition = self.partition.as_ref().ok_or(WitnessError::Missing { unit })?;
        let challenge = partition.challenges.get(unit).ok_or(WitnessError::Missing { unit })?;
        Generator { circuit: self, partition, challenge, place: Place::Challenge(unit), sink }.run()
    }
}

/// Pushes one challenge's values.
struct Generator<'a, S> {
    circuit: &'a PorepCircuit,
    partition: &'a PorepPartition,
    challenge: &'a PorepChallenge,
    place: Place,
    sink: &'a mut S,
}

impl<S: WitnessSink<Scalar>> Generator<'_, S> {
    fn run(mut self) -> Result<(), WitnessError> {
        let Self { circuit, partition, challenge, .. } = self;
        let node = Some(challenge.node);
        let data = challenge.data.leaf;
        self.sink.element(data);
        self.include(Part::Data, &circuit.tree_d, data, &challenge.data.path, partition.comm_d, node)?;

        let drg = challenge.drg_parents.iter().enumerate().map(|(i, parent)| (Part::DrgParent(i), parent));
        let exp = challenge.exp_parents.iter().enumerate().map(|(i, parent)| (Part::ExpParent(i), parent));
        for (part, Column { labels, path }) in drg.chain(exp) {
            self.sink.elements(labels);
            let hash = poseidon::hash_witness(self.sink, labels, circuit.column)?;
            self.include(part, &circuit.tree, hash, path, partition.comm_c, None)?;
        }

        uint64::alloc_witness(self.sink, challenge.node);
        uint64::pack_into_input_witness(self.sink, challenge.node);
        let labels = self.labels();

        let replica = add_witness(self.sink, labels.last().copied().unwrap_or_default(), data);
        self.include(
            Part::Replica,
            &circuit.tree,
            replica,
            &challenge.replica_path,
            partition.comm_r_last,
            node,
        )?;
        let column = poseidon::hash_witness(self.sink, &labels, circuit.column)?;
        self.include(Part::Column, &circuit.tree, column, &challenge.column_path, partition.comm_c, node)
    }

    /// The node's labels, layer 1 first.
    fn labels(&mut self) -> Vec<Scalar> {
        let replica_id = domain::to_bytes(&self.partition.replica_id);
        let mut message = Message::with_capacity(32 * (2 + LABEL_PARENTS));
        let mut parents = Vec::with_capacity(DRG_PARENTS + EXP_PARENTS);
        let mut label = |layer: usize| {
            let own = self.challenge.drg_parents.iter().filter_map(|parent| parent.labels.get(layer));
            let before = layer.checked_sub(1);
            let before = before.iter().flat_map(|layer| {
                self.challenge.exp_parents.iter().filter_map(|parent| parent.labels.get(*layer))
            });
            parents.clear();
            parents.extend(own.chain(before).map(|label| to_bits_le_witness(self.sink, label)));

            message.clear();
            message.push_scalar(&replica_id);
            message.push_constant(&(layer as u32 + 1).to_be_bytes());
            message.push_variable(&self.challenge.node.to_be_bytes());
            message.push_constant(&[0; 20]);
            repeat_parents(&parents).for_each(|bytes| message.push_scalar(bytes));
            let digest = sha256_witness(self.sink, &message);
            pack_digest_witness(self.sink, digest)
        };
        (0..self.circuit.shape.layers).map(&mut label).collect()
    }

    /// Pushes a path, which must lead from `leaf` to `root`, and start at `node` where that is given.
    fn include(
        &mut self,
        part: Part,
        tree: &Shape,
        leaf: Scalar,
        path: &MerklePath,
        root: Scalar,
        node: Option<u64>,
    ) -> Result<(), WitnessError> {
        let site = Site::new(self.place, part);
        let opened = inclusion_witness(self.sink, tree, leaf, &path.levels)?;
        if let Some(node) = node {
            site.index(Relation::Index, node, opened.index)?;
        }
        Ok(site.field(Relation::Root, root, opened.root)?)
    }
}
