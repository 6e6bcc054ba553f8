//! The PoRep circuit (StackedCircuit): that a replica is the encoding of the data.

mod challenge;
mod native;

use assignment::{CircuitId, StructuredCircuit};
use bellpepper_core::boolean::Boolean;
use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use gadgets::merkle::Shape;
use gadgets::num::equal;
use gadgets::pack::reverse_bit_numbering;
use gadgets::poseidon::{self, Constants};

use crate::alloc::{alloc, alloc_input};
use crate::error::CircuitError;
use crate::form::{binary_tree, poseidon_tree};
use crate::shape::PorepShape;
use crate::vanilla::PorepPartition;

/// One partition's circuit. Its prefix binds the commitments; its unit is a challenge.
///
/// Public inputs: replica_id, comm_d, comm_r; then for each challenge its leaf index in tree D, those of its 6 + 8
/// parents in tree C, the challenged node, its leaf index in tree R_last and in tree C.
pub struct PorepCircuit {
    shape: PorepShape,
    tree: Shape,
    tree_d: Shape,
    column: &'static Constants,
    partition: Option<PorepPartition>,
}

/// What all challenges of a PoRep share.
pub struct PorepPrefix {
    /// 256 bits, most significant first in each byte; the last byte's first is a constant zero.
    replica_id: Vec<Boolean>,
    comm_d: AllocatedNum<Scalar>,
    comm_r_last: AllocatedNum<Scalar>,
    comm_c: AllocatedNum<Scalar>,
}

impl PorepCircuit {
    /// The circuit without values: enough to record and to set up.
    pub fn blank(shape: PorepShape) -> Result<Self, CircuitError> {
        let column = Constants::merkle(shape.layers);
        let column = column.ok_or(CircuitError::Shape { what: "2, 4, 8 or 11 layers", got: shape.layers })?;
        let (tree, tree_d) = (poseidon_tree(shape.tree())?, binary_tree(shape.tree_d().base_levels)?);
        Ok(Self { shape, tree, tree_d, column, partition: None })
    }

    /// The circuit of a partition, whose form is checked; its relations are checked by the native witness.
    pub fn new(shape: PorepShape, partition: PorepPartition) -> Result<Self, CircuitError> {
        shape.check_form(&partition)?;
        Ok(Self { partition: Some(partition), ..Self::blank(shape)? })
    }

    /// The circuit's shape.
    pub fn shape(&self) -> &PorepShape {
        &self.shape
    }

    /// The partition, unless the circuit is blank.
    pub fn partition(&self) -> Option<&PorepPartition> {
        self.partition.as_ref()
    }
}

impl StructuredCircuit<Scalar> for PorepCircuit {
    type Prefix = PorepPrefix;

    fn id(&self) -> CircuitId {
        self.shape.id()
    }

    fn units(&self) -> usize {
        self.shape.challenges
    }

    fn synthesize_prefix<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
    ) -> Result<PorepPrefix, SynthesisError> {
        let partition = self.partition.as_ref();
        let replica_id = alloc_input(cs, "replica_id", partition.map(|partition| partition.replica_id))?;
        let replica_id = reverse_bit_numbering(replica_id.to_bits_le(cs.namespace(|| "replica_id_bits"))?);
        let comm_d = alloc_input(cs, "comm_d", partition.map(|partition| partition.comm_d))?;
        let comm_r = alloc_input(cs, "comm_r", partition.map(|partition| partition.comm_r))?;
        let comm_r_last =
            alloc(cs.namespace(|| "comm_r_last"), partition.map(|partition| partition.comm_r_last))?;
        let comm_c = alloc(cs.namespace(|| "comm_c"), partition.map(|partition| partition.comm_c))?;
        let preimage = [comm_c.clone(), comm_r_last.clone()];
        let hash = poseidon::hash(cs.namespace(|| "H_comm_c_comm_r_last"), &preimage, Constants::arity_2())?;
        equal(cs, || "enforce comm_r = H(comm_c || comm_r_last)".into(), &comm_r, &hash);
        Ok(PorepPrefix { replica_id, comm_d, comm_r_last, comm_c })
    }

    fn synthesize_unit<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
        prefix: &PorepPrefix,
        unit: usize,
    ) -> Result<(), SynthesisError> {
        let values = self.partition.as_ref().and_then(|partition| partition.challenges.get(unit));
        self.challenge(&mut cs.namespace(|| format!("challenge_{unit}")), prefix, values)
    }
}
