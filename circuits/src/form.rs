//! Whether a partition has the form of its circuit. A circuit is made of nothing else, so that its synthesis can rely
//! on every length.

use gadgets::merkle::{NodeHasher, Shape};

use crate::error::{CircuitError, Counted, FormError, Part, Place, Ranged, Site};
use crate::shape::{DRG_PARENTS, EXP_PARENTS, PorepShape, PostShape, TreeShape, UPDATE_RATES, UpdateShape};
use crate::vanilla::{Column, MerklePath, PorepPartition, PostPartition, UpdatePartition};

/// The gadget's form of a Poseidon tree.
pub(crate) fn poseidon_tree(tree: TreeShape) -> Result<Shape, CircuitError> {
    Ok(Shape::new(NodeHasher::Poseidon, tree.base, tree.base_levels, tree.sub, tree.top)?)
}

/// The gadget's form of a SHA-256 tree, or of a part of one.
pub(crate) fn binary_tree(levels: usize) -> Result<Shape, CircuitError> {
    Ok(Shape::new(NodeHasher::Sha256, 2, levels, 0, 0)?)
}

impl PorepShape {
    /// Whether the circuit of this shape takes this partition: every number of things, every length, every position.
    pub fn check_form(&self, partition: &PorepPartition) -> Result<(), FormError> {
        let whole = Site::new(Place::Partition, Part::Whole);
        whole.count(Counted::Challenges, self.challenges, partition.challenges.len())?;
        let (tree, tree_d) = (self.tree(), self.tree_d());
        for (i, challenge) in partition.challenges.iter().enumerate() {
            let at = |part| Site::new(Place::Challenge(i), part);
            check_path(at(Part::Data), &tree_d, &challenge.data.path)?;
            check_path(at(Part::Replica), &tree, &challenge.replica_path)?;
            check_path(at(Part::Column), &tree, &challenge.column_path)?;
            at(Part::Whole).count(Counted::DrgParents, DRG_PARENTS, challenge.drg_parents.len())?;
            at(Part::Whole).count(Counted::ExpParents, EXP_PARENTS, challenge.exp_parents.len())?;
            let check_column = |site: Site, column: &Column| {
                site.count(Counted::Labels, self.layers, column.labels.len())?;
                check_path(site, &tree, &column.path)
            };
            for (j, parent) in challenge.drg_parents.iter().enumerate() {
                check_column(at(Part::DrgParent(j)), parent)?;
            }
            for (j, parent) in challenge.exp_parents.iter().enumerate() {
                check_column(at(Part::ExpParent(j)), parent)?;
            }
        }
        Ok(())
    }
}

impl PostShape {
    /// Whether the circuit of this shape takes this partition: every number of things, every length, every position.
    pub fn check_form(&self, partition: &PostPartition) -> Result<(), FormError> {
        let whole = Site::new(Place::Partition, Part::Whole);
        whole.count(Counted::Sectors, self.sectors, partition.sectors.len())?;
        let tree = self.tree();
        for (i, sector) in partition.sectors.iter().enumerate() {
            let at = |part| Site::new(Place::Sector(i), part);
            at(Part::Whole).count(Counted::Openings, self.challenges, sector.openings.len())?;
            for (j, opening) in sector.openings.iter().enumerate() {
                check_path(at(Part::Opening(j)), &tree, &opening.path)?;
            }
        }
        Ok(())
    }
}

impl UpdateShape {
    /// Whether the circuit of this shape takes this partition: every number of things, every length, every position.
    pub fn check_form(&self, partition: &UpdatePartition) -> Result<(), FormError> {
        let whole = Site::new(Place::Partition, Part::Whole);
        whole.below(Ranged::Partition, self.partitions, partition.k)?;
        whole.below(Ranged::Rate, UPDATE_RATES, partition.rate)?;
        whole.count(Counted::ApexLeaves, self.apex_leaves, partition.apex_leaves.len())?;
        whole.count(Counted::Challenges, self.challenges, partition.challenges.len())?;
        let apex = Site::new(Place::Partition, Part::ApexTree);
        check_path(apex, &TreeShape::binary(self.partition_levels()), &partition.partition_path)?;
        let (tree, tree_d) = (self.tree(), TreeShape::binary(self.node_levels()));
        for (i, challenge) in partition.challenges.iter().enumerate() {
            let at = |part| Site::new(Place::Challenge(i), part);
            check_path(at(Part::OldReplica), &tree, &challenge.r_old.path)?;
            check_path(at(Part::NewReplica), &tree, &challenge.r_new_path)?;
            check_path(at(Part::NewData), &tree_d, &challenge.d_new.path)?;
        }
        Ok(())
    }
}

fn check_path(site: Site, tree: &TreeShape, path: &MerklePath) -> Result<(), FormError> {
    let arities = tree.arities();
    site.count(Counted::Levels, arities.len(), path.levels.len())?;
    for (i, (arity, level)) in arities.into_iter().zip(&path.levels).enumerate() {
        site.count(Counted::Siblings(i), arity - 1, level.siblings.len())?;
        site.below(Ranged::Position(i), arity, level.index)?;
    }
    Ok(())
}
