//! SnapDeals: the proof that an empty sector's replica now encodes new data.

use blstrs::Scalar;
use rayon::prelude::*;

use super::InputFile;
use super::detect::records;
use super::error::{InputError, Problem, Shown, Within, count, equal};
use super::merkle::{Checked, scalar, scalars};
use super::raw::UpdateProof;
use crate::challenge::update::{challenges, phi, rho};
use crate::hash;
use crate::shape::{TreeShape, UPDATE_RATES, UpdateShape};
use crate::vanilla::{MerklePath, Opening, UpdateChallenge, UpdatePartition};

/// Reads all partitions of a SnapDeals proof. They may come in any order; they are returned in theirs.
///
/// Files do not say which rate `h` they were encoded with: it is the one under which every challenge's new node is
/// `old + data * rho`. Where several would do, it is the shape's default if that is one of them, else the first.
pub fn read_update(shape: &UpdateShape, files: &[InputFile<'_>]) -> Result<Vec<UpdatePartition>, InputError> {
    if files.is_empty() {
        return Err(Problem::NoFile.into());
    }
    let mut partitions: Vec<UpdatePartition> = Vec::new();
    let mut rates = [true; UPDATE_RATES];
    for file in files {
        let mut read = || {
            let proofs = records::<UpdateProof>(file)?;
            let several = proofs.len() > 1;
            let checked: Vec<_> = proofs.par_iter().map(|proof| proof.check(shape)).collect();
            for (i, checked) in checked.into_iter().enumerate() {
                let (partition, of_this) = checked
                    .map_err(|error| if several { error.within(format!("proof {i}")) } else { error })?;
                if let Some(first) = partitions.first() {
                    same_sector(first, &partition).within(|| format!("partition {}", partition.k))?;
                }
                rates.iter_mut().zip(of_this).for_each(|(all, this)| *all &= this);
                partitions.push(partition);
            }
            Ok(())
        };
        read().map_err(|error: InputError| error.in_file(file.name))?;
    }
    partitions.sort_by_key(|partition| partition.k);
    count("partitions", shape.partitions, partitions.len())?;
    for (k, partition) in partitions.iter().enumerate() {
        equal("every partition is there once", &k, &partition.k).within(|| "partitions".into())?;
    }
    let first = rates.iter().position(|holds| *holds);
    let default = rates.get(shape.default_rate).is_some_and(|holds| *holds).then_some(shape.default_rate);
    let rate = default.or(first).ok_or(Problem::Relation {
        relation: "all partitions are encoded with the same h",
        expected: format!("one of {:?} for all", shape.hs),
        got: "none that all partitions satisfy".into(),
    })?;
    partitions.iter_mut().for_each(|partition| partition.rate = rate);
    Ok(partitions)
}

fn same_sector(first: &UpdatePartition, other: &UpdatePartition) -> Result<(), InputError> {
    equal("comm_c is the first partition's", &first.comm_c, &other.comm_c)?;
    equal("the root of proof_r_old is the first partition's", &first.root_r_old, &other.root_r_old)?;
    equal("the root of proof_r_new is the first partition's", &first.root_r_new, &other.root_r_new)?;
    equal("the root of proof_d_new is the first partition's", &first.comm_d_new, &other.comm_d_new)
}

/// A challenge's three proofs.
struct Challenge {
    r_old: Checked,
    d_new: Checked,
    r_new: Checked,
}

impl UpdateProof {
    /// The partition, with a rate yet to be set, and for each rate whether its encoding holds.
    fn check(&self, shape: &UpdateShape) -> Result<(UpdatePartition, [bool; UPDATE_RATES]), InputError> {
        let comm_c = scalar(&self.comm_c).within(|| "comm_c".into())?;
        count("apex leaves", shape.apex_leaves, self.apex_leafs.len())?;
        let apex_leaves = scalars(&self.apex_leafs, "apex leaf")?;
        count("challenges", shape.challenges, self.challenge_proofs.len())?;
        let proofs = self.shaped(shape)?;
        let Some(first) = proofs.first() else {
            return Err(InputError::count("challenges", shape.challenges, 0));
        };
        let (root_r_old, root_r_new, comm_d_new) = (first.r_old.root, first.r_new.root, first.d_new.root);
        for (i, proof) in proofs.iter().enumerate() {
            let check = || {
                equal("the root of proof_r_old = that of challenge 0", &root_r_old, &proof.r_old.root)?;
                equal("the root of proof_r_new = that of challenge 0", &root_r_new, &proof.r_new.root)?;
                equal("the root of proof_d_new = that of challenge 0", &comm_d_new, &proof.d_new.root)
            };
            check().within(|| format!("challenge {i}"))?;
        }
        let comm_r_old = hash::comm_r(comm_c, root_r_old);
        let comm_r_new = hash::comm_r(comm_c, root_r_new);

        // Challenges follow from the new commitment and the partition, whose index is the first challenge's high bits.
        let k = (first.d_new.path.leaf_index() >> (shape.node_levels() + shape.apex_levels())) as usize;
        for (i, (proof, node)) in proofs.iter().zip(challenges(shape, comm_r_new, k)).enumerate() {
            let paths = [
                ("proof_r_old", &proof.r_old.path),
                ("proof_d_new", &proof.d_new.path),
                ("proof_r_new", &proof.r_new.path),
            ];
            for (name, path) in paths {
                equal("the index of the path = the challenge", &node, &path.leaf_index())
                    .within(|| format!("challenge {i}, {name}"))?;
            }
        }
        let apex = Apex::new(&apex_leaves, shape, &first.d_new)?;
        for (i, proof) in proofs.iter().enumerate() {
            apex.check(&proof.d_new).within(|| format!("challenge {i}, proof_d_new"))?;
        }
        let rates = rates(shape, phi(comm_d_new, comm_r_old), &proofs)?;
        let challenges = proofs.into_iter().map(|proof| UpdateChallenge {
            node: proof.d_new.path.leaf_index(),
            r_old: Opening { leaf: proof.r_old.leaf, path: proof.r_old.path },
            d_new: Opening { leaf: proof.d_new.leaf, path: head(&proof.d_new.path, shape.node_levels()) },
            r_new_path: proof.r_new.path,
        });
        let partition = UpdatePartition {
            k,
            rate: shape.default_rate,
            comm_r_old,
            comm_d_new,
            comm_r_new,
            comm_c,
            root_r_old,
            root_r_new,
            partition_path: apex.partition_path,
            challenges: challenges.collect(),
            apex_leaves,
        };
        Ok((partition, rates))
    }

    /// Every challenge's proofs against the shapes of their trees.
    fn shaped(&self, shape: &UpdateShape) -> Result<Vec<Challenge>, InputError> {
        let (tree, tree_d) = (shape.tree(), TreeShape::binary(shape.size.log2_nodes()));
        let shaped = self.challenge_proofs.iter().enumerate().map(|(i, proof)| {
            let check = || {
                Ok(Challenge {
                    r_old: proof.proof_r_old.check(&tree).within(|| "proof_r_old".into())?,
                    d_new: proof.proof_d_new.check(&tree_d).within(|| "proof_d_new".into())?,
                    r_new: proof.proof_r_new.check(&tree).within(|| "proof_r_new".into())?,
                })
            };
            check().within(|| format!("challenge {i}"))
        });
        shaped.collect()
    }
}

/// For each rate, whether every challenge is encoded with it. It is an error if none is.
fn rates(shape: &UpdateShape, phi: Scalar, proofs: &[Challenge]) -> Result<[bool; UPDATE_RATES], InputError> {
    let encoded = |proof: &Challenge, h: usize| {
        proof.r_old.leaf + proof.d_new.leaf * rho(shape, phi, proof.d_new.path.leaf_index(), h)
    };
    // Where the first challenge fails, the others need no hashing.
    let rates = shape.hs.map(|h| proofs.iter().all(|proof| encoded(proof, h) == proof.r_new.leaf));
    if rates.contains(&true) {
        return Ok(rates);
    }
    let h = shape.hs.get(shape.default_rate).copied().unwrap_or_default();
    let wrong = proofs.iter().enumerate().find(|(_, proof)| encoded(proof, h) != proof.r_new.leaf);
    let (i, expected, got) = match wrong {
        Some((i, proof)) => (i, encoded(proof, h).shown(), proof.r_new.leaf.shown()),
        None => (0, String::new(), String::new()),
    };
    let relation = "the leaf of proof_r_new = old + data * rho for one h (expected: for the default h)";
    Err(InputError::new(Problem::Relation { relation, expected, got }).within(format!("challenge {i}")))
}

/// The lowest levels of a path.
fn head(path: &MerklePath, levels: usize) -> MerklePath {
    MerklePath { levels: path.levels.iter().take(levels).cloned().collect() }
}

/// A partition's part of tree D above its apex leaves, rebuilt, and the path from its root to the tree's.
struct Apex {
    /// Level by level, from the apex leaves to the partition's root.
    levels: Vec<Vec<Scalar>>,
    node_levels: usize,
    partition_path: MerklePath,
}

impl Apex {
    fn new(leaves: &[Scalar], shape: &UpdateShape, first: &Checked) -> Result<Self, InputError> {
        let mut levels = vec![leaves.to_vec()];
        while let Some(below) = levels.last().filter(|level| level.len() > 1) {
            let above = below.chunks_exact(2).map(|pair| hash::data_node(pair[0], pair[1])).collect();
            levels.push(above);
        }
        let (node_levels, apex_levels) = (shape.node_levels(), shape.apex_levels());
        let path = first.path.levels.iter().skip(node_levels + apex_levels).cloned().collect();
        let apex = Self { levels, node_levels, partition_path: MerklePath { levels: path } };
        let root = climb(apex.root(), &apex.partition_path);
        equal("the apex leaves lead to the root of proof_d_new", &first.root, &root)
            .within(|| "apex_leafs".into())?;
        Ok(apex)
    }

    fn root(&self) -> Scalar {
        self.levels.last().and_then(|level| level.first()).copied().unwrap_or_default()
    }

    /// A challenge's path leads to an apex leaf, continues within the rebuilt tree, and then as all others do.
    fn check(&self, proof: &Checked) -> Result<(), InputError> {
        let apex_levels = self.levels.len() - 1;
        let leaf = climb(proof.leaf, &head(&proof.path, self.node_levels));
        let index = (proof.path.leaf_index() >> self.node_levels) as usize;
        // Within the partition: the partition's own bits are above.
        let index = index & ((1 << apex_levels) - 1);
        let node = |level: usize, index: usize| {
            self.levels.get(level).and_then(|nodes| nodes.get(index)).copied().unwrap_or_default()
        };
        equal("the node at the apex = its apex leaf", &node(0, index), &leaf)?;
        let above = proof.path.levels.iter().skip(self.node_levels).enumerate();
        for (level, element) in above {
            let (relation, expected) = match level.checked_sub(apex_levels) {
                None => (
                    "a sibling above the apex = the apex leaves' hash",
                    vec![node(level, index >> level ^ 1)],
                ),
                Some(level) => {
                    let first = self.partition_path.levels.get(level);
                    let siblings = first.map(|element| element.siblings.clone()).unwrap_or_default();
                    ("a sibling above the partition = that of challenge 0", siblings)
                }
            };
            for (expected, got) in expected.iter().zip(&element.siblings) {
                equal(relation, expected, got).within(|| format!("level {}", self.node_levels + level))?;
            }
        }
        Ok(())
    }
}

/// The root of a binary SHA-256 path, whose levels have one sibling each.
fn climb(leaf: Scalar, path: &MerklePath) -> Scalar {
    let levels =
        path.levels.iter().flat_map(|level| level.siblings.iter().map(|sibling| (level.index, *sibling)));
    levels.fold(leaf, |node, (index, sibling)| match index {
        0 => hash::data_node(node, sibling),
        _ => hash::data_node(sibling, node),
    })
}
