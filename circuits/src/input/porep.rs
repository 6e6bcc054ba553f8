//! PoRep: the output of sealing's first commit phase.

use blstrs::Scalar;
use rayon::prelude::*;

use super::InputFile;
use super::detect::phase1;
use super::error::{InputError, Problem, Within, count, equal};
use super::merkle::{Checked, scalar, scalars};
use super::raw::{ColumnProof, LabelProof, Phase1, PorepProof};
use crate::challenge::porep::Source;
use crate::hash;
use crate::identity::{ApiVersion, RegisteredSeal, SealVersion};
use crate::shape::{DRG_PARENTS, EXP_PARENTS, LABEL_PARENTS, PorepMode, PorepShape, SectorSize};
use crate::vanilla::{Column, MerklePath, Opening, PorepChallenge, PorepPartition};

/// Reads all partitions of a PoRep, in order. `PorepMode::Interactive` takes a proof of any mode (the circuit is the
/// same), another mode only its own.
pub fn read_porep(
    size: SectorSize,
    mode: PorepMode,
    files: &[InputFile<'_>],
) -> Result<Vec<PorepPartition>, InputError> {
    let mut sector: Option<Sector> = None;
    let mut partitions = Vec::new();
    for file in files {
        let mut read = || {
            let (phase1, wrapped_size) = phase1(file)?;
            let found = Sector::read(&phase1, wrapped_size, size, mode)?;
            let sector = match &sector {
                None => sector.insert(found),
                Some(sector) => {
                    sector.same(&found)?;
                    sector
                }
            };
            // `Sector::read` made sure that there is exactly one entry.
            let raw = phase1.vanilla_proofs.into_values().flatten();
            for proofs in raw {
                let k = partitions.len();
                partitions.push(sector.partition(k, &proofs).within(|| format!("partition {k}"))?);
            }
            Ok(())
        };
        read().map_err(|error: InputError| error.in_file(file.name))?;
    }
    let sector = sector.ok_or(Problem::NoFile)?;
    count("partitions", size.porep_partitions(sector.version.mode()), partitions.len())?;
    let same = |name, of: fn(&PorepPartition) -> Scalar| -> Result<(), InputError> {
        let firsts = partitions.first().map(of).into_iter();
        let mut all = firsts.cycle().zip(partitions.iter().map(of)).enumerate();
        all.try_for_each(|(k, (first, this))| equal(name, &first, &this).within(|| format!("partition {k}")))
    };
    same("comm_c is that of partition 0", |partition| partition.comm_c)?;
    same("comm_r_last is that of partition 0", |partition| partition.comm_r_last)?;
    Ok(partitions)
}

/// What a PoRep's file states of the sector as a whole.
struct Sector {
    shape: PorepShape,
    version: SealVersion,
    replica_id: Scalar,
    comm_d: Scalar,
    comm_r: Scalar,
    phase1: Header,
}

/// The same as bytes.
#[derive(Clone, Copy)]
struct Header {
    replica_id: [u8; 32],
    comm_d: [u8; 32],
    comm_r: [u8; 32],
    seed: [u8; 32],
}

impl Sector {
    fn read(
        phase1: &Phase1,
        wrapped_size: Option<u64>,
        size: SectorSize,
        mode: PorepMode,
    ) -> Result<Self, InputError> {
        let seal: RegisteredSeal = phase1
            .registered_proof
            .parse()
            .map_err(Problem::from)
            .map_err(InputError::new)
            .within(|| "registered_proof".into())?;
        let named = seal.size;
        equal("the registered proof's sector size = the circuit's", &size.name(), &named.name())
            .within(|| "registered_proof".into())?;
        if let Some(bytes) = wrapped_size {
            equal("SectorSize = the registered proof's", &size.bytes(), &bytes)
                .within(|| "SectorSize".into())?;
        }
        if mode != PorepMode::Interactive && mode != seal.version.mode() {
            let expected = format!("{mode:?}");
            return Err(Problem::Relation {
                relation: "the registered proof's mode = the circuit's",
                expected,
                got: format!("{:?}", seal.version.mode()),
            }
            .into());
        }
        // The name under which the proofs stand says the tree's shape, in the words of the first version.
        count("entries of vanilla_proofs", 1, phase1.vanilla_proofs.len())?;
        let expected = RegisteredSeal { size, version: SealVersion::V1 }.to_string();
        for key in phase1.vanilla_proofs.keys() {
            equal("the key of vanilla_proofs is the sector size's", &expected, key)?;
        }
        let field = |name: &str, bytes: &[u8; 32]| scalar(bytes).within(|| name.into());
        Ok(Self {
            shape: size.porep(),
            version: seal.version,
            replica_id: field("replica_id", &phase1.replica_id)?,
            comm_d: field("comm_d", &phase1.comm_d)?,
            comm_r: field("comm_r", &phase1.comm_r)?,
            phase1: Header {
                replica_id: phase1.replica_id,
                comm_d: phase1.comm_d,
                comm_r: phase1.comm_r,
                seed: phase1.seed,
            },
        })
    }

    /// Refuses another file of another sector.
    fn same(&self, other: &Self) -> Result<(), InputError> {
        equal("replica_id is the first file's", &self.phase1.replica_id, &other.phase1.replica_id)?;
        equal("comm_d is the first file's", &self.phase1.comm_d, &other.phase1.comm_d)?;
        equal("comm_r is the first file's", &self.phase1.comm_r, &other.phase1.comm_r)?;
        equal("seed is the first file's", &self.phase1.seed, &other.phase1.seed)?;
        let name =
            |sector: &Self| RegisteredSeal { size: sector.shape.size, version: sector.version }.to_string();
        equal("registered_proof is the first file's", &name(self), &name(other))
    }

    fn partition(&self, k: usize, proofs: &[PorepProof]) -> Result<PorepPartition, InputError> {
        count("challenges", self.shape.challenges, proofs.len())?;
        let source = Source {
            mode: self.version.mode(),
            size: self.shape.size,
            replica_id: &self.phase1.replica_id,
            comm_r: &self.phase1.comm_r,
            seed: &self.phase1.seed,
        };
        let nodes = source.partition(k, self.shape.challenges);
        let challenges = proofs
            .par_iter()
            .zip(nodes)
            .enumerate()
            .map(|(i, (proof, node))| self.challenge(proof, node).within(|| format!("challenge {i}")));
        // All of them, so that the error is the first challenge's, not the first in time.
        let challenges: Vec<_> = challenges.collect();
        let challenges = challenges.into_iter().collect::<Result<Vec<_>, _>>()?;
        let Some(first) = challenges.first().map(|(_, roots)| *roots) else {
            return Err(InputError::count("challenges", self.shape.challenges, 0));
        };
        for (i, (_, roots)) in challenges.iter().enumerate() {
            equal("the root of c_x = that of challenge 0", &first.comm_c, &roots.comm_c)
                .and_then(|()| {
                    equal(
                        "the root of comm_r_last_proof = that of challenge 0",
                        &first.comm_r_last,
                        &roots.comm_r_last,
                    )
                })
                .within(|| format!("challenge {i}"))?;
        }
        let Roots { comm_c, comm_r_last } = first;
        equal("comm_r = Poseidon(comm_c, comm_r_last)", &hash::comm_r(comm_c, comm_r_last), &self.comm_r)?;
        Ok(PorepPartition {
            replica_id: self.replica_id,
            comm_d: self.comm_d,
            comm_r: self.comm_r,
            comm_r_last,
            comm_c,
            challenges: challenges.into_iter().map(|(challenge, _)| challenge).collect(),
        })
    }

    fn challenge(&self, proof: &PorepProof, node: u64) -> Result<(PorepChallenge, Roots), InputError> {
        let shape = &self.shape;
        let (tree, tree_d) = (shape.tree(), shape.tree_d());
        let place = |name: &'static str| move || name.into();

        let data = proof.comm_d_proofs.check(&tree_d).within(place("comm_d_proofs"))?;
        equal("the root of comm_d_proofs = comm_d", &self.comm_d, &data.root)?;
        same_node("comm_d_proofs", node, &data.path)?;

        let replica = proof.comm_r_last_proof.check(&tree).within(place("comm_r_last_proof"))?;
        same_node("comm_r_last_proof", node, &replica.path)?;

        let columns = &proof.replica_column_proofs;
        let (own, own_proof) = self.column(&columns.c_x).within(place("c_x"))?;
        same_node("c_x", node, &own.path)?;
        let comm_c = own_proof.root;

        let parents = |name: &'static str, expected: usize, proofs: &[ColumnProof]| {
            count(name, expected, proofs.len())?;
            let parents = proofs.iter().enumerate().map(|(i, proof)| {
                let check = || {
                    let (column, proof) = self.column(proof)?;
                    equal("the root of a parent's column = that of c_x", &comm_c, &proof.root)?;
                    Ok(column)
                };
                check().within(|| format!("{name} {i}"))
            });
            parents.collect::<Result<Vec<_>, InputError>>()
        };
        let drg_parents = parents("drg_parents", DRG_PARENTS, &columns.drg_parents)?;
        let exp_parents = parents("exp_parents", EXP_PARENTS, &columns.exp_parents)?;
        self.predecessor(node, &drg_parents)?;

        let key = self.key(node, proof, &own, &drg_parents, &exp_parents)?;
        let encoded = key + data.leaf;
        equal("the leaf of comm_r_last_proof = label of the last layer + data", &encoded, &replica.leaf)?;

        let challenge = PorepChallenge {
            node,
            data: Opening { leaf: data.leaf, path: data.path },
            replica_path: replica.path,
            column_path: own.path,
            drg_parents,
            exp_parents,
        };
        Ok((challenge, Roots { comm_c, comm_r_last: replica.root }))
    }

    fn column(&self, proof: &ColumnProof) -> Result<(Column, Checked), InputError> {
        count("rows of the column", self.shape.layers, proof.column.rows.len())?;
        let labels = scalars(&proof.column.rows, "row")?;
        let inclusion =
            proof.inclusion_proof.check(&self.shape.tree()).within(|| "inclusion_proof".into())?;
        equal(
            "the index of the inclusion proof = the column's",
            &u64::from(proof.column.index),
            &inclusion.path.leaf_index(),
        )?;
        equal(
            "the leaf of the inclusion proof = the column's hash",
            &hash::column(&labels),
            &inclusion.leaf,
        )?;
        Ok((Column { labels, path: inclusion.path.clone() }, inclusion))
    }

    /// Which parent is the predecessor is all of the graph that can be known without the porep id.
    fn predecessor(&self, node: u64, parents: &[Column]) -> Result<(), InputError> {
        let position = if self.version.api() == ApiVersion::V1_0_0 { DRG_PARENTS - 1 } else { 0 };
        let parent = parents.get(position).map_or(0, |parent| parent.path.leaf_index());
        equal("the predecessor is a parent", &(node - 1), &parent)
            .within(|| format!("drg_parents {position}"))
    }

    /// The key of the node's encoding: its label of the last layer. All its labels follow from its parents', which
    /// the proofs state again.
    fn key(
        &self,
        node: u64,
        proof: &PorepProof,
        own: &Column,
        drg: &[Column],
        exp: &[Column],
    ) -> Result<Scalar, InputError> {
        let layers = self.shape.layers;
        count("labeling_proofs", layers, proof.labeling_proofs.len())?;
        let mut key = None;
        for (i, (stated, row)) in proof.labeling_proofs.iter().zip(&own.labels).enumerate() {
            let layer = i + 1;
            let parents = hash::label_parents(layer, drg, exp);
            let check = || {
                stated.check(node, layer, &parents)?;
                equal(
                    "row of c_x = label of its layer",
                    &hash::label(self.replica_id, layer, node, &parents),
                    row,
                )
            };
            check().within(|| format!("layer {layer}"))?;
            key = Some(*row);
        }
        let parents = hash::label_parents(layers, drg, exp);
        proof.encoding_proof.check(node, layers, &parents).within(|| "encoding_proof".into())?;
        key.ok_or_else(|| InputError::count("labeling_proofs", layers, 0))
    }
}

impl LabelProof {
    fn check(&self, node: u64, layer: usize, parents: &[Scalar]) -> Result<(), InputError> {
        equal("node = the challenge", &node, &self.node)?;
        equal("layer_index", &layer, &(self.layer_index as usize))?;
        count("parents of a label", LABEL_PARENTS, self.parents.len())?;
        for (i, (expected, stated)) in parents.iter().zip(&self.parents).enumerate() {
            let check = || equal("a stated parent = its column's row", expected, &scalar(stated)?);
            check().within(|| format!("parent {i}"))?;
        }
        Ok(())
    }
}

/// The roots that a challenge's proofs state.
#[derive(Clone, Copy)]
struct Roots {
    comm_c: Scalar,
    comm_r_last: Scalar,
}

fn same_node(name: &'static str, node: u64, path: &MerklePath) -> Result<(), InputError> {
    equal("the index of the path = the challenge", &node, &path.leaf_index()).within(|| name.into())
}
