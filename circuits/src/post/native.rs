//! The native witness.

use assignment::{NativeWitness, WitnessSink};
use blstrs::Scalar;
use gadgets::merkle::inclusion_witness_each;
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
        context: &(),
        unit: usize,
        sink: &mut S,
    ) -> Result<(), WitnessError> {
        self.units_witness(context, unit, std::slice::from_mut(sink))
    }

    fn units_at_once(&self) -> usize {
        poseidon::AT_ONCE
    }

    fn units_witness<S: WitnessSink<Scalar>>(
        &self,
        _context: &(),
        first: usize,
        sinks: &mut [S],
    ) -> Result<(), WitnessError> {
        let sectors = self.partition.as_ref().map_or(&[][..], |partition| &partition.sectors);
        let end = first + sinks.len();
        let sectors =
            sectors.get(first..end).ok_or(WitnessError::Missing { unit: first.max(sectors.len()) })?;
        // Sectors are checked side by side; of the failing ones the first is reported.
        let mut checked = vec![Ok(()); sectors.len()];
        let mut check = |k: usize, part, relation, expected, got| {
            let site = Site::new(Place::Sector(first + k), part);
            if checked[k].is_ok() {
                checked[k] = site.field(relation, expected, got);
            }
        };

        for (sector, sink) in sectors.iter().zip(sinks.iter_mut()) {
            sink.elements(&[sector.comm_r_last, sector.comm_c, sector.comm_r]);
            sink.input(sector.comm_r);
        }
        let preimages: Vec<_> = sectors.iter().map(|sector| [sector.comm_c, sector.comm_r_last]).collect();
        let preimages: Vec<_> = preimages.iter().map(<[_; 2]>::as_slice).collect();
        let hashes = poseidon::hash_witness_each(sinks, &preimages, Constants::arity_2())?;
        for (k, (sector, hash)) in sectors.iter().zip(hashes).enumerate() {
            check(k, Part::Whole, Relation::CommR, sector.comm_r, hash);
        }

        for i in 0..self.shape.challenges {
            // The partition's form was checked: every sector has as many openings.
            let openings = || sectors.iter().filter_map(|sector| sector.openings.get(i));
            openings().zip(sinks.iter_mut()).for_each(|(opening, sink)| sink.element(opening.leaf));
            let leaves: Vec<_> = openings().map(|opening| opening.leaf).collect();
            let paths: Vec<_> = openings().map(|opening| opening.path.levels.as_slice()).collect();
            let opened = inclusion_witness_each(sinks, &self.tree, &leaves, &paths)?;
            for (k, (sector, opened)) in sectors.iter().zip(opened).enumerate() {
                check(k, Part::Opening(i), Relation::Root, sector.comm_r_last, opened.root);
            }
        }
        Ok(checked.into_iter().collect::<Result<(), _>>()?)
    }
}
