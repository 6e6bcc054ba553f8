//! storage-proofs' own circuits and verifiers on the real 2 KiB fixtures.

use std::error::Error;

use bellperson::groth16::{self, Parameters};
use blstrs::Bls12;
use filecoin_hashers::{Hasher, poseidon::PoseidonHasher, sha256::Sha256Hasher};
use serde::Deserialize;
use storage_proofs_core::{
    api_version::ApiVersion,
    compound_proof::{self, CompoundProof},
    merkle::LCTree,
    multi_proof::MultiProof,
};
use storage_proofs_porep::stacked::{self, Challenges, StackedCircuit, StackedCompound, StackedDrg, Tau};
use storage_proofs_post::fallback::{
    self, FallbackPoSt, FallbackPoStCircuit, FallbackPoStCompound, PublicSector, SectorProof,
};
use typenum::{U0, U8};

/// The Poseidon trees of a 2 KiB sector.
pub type Tree = LCTree<PoseidonHasher, U8, U0, U0>;

type Domain = <PoseidonHasher as Hasher>::Domain;
type DataDomain = <Sha256Hasher as Hasher>::Domain;
type PorepScheme<'a> = StackedDrg<'a, Tree, Sha256Hasher>;
type PorepCompound = StackedCompound<Tree, Sha256Hasher>;
type PostScheme<'a> = FallbackPoSt<'a, Tree>;
type PostCompound = FallbackPoStCompound<Tree>;
type PostProof = SectorProof<<Tree as storage_proofs_core::merkle::MerkleTreeTrait>::Proof>;

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
    KiB2(Vec<Vec<stacked::Proof<Tree, Sha256Hasher>>>),
}

/// A PoRep of a 2 KiB sector as storage-proofs sees it.
pub struct Porep {
    setup: compound_proof::PublicParams<'static, PorepScheme<'static>>,
    inputs: stacked::PublicInputs<Domain, DataDomain>,
    vanilla: Vec<stacked::Proof<Tree, Sha256Hasher>>,
}

impl Porep {
    /// From a phase-1 output in JSON, which is what a `c1.json` wraps.
    pub fn new(phase1: &[u8]) -> Result<Self, Box<dyn Error>> {
        let phase1: Phase1 = serde_json::from_slice(phase1)?;
        let Partitions::KiB2(partitions) = phase1.vanilla_proofs;
        let mut porep_id = [0; 32];
        porep_id[..8].copy_from_slice(&REGISTERED_PROOF.to_le_bytes());
        let vanilla_params = stacked::SetupParams {
            nodes: 64,
            degree: 6,
            expansion_degree: 8,
            porep_id,
            challenges: Challenges::new_interactive(2),
            num_layers: 2,
            api_version: ApiVersion::V1_1_0,
            api_features: Vec::new(),
        };
        let setup = compound_proof::SetupParams { vanilla_params, partitions: Some(1), priority: false };
        Ok(Self {
            setup: PorepCompound::setup(&setup)?,
            inputs: stacked::PublicInputs {
                replica_id: phase1.replica_id.into(),
                seed: Some(phase1.seed),
                tau: Some(Tau { comm_d: phase1.comm_d.into(), comm_r: phase1.comm_r.into() }),
                k: None,
            },
            vanilla: partitions.into_iter().next().ok_or("no partition")?,
        })
    }

    /// The circuit of the only partition.
    pub fn circuit(&self) -> Result<StackedCircuit<Tree, Sha256Hasher>, Box<dyn Error>> {
        Ok(PorepCompound::circuit(&self.inputs, (), &self.vanilla, &self.setup.vanilla_params, Some(0))?)
    }

    /// storage-proofs' verdict on a proof; it derives the public inputs itself.
    pub fn verify(&self, parameters: &Parameters<Bls12>, proof: &[u8]) -> Result<bool, Box<dyn Error>> {
        let key = groth16::prepare_verifying_key(&parameters.vk);
        let proof = MultiProof::new_from_bytes(Some(1), proof, &key)?;
        let requirements = stacked::ChallengeRequirements { minimum_challenges: 2 };
        Ok(PorepCompound::verify(&self.setup, &self.inputs, &proof, &requirements)?)
    }
}

