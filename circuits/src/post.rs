//! FallbackPoSt, the circuit of WinningPoSt and WindowPoSt: that sectors' replicas are still stored.

mod native;

use assignment::{CircuitId, StructuredCircuit};
use bellpepper_core::{ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use gadgets::merkle::{Root, Shape, inclusion};
use gadgets::num::equal;
use gadgets::poseidon::{self, Constants};

use crate::alloc::{alloc, alloc_input};
use crate::error::CircuitError;
use crate::form::poseidon_tree;
use crate::shape::PostShape;
use crate::vanilla::PostPartition;

/// One partition's circuit. It has no prefix; its unit is a sector.
///
/// A sector's public inputs are comm_r and, for each challenge, the index of the opened leaf.
pub struct PostCircuit {
    shape: PostShape,
    tree: Shape,
    partition: Option<PostPartition>,
}

impl PostCircuit {
    /// The circuit without values: enough to record and to set up.
    pub fn blank(shape: PostShape) -> Result<Self, CircuitError> {
        Ok(Self { shape, tree: poseidon_tree(shape.tree())?, partition: None })
    }

    /// The circuit of a partition, whose form is checked; its relations are checked by the native witness.
    pub fn new(shape: PostShape, partition: PostPartition) -> Result<Self, CircuitError> {
        shape.check_form(&partition)?;
        Ok(Self { partition: Some(partition), ..Self::blank(shape)? })
    }

    /// The circuit's shape.
    pub fn shape(&self) -> &PostShape {
        &self.shape
    }

    /// The partition, unless the circuit is blank.
    pub fn partition(&self) -> Option<&PostPartition> {
        self.partition.as_ref()
    }
}

impl StructuredCircuit<Scalar> for PostCircuit {
    type Prefix = ();

    fn id(&self) -> CircuitId {
        self.shape.id()
    }

    fn units(&self) -> usize {
        self.shape.sectors
    }

    fn synthesize_prefix<CS: ConstraintSystem<Scalar>>(&self, _cs: &mut CS) -> Result<(), SynthesisError> {
        Ok(())
    }

    fn synthesize_unit<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
        _prefix: &(),
        unit: usize,
    ) -> Result<(), SynthesisError> {
        let mut cs = cs.namespace(|| format!("sector_{unit}"));
        let sector = self.partition.as_ref().and_then(|partition| partition.sectors.get(unit));

        let comm_r_last = alloc(cs.namespace(|| "comm_r_last"), sector.map(|sector| sector.comm_r_last))?;
        let comm_c = alloc(cs.namespace(|| "comm_c"), sector.map(|sector| sector.comm_c))?;
        let comm_r = alloc_input(&mut cs, "comm_r", sector.map(|sector| sector.comm_r))?;
        let preimage = [comm_c, comm_r_last.clone()];
        let hash = poseidon::hash(cs.namespace(|| "H_comm_c_comm_r_last"), &preimage, Constants::arity_2())?;
        equal(&mut cs, || "enforce_comm_c_comm_r_last_hash_comm_r".into(), &comm_r, &hash);

        for i in 0..self.shape.challenges {
            let opening = sector.and_then(|sector| sector.openings.get(i));
            inclusion(
                cs.namespace(|| format!("challenge_inclusion_{i}")),
                &self.tree,
                Root::Val(opening.map(|opening| opening.leaf)),
                opening.map(|opening| opening.path.levels.as_slice()),
                Root::Var(comm_r_last.clone()),
            )?;
        }
        Ok(())
    }
}
