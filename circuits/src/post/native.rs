//! The native witness.

use assignment::{NativeWitness, WitnessSink};
use blstrs::Scalar;
use gadgets::merkle::inclusion_witness;
use gadgets::poseidon::{self, Constants};

use super::PostCircuit;
use crate::error::{Part, Place, Relation, Site, WitnessError};

impl NativeWitness<Scalar> for PostCircuit {
    type Context = ();
    type Error = WitnessError;

    fn prefix_witness<S: WitnessSink<Scalar>>(&self, _sink: &mut S) -> Result<(), WitnessError> {
        Ok(())
    }

    fn unit_witness<S: WitnessSink<Scalar>>(
        &self,
        _context: &(),
        unit: usize,
        sink: &mut S,
    ) -> Result<(), WitnessError> {
        let sector = self.partition.as_ref().and_then(|partition| partition.sectors.get(unit));
        let sector = sector.ok_or(WitnessError::Missing { unit })?;
        let at = |part| Site::new(Place::Sector(unit), part);

        sink.elements(&[sector.comm_r_last, sector.comm_c, sector.comm_r]);
        sink.input(sector.comm_r);
        let hash = poseidon::hash_witness(sink, &[sector.comm_c, sector.comm_r_last], Constants::arity_2())?;
        at(Part::Whole).field(Relation::CommR, sector.comm_r, hash)?;

        for (i, opening) in sector.openings.iter().enumerate() {
            sink.element(opening.leaf);
            let opened = inclusion_witness(sink, &self.tree, opening.leaf, &opening.path.levels)?;
            at(Part::Opening(i)).field(Relation::Root, sector.comm_r_last, opened.root)?;
        }
        Ok(())
    }
}
