//! The SnapDeals circuit (EmptySectorUpdate): that a replica of new data was encoded from an old replica.

mod challenge;
mod native;
mod prefix;

pub use native::UpdateContext;

use assignment::{CircuitId, StructuredCircuit};
use bellpepper_core::boolean::AllocatedBit;
use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{ConstraintSystem, SynthesisError, Variable};
use blstrs::Scalar;
use gadgets::merkle::Shape;

use crate::error::CircuitError;
use crate::form::{binary_tree, poseidon_tree};
use crate::shape::UpdateShape;
use crate::vanilla::UpdatePartition;

/// One partition's circuit. Its prefix binds the commitments, rebuilds the partition's part of tree D from its apex
/// leaves, and derives the challenges; its unit is a challenge, bound to its own bits.
///
/// Public inputs: the partition's index and the chosen rate in one number, comm_r_old, comm_d_new, comm_r_new.
pub struct UpdateCircuit {
    shape: UpdateShape,
    tree: Shape,
    /// From a node to its apex leaf.
    node_tree: Shape,
    /// From the root of the partition's part of tree D to the root of all.
    partition_tree: Shape,
    partition: Option<UpdatePartition>,
}

/// What the challenges of SnapDeals share, and for each the bits that it is bound to.
pub struct UpdatePrefix {
    /// `Poseidon(comm_d_new, comm_r_old)`.
    phi: AllocatedNum<Scalar>,
    root_r_old: AllocatedNum<Scalar>,
    root_r_new: AllocatedNum<Scalar>,
    apex_leaves: Vec<AllocatedNum<Scalar>>,
    /// One bit for each of the shape's rates, of which one is set.
    h_select: Vec<AllocatedBit>,
    /// The partition's index, least significant bit first: the high bits of each challenge.
    partition: Vec<AllocatedBit>,
    /// Each challenge's bits below those, least significant first.
    challenges: Vec<Vec<AllocatedBit>>,
}

impl UpdateCircuit {
    /// The circuit without values: enough to record and to set up.
    pub fn blank(shape: UpdateShape) -> Result<Self, CircuitError> {
        let powers = [
            ("a power of two of partitions", shape.partitions),
            ("a power of two of apex leaves", shape.apex_leaves),
        ];
        for (what, got) in powers {
            if !got.is_power_of_two() {
                return Err(CircuitError::Shape { what, got });
            }
        }
        let levels = shape.size.log2_nodes();
        if shape.partition_levels() + shape.apex_levels() > levels {
            return Err(CircuitError::Shape {
                what: "no more apex leaves than nodes",
                got: shape.apex_leaves,
            });
        }
        if let Some(h) = shape.hs.into_iter().find(|h| *h > levels) {
            return Err(CircuitError::Shape { what: "rates of at most the bits of a node's index", got: h });
        }
        Ok(Self {
            shape,
            tree: poseidon_tree(shape.tree())?,
            node_tree: binary_tree(shape.node_levels())?,
            partition_tree: binary_tree(shape.partition_levels())?,
            partition: None,
        })
    }

    /// The circuit of a partition, whose form is checked; its relations are checked by the native witness.
    pub fn new(shape: UpdateShape, partition: UpdatePartition) -> Result<Self, CircuitError> {
        let blank = Self::blank(shape)?;
        shape.check_form(&partition)?;
        Ok(Self { partition: Some(partition), ..blank })
    }

    /// The circuit's shape.
    pub fn shape(&self) -> &UpdateShape {
        &self.shape
    }

    /// The partition, unless the circuit is blank.
    pub fn partition(&self) -> Option<&UpdatePartition> {
        self.partition.as_ref()
    }
}

impl StructuredCircuit<Scalar> for UpdateCircuit {
    type Prefix = UpdatePrefix;

    fn id(&self) -> CircuitId {
        self.shape.id()
    }

    fn units(&self) -> usize {
        self.shape.challenges
    }

    fn synthesize_prefix<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
    ) -> Result<UpdatePrefix, SynthesisError> {
        self.prefix(cs)
    }

    fn bindings(&self, prefix: &UpdatePrefix, unit: usize) -> Vec<Variable> {
        let bits = prefix.challenges.get(unit).into_iter().flatten();
        bits.map(AllocatedBit::get_variable).collect()
    }

    fn synthesize_unit<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
        prefix: &UpdatePrefix,
        unit: usize,
    ) -> Result<(), SynthesisError> {
        let values = self.partition.as_ref().and_then(|partition| partition.challenges.get(unit));
        let bits = prefix.challenges.get(unit).ok_or(SynthesisError::Unsatisfiable)?;
        self.challenge(&mut cs.namespace(|| format!("challenge_{unit}")), prefix, bits, values)
    }
}
