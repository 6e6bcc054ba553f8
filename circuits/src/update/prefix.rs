//! What is proved once for a partition.

use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use ff::Field;
use gadgets::merkle::{NodeHasher, hash_node, inclusion_of_bits};
use gadgets::num::{decompose, equal};
use gadgets::pack::pack_bits;
use gadgets::poseidon::{self, Constants};

use super::{UpdateCircuit, UpdatePrefix};
use crate::alloc::{alloc, alloc_input};
use crate::shape::UPDATE_RATES;
use crate::vanilla::UpdatePartition;

impl UpdateCircuit {
    pub(super) fn prefix<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
    ) -> Result<UpdatePrefix, SynthesisError> {
        let values = self.partition.as_ref();
        let (partition, h_select) = self.k_and_h_select(cs, values)?;
        let partition_bits: Vec<Boolean> = partition.iter().cloned().map(Boolean::from).collect();
        let k = pack_bits(cs.namespace(|| "pack partition bits"), &partition_bits)?;
        let comm_r_old = alloc_input(cs, "comm_r_old", values.map(|values| values.comm_r_old))?;
        let comm_d_new = alloc_input(cs, "comm_d_new", values.map(|values| values.comm_d_new))?;
        let comm_r_new = alloc_input(cs, "comm_r_new", values.map(|values| values.comm_r_new))?;
        let preimage = [comm_d_new.clone(), comm_r_old.clone()];
        let phi = poseidon::hash(cs.namespace(|| "phi"), &preimage, Constants::update())?;

        let comm_c = alloc(cs.namespace(|| "comm_c"), values.map(|values| values.comm_c))?;
        let root_r_old = alloc(cs.namespace(|| "root_r_old"), values.map(|values| values.root_r_old))?;
        let root_r_new = alloc(cs.namespace(|| "root_r_new"), values.map(|values| values.root_r_new))?;
        let apex_leaves = (0..self.shape.apex_leaves)
            .map(|i| {
                let leaf = values.and_then(|values| values.apex_leaves.get(i)).copied();
                alloc(cs.namespace(|| format!("apex_leaf_{i}")), leaf)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let partition_path = (0..self.shape.partition_levels())
            .map(|i| {
                let level = values.and_then(|values| values.partition_path.levels.get(i));
                let sibling = level.and_then(|level| level.siblings.first()).copied();
                Ok(vec![alloc(cs.namespace(|| format!("partition_path_sibling_{i}")), sibling)?])
            })
            .collect::<Result<Vec<_>, SynthesisError>>()?;

        for (name, root, comm_r) in
            [("comm_r_old", &root_r_old, &comm_r_old), ("comm_r_new", &root_r_new, &comm_r_new)]
        {
            let preimage = [comm_c.clone(), root.clone()];
            let hash =
                poseidon::hash(cs.namespace(|| format!("{name}_calc")), &preimage, Constants::arity_2())?;
            equal(&mut *cs, || format!("enforce {name}_calc == {name}"), &hash, comm_r);
        }

        let mut apex = cs.namespace(|| "apex_gadget");
        let apex_root = apex_root(&mut apex, &apex_leaves)?;
        let por = apex.namespace(|| "partition-tree por");
        inclusion_of_bits(
            por,
            &self.partition_tree,
            &apex_root,
            &partition_bits,
            &partition_path,
            &comm_d_new,
        )?;
        drop(apex);

        let challenges = self.challenges(cs.namespace(|| "gen_challenge_bits"), &comm_r_new, &k)?;
        Ok(UpdatePrefix { phi, root_r_old, root_r_new, apex_leaves, h_select, partition, challenges })
    }

    /// The bits of the partition's index, and one for each rate, as one public input.
    fn k_and_h_select<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
        values: Option<&UpdatePartition>,
    ) -> Result<(Vec<AllocatedBit>, Vec<AllocatedBit>), SynthesisError> {
        let value = values.map(|values| self.shape.k_and_h_select(values.k, values.rate));
        let packed = alloc_input(cs, "k_and_h_select", value.map(Scalar::from))?;
        let mut bits = (0..self.shape.partition_levels() + UPDATE_RATES)
            .map(|i| {
                let bit = value.map(|value| (value >> i) & 1 == 1);
                AllocatedBit::alloc(cs.namespace(|| format!("k_and_h_select_bit_{i}")), bit)
            })
            .collect::<Result<Vec<_>, _>>()?;
        cs.enforce(
            || "k_and_h_select binary decomp",
            |lc| {
                bits.iter().zip(powers_of_two()).fold(lc, |lc, (bit, power)| lc + (power, bit.get_variable()))
            },
            |lc| lc + CS::one(),
            |lc| lc + packed.get_variable(),
        );
        let h_select = bits.split_off(self.shape.partition_levels());
        Ok((bits, h_select))
    }

    /// Each challenge's bits below those of the partition, cut from digests `Poseidon(comm_r_new, index)` that are
    /// numbered through the partitions.
    fn challenges<CS: ConstraintSystem<Scalar>>(
        &self,
        mut cs: CS,
        comm_r_new: &AllocatedNum<Scalar>,
        k: &AllocatedNum<Scalar>,
    ) -> Result<Vec<Vec<AllocatedBit>>, SynthesisError> {
        let digests = Scalar::from(self.shape.digests() as u64);
        let mut challenges = Vec::with_capacity(self.shape.challenges);
        for j in 0..self.shape.digests() {
            let offset = Scalar::from(j as u64);
            let index = k.get_value().map(|k| digests * k + offset);
            let index = alloc(cs.namespace(|| format!("digest_index_{j}")), index)?;
            // For the first digest the term of ONE is zero: production's circuit has it too.
            cs.enforce(
                || format!("digest_index_{j} == k * digests_per_partition + {j}"),
                |lc| lc + (digests, k.get_variable()) + (offset, CS::one()),
                |lc| lc + CS::one(),
                |lc| lc + index.get_variable(),
            );
            let preimage = [comm_r_new.clone(), index];
            let digest =
                poseidon::hash(cs.namespace(|| format!("digest_{j}")), &preimage, Constants::update())?;
            let bits = decompose(cs.namespace(|| format!("digest_{j}_bits")), &digest)?;
            let whole =
                bits.chunks_exact(self.shape.challenge_bits()).take(self.shape.challenges_per_digest());
            challenges.extend(whole.map(<[_]>::to_vec));
        }
        challenges.truncate(self.shape.challenges);
        Ok(challenges)
    }
}

/// The root of the binary SHA-256 tree over the apex leaves.
fn apex_root<CS: ConstraintSystem<Scalar>>(
    cs: &mut CS,
    leaves: &[AllocatedNum<Scalar>],
) -> Result<AllocatedNum<Scalar>, SynthesisError> {
    let mut row = leaves.to_vec();
    for height in 0.. {
        if let [root] = row.as_slice() {
            return Ok(root.clone());
        }
        let pairs = row.chunks(2).enumerate();
        row = pairs
            .map(|(i, pair)| {
                let name = || format!("apex_tree generation hash (tree_row={height}, siblings={i})");
                hash_node(cs.namespace(name), NodeHasher::Sha256, pair)
            })
            .collect::<Result<_, _>>()?;
    }
    Err(SynthesisError::Unsatisfiable)
}

/// 1, 2, 4, ...
fn powers_of_two() -> impl Iterator<Item = Scalar> {
    std::iter::successors(Some(Scalar::ONE), |power| Some(power.double()))
}
