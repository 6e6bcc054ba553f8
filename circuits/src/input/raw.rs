//! Vanilla proofs as their files state them: the structures that the reference implementation serialises, before
//! anything about them is checked. Field order is that of bincode.

use std::collections::BTreeMap;

use serde::Deserialize;

pub(super) type Bytes32 = [u8; 32];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MerkleProof {
    pub data: ProofData,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum ProofData {
    Single {
        root: Bytes32,
        leaf: Bytes32,
        path: InclusionPath,
    },
    Sub {
        base_proof: InclusionPath,
        sub_proof: InclusionPath,
        root: Bytes32,
        leaf: Bytes32,
    },
    Top {
        base_proof: InclusionPath,
        sub_proof: InclusionPath,
        top_proof: InclusionPath,
        root: Bytes32,
        leaf: Bytes32,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InclusionPath {
    pub path: Vec<PathElement>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PathElement {
    pub hashes: Vec<Bytes32>,
    pub index: u64,
}

/// The wrapper of lotus and curio. Go writes it and ignores fields it does not know, so these are ignored here too.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Wrapper {
    #[serde(rename = "SectorNum")]
    pub _sector_num: u64,
    pub phase1_out: String,
    pub sector_size: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Phase1 {
    pub registered_proof: String,
    /// One entry, under the name of the proof that stands for the tree's shape.
    pub vanilla_proofs: BTreeMap<String, Vec<Vec<PorepProof>>>,
    pub comm_r: Bytes32,
    pub comm_d: Bytes32,
    pub replica_id: Bytes32,
    pub seed: Bytes32,
    #[serde(rename = "ticket")]
    pub _ticket: Bytes32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PorepProof {
    pub comm_d_proofs: MerkleProof,
    pub comm_r_last_proof: MerkleProof,
    pub replica_column_proofs: ReplicaColumnProofs,
    pub labeling_proofs: Vec<LabelProof>,
    pub encoding_proof: LabelProof,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplicaColumnProofs {
    pub c_x: ColumnProof,
    pub drg_parents: Vec<ColumnProof>,
    pub exp_parents: Vec<ColumnProof>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ColumnProof {
    pub column: Column,
    pub inclusion_proof: MerkleProof,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Column {
    pub index: u32,
    pub rows: Vec<Bytes32>,
    #[serde(rename = "_h", default)]
    pub _phantom: (),
}

/// A labeling proof or an encoding proof.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LabelProof {
    pub parents: Vec<Bytes32>,
    pub layer_index: u32,
    pub node: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PostProof {
    pub sector_id: u64,
    pub comm_r: Bytes32,
    pub vanilla_proof: SectorProofs,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SectorProofs {
    pub sectors: Vec<SectorProof>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SectorProof {
    pub inclusion_proofs: Vec<MerkleProof>,
    pub comm_c: Bytes32,
    pub comm_r_last: Bytes32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateProof {
    pub comm_c: Bytes32,
    pub apex_leafs: Vec<Bytes32>,
    pub challenge_proofs: Vec<UpdateChallengeProof>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateChallengeProof {
    pub proof_r_old: MerkleProof,
    pub proof_d_new: MerkleProof,
    pub proof_r_new: MerkleProof,
}
