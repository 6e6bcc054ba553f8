//! Public inputs of a SnapDeals partition: its index and the chosen rate in one number, then three commitments.

use blstrs::Scalar;

use crate::shape::UpdateShape;
use crate::vanilla::UpdatePartition;

/// The public inputs that a partition's vanilla proof states.
pub fn update_inputs(shape: &UpdateShape, partition: &UpdatePartition) -> Vec<Scalar> {
    let instance = UpdateInstance {
        rate: partition.rate,
        comm_r_old: partition.comm_r_old,
        comm_d_new: partition.comm_d_new,
        comm_r_new: partition.comm_r_new,
    };
    instance.public_inputs(shape, partition.k)
}

/// The public values of a SnapDeals proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdateInstance {
    /// The index of the rate within the shape's `hs`, below 6.
    pub rate: usize,
    /// The old replica's commitment.
    pub comm_r_old: Scalar,
    /// The root of the new data's tree D.
    pub comm_d_new: Scalar,
    /// The new replica's commitment.
    pub comm_r_new: Scalar,
}

impl UpdateInstance {
    /// The public inputs of partition `k`; the first is `k | h_select << log2(partitions)` with
    /// `h_select = 1 << rate`.
    pub fn public_inputs(&self, shape: &UpdateShape, k: usize) -> Vec<Scalar> {
        vec![shape.k_and_h_select(k, self.rate).into(), self.comm_r_old, self.comm_d_new, self.comm_r_new]
    }
}