#[derive(Deserialize)]
struct PostFile {
    sector_id: u64,
    comm_r: [u8; 32],
    vanilla_proof: fallback::Proof<<Tree as storage_proofs_core::merkle::MerkleTreeTrait>::Proof>,
}

/// A WinningPoSt or WindowPoSt of one 2 KiB sector as storage-proofs sees it.
pub struct Post {
    setup: compound_proof::PublicParams<'static, PostScheme<'static>>,
    inputs: fallback::PublicInputs<Domain>,
    vanilla: fallback::Proof<<Tree as storage_proofs_core::merkle::MerkleTreeTrait>::Proof>,
}

impl Post {
    /// A WinningPoSt: the sector 66 times, each time with one of its 66 openings.
    pub fn winning(file: &[u8], randomness: [u8; 32], prover: [u8; 32]) -> Result<Self, Box<dyn Error>> {
        let file: PostFile = bincode::deserialize(file)?;
        let sector = file.vanilla_proof.sectors.first().ok_or("no sector")?;
        let sectors: Vec<PostProof> = sector
            .inclusion_proofs
            .iter()
            .map(|opening| SectorProof {
                inclusion_proofs: vec![opening.clone()],
                comm_c: sector.comm_c,
                comm_r_last: sector.comm_r_last,
            })
            .collect();
        Self::new(&file, sectors, 1, ApiVersion::V1_0_0, randomness, prover)
    }

    /// A WindowPoSt of two sectors: the same one twice, as a short partition is filled.
    pub fn window(file: &[u8], randomness: [u8; 32], prover: [u8; 32]) -> Result<Self, Box<dyn Error>> {
        let file: PostFile = bincode::deserialize(file)?;
        let sector = file.vanilla_proof.sectors.first().ok_or("no sector")?;
        Self::new(&file, vec![sector.clone(); 2], 10, ApiVersion::V1_2_0, randomness, prover)
    }

    fn new(
        file: &PostFile,
        sectors: Vec<PostProof>,
        challenge_count: usize,
        api_version: ApiVersion,
        randomness: [u8; 32],
        prover: [u8; 32],
    ) -> Result<Self, Box<dyn Error>> {
        let vanilla_params = fallback::SetupParams {
            sector_size: 2048,
            challenge_count,
            sector_count: sectors.len(),
            api_version,
        };
        let setup = compound_proof::SetupParams { vanilla_params, partitions: Some(1), priority: false };
        let sector = PublicSector { id: file.sector_id.into(), comm_r: file.comm_r.into() };
        Ok(Self {
            setup: PostCompound::setup(&setup)?,
            inputs: fallback::PublicInputs {
                randomness: randomness.into(),
                prover_id: prover.into(),
                sectors: vec![sector; sectors.len()],
                k: None,
            },
            vanilla: fallback::Proof { sectors },
        })
    }

    /// The circuit of the only partition.
    pub fn circuit(&self) -> Result<FallbackPoStCircuit<Tree>, Box<dyn Error>> {
        Ok(PostCompound::circuit(
            &self.inputs,
            Default::default(),
            &self.vanilla,
            &self.setup.vanilla_params,
            Some(0),
        )?)
    }

    /// storage-proofs' verdict on a proof; it derives the public inputs itself.
    pub fn verify(&self, parameters: &Parameters<Bls12>, proof: &[u8]) -> Result<bool, Box<dyn Error>> {
        let key = groth16::prepare_verifying_key(&parameters.vk);
        let proof = MultiProof::new_from_bytes(Some(1), proof, &key)?;
        let minimum = self.setup.vanilla_params.challenge_count * self.setup.vanilla_params.sector_count;
        let requirements = fallback::ChallengeRequirements { minimum_challenge_count: minimum };
        Ok(PostCompound::verify(&self.setup, &self.inputs, &proof, &requirements)?)
    }
}
