//! The reference's own circuits on the real 2 KiB fixtures.

use std::error::Error;

use blstrs::Scalar;
use filecoin_hashers::{poseidon::PoseidonHasher, sha256::Sha256Hasher};
use serde::Deserialize;
use storage_proofs_core::{
    api_version::ApiVersion, compound_proof::CompoundProof, merkle::LCTree, proof::ProofScheme,
};
use storage_proofs_porep::stacked::{
    Challenges, Proof, PublicInputs, SetupParams, StackedCircuit, StackedCompound, StackedDrg, Tau,
};
use typenum::{U0, U8};

/// The Poseidon trees of a 2 KiB sector.
pub type Tree = LCTree<PoseidonHasher, U8, U0, U0>;
/// The reference's PoRep circuit.
pub type Porep = StackedCircuit<Tree, Sha256Hasher>;

type Domain = <PoseidonHasher as filecoin_hashers::Hasher>::Domain;
type DataDomain = <Sha256Hasher as filecoin_hashers::Hasher>::Domain;
type Challenge = Proof<Tree, Sha256Hasher>;

/// The number of `StackedDrg2KiBV1_1` among the registered proofs; it enters the graph's seed.
const REGISTERED_PROOF: u64 = 5;

#[derive(Deserialize)]
struct Phase1 {
    vanilla_proofs: Partitions,
    comm_r: [u8; 32],
    comm_d: [u8; 32],
    replica_id: [u8; 32],
    seed: [u8; 32],
}

#[derive(Deserialize)]
enum Partitions {
    #[serde(rename = "StackedDrg2KiBV1")]
    KiB2(Vec<Vec<Challenge>>),
}

/// The PoRep circuit of the first partition and its public inputs, from a phase-1 output in JSON (what a `c1.json` wraps).
pub fn porep_2kib(phase1: &[u8]) -> Result<(Porep, Vec<Scalar>), Box<dyn Error>> {
    let phase1: Phase1 = serde_json::from_slice(phase1)?;
    let Partitions::KiB2(partitions) = phase1.vanilla_proofs;
    let vanilla = partitions.first().ok_or("no partition")?;

    let mut porep_id = [0; 32];
    porep_id[..8].copy_from_slice(&REGISTERED_PROOF.to_le_bytes());
    let public_params = StackedDrg::<Tree, Sha256Hasher>::setup(&SetupParams {
        nodes: 64,
        degree: 6,
        expansion_degree: 8,
        porep_id,
        challenges: Challenges::new_interactive(2),
        num_layers: 2,
        api_version: ApiVersion::V1_1_0,
        api_features: Vec::new(),
    })?;
    let public_inputs = PublicInputs::<Domain, DataDomain> {
        replica_id: phase1.replica_id.into(),
        seed: Some(phase1.seed),
        tau: Some(Tau { comm_d: phase1.comm_d.into(), comm_r: phase1.comm_r.into() }),
        k: Some(0),
    };
    let inputs = StackedCompound::<Tree, Sha256Hasher>::generate_public_inputs(
        &public_inputs,
        &public_params,
        Some(0),
    )?;
    let circuit = StackedCompound::<Tree, Sha256Hasher>::circuit(
        &public_inputs,
        (),
        vanilla,
        &public_params,
        Some(0),
    )?;
    Ok((circuit, inputs))
}
