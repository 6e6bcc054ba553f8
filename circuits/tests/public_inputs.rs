//! Public inputs against those of the reference implementation: from vanilla proofs, and from what a verifier knows.

mod common;

use circuits::identity::{ApiVersion, replica_id};
use circuits::input::{Partitions, read, read_window};
use circuits::params_name::file_stem;
use circuits::public::*;
use circuits::shape::{CircuitName, PorepMode, PostShape, Proof, SectorSize};
use circuits::vanilla::domain;
use common::*;
use serde::Deserialize;
use sha2::{Digest, Sha256};

#[test]
fn every_real_proof_gives_its_public_inputs() {
    for (name, expected) in expected() {
        let files = proof_files(&name);
        let circuit = circuit(&name);
        let got = if name == "window-32GiB" {
            // The real proof is of one sector; so is the expectation.
            let shape = PostShape { sectors: 1, ..circuit.size.window() };
            read_window(&shape, &inputs(&files)).map(Partitions::Post)
        } else {
            read(circuit, &inputs(&files))
        };
        let got = got.unwrap_or_else(|error| panic!("{name}: {error}")).public_inputs(circuit);
        let expected: Vec<_> = expected.partitions.iter().map(ExpectedPartition::public_inputs).collect();
        assert_eq!(got, expected, "{name}");
    }
}

#[test]
fn a_verifier_derives_the_same_post_inputs() {
    let mut checked = 0;
    for (name, expected) in expected() {
        let Some(randomness) = &expected.randomness else { continue };
        let (randomness, circuit) = (bytes(randomness), circuit(&name));
        let sectors: Vec<_> = expected
            .sectors
            .iter()
            .map(|sector| PostSectorId { id: sector.id, comm_r: scalar(&sector.comm_r) })
            .collect();
        let api = if name.starts_with("window-v1") { ApiVersion::V1_0_0 } else { ApiVersion::V1_2_0 };
        let shape = match name.as_str() {
            "window-32GiB" => PostShape { sectors: 1, ..circuit.size.window() },
            _ => circuit.size.window(),
        };
        for (k, partition) in expected.partitions.iter().enumerate() {
            let got = match circuit.proof {
                Proof::Winning => winning_inputs(circuit.size, &randomness, &sectors[0]),
                _ => window_inputs(&shape, api, &randomness, &sectors, k),
            };
            assert_eq!(got, partition.public_inputs(), "{name}, partition {k}");
            checked += 1;
        }
        assert!(window_inputs(&shape, api, &randomness, &sectors, expected.partitions.len()).is_empty());
    }
    // One partition of each WinningPoSt and of window-2KiB and window-32GiB, two of the other four.
    assert_eq!(checked, 3 + 2 + 4 * 2);
}

#[test]
fn a_verifier_derives_the_same_porep_inputs() {
    for (name, expected) in expected() {
        let Some(porep_id) = &expected.porep_id else { continue };
        let comm_d = bytes(expected.comm_d.as_ref().unwrap());
        let [prover_id, ticket] =
            [&expected.prover_id, &expected.ticket].map(|hex| bytes(hex.as_ref().unwrap()));
        let porep_id = bytes(porep_id);
        let instance = PorepInstance {
            size: circuit(&name).size,
            api: ApiVersion::V1_1_0,
            mode: PorepMode::Interactive,
            porep_id,
            replica_id: replica_id(&prover_id, expected.sector_id.unwrap(), &ticket, &comm_d, &porep_id),
            comm_d: scalar(expected.comm_d.as_ref().unwrap()),
            comm_r: scalar(expected.comm_r.as_ref().unwrap()),
            seed: bytes(expected.seed.as_ref().unwrap()),
        };
        for (k, partition) in expected.partitions.iter().enumerate() {
            assert_eq!(instance.public_inputs(k), partition.public_inputs(), "{name}");
        }
    }
}

#[derive(Deserialize)]
struct Record {
    sector_size: u64,
    api_version: String,
    feature: Option<String>,
    porep_id: String,
    prover_id: String,
    sector_id: u64,
    ticket: String,
    seed: String,
    comm_r: String,
    comm_d: String,
    replica_id: String,
    partition0_challenges: Vec<u64>,
    per_partition_inputs_sha256: Vec<String>,
    vk: String,
}

#[test]
fn published_proofs_of_every_version_and_mode() {
    let records: Vec<Record> = serde_json::from_slice(&file("regression.json")).unwrap();
    assert_eq!(records.len(), 18);
    for record in records {
        let mode = match record.feature.as_deref() {
            None => PorepMode::Interactive,
            Some("SyntheticPoRep") => PorepMode::Synthetic,
            Some("NonInteractivePoRep") => PorepMode::NonInteractive,
            Some(other) => panic!("unknown feature {other}"),
        };
        let api = match record.api_version.as_str() {
            "1.0.0" => ApiVersion::V1_0_0,
            "1.1.0" => ApiVersion::V1_1_0,
            "1.2.0" => ApiVersion::V1_2_0,
            other => panic!("unknown version {other}"),
        };
        let size = SectorSize::from_bytes(record.sector_size).unwrap();
        let what = format!("{size} {} {mode:?}", record.api_version);
        let [prover_id, ticket, comm_d, porep_id] =
            [&record.prover_id, &record.ticket, &record.comm_d, &record.porep_id].map(|hex| bytes(hex));
        let replica_id = replica_id(&prover_id, record.sector_id, &ticket, &comm_d, &porep_id);
        assert_eq!(replica_id, scalar(&record.replica_id), "{what}");
        let instance = PorepInstance {
            size,
            api,
            mode,
            porep_id,
            replica_id,
            comm_d: scalar(&record.comm_d),
            comm_r: scalar(&record.comm_r),
            seed: bytes(&record.seed),
        };
        assert_eq!(instance.challenges(0), record.partition0_challenges, "{what}");
        assert_eq!(record.per_partition_inputs_sha256.len(), size.porep_partitions(mode), "{what}");
        for (k, digest) in record.per_partition_inputs_sha256.iter().enumerate() {
            let inputs = instance.public_inputs(k);
            assert_eq!(inputs.len(), size.porep().public_inputs());
            let bytes: Vec<u8> = inputs.iter().flat_map(domain::to_bytes).collect();
            assert_eq!(&hex::encode(Sha256::digest(bytes)), digest, "{what}, partition {k}");
        }
        let stem = file_stem(CircuitName { proof: Proof::Porep(mode), size });
        assert_eq!(format!("{stem}.vk"), record.vk, "{what}");
    }
}
