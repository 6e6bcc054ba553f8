//! The test data, and what it must give.
#![allow(dead_code, reason = "each test uses a part")]

use std::path::PathBuf;

use blstrs::Scalar;
use circuits::input::InputFile;
use circuits::shape::CircuitName;
use circuits::vanilla::domain;
use serde::Deserialize;
use serde_json::Value;

/// A file of `tests/data`, or of `data` where it is a sample.
pub fn file(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let paths = [root.join("tests/data").join(name), root.join("data").join(name)];
    paths.iter().find_map(|path| std::fs::read(path).ok()).unwrap_or_else(|| panic!("no test file {name}"))
}

/// The files of a circuit's real proof: `porep-2KiB`, `window-v1-32KiB`.
pub fn proof_files(name: &str) -> Vec<(String, Vec<u8>)> {
    let names = match name.rsplit_once('-').unwrap() {
        ("porep", _) => vec![format!("{name}.json")],
        ("window" | "window-v1", "4KiB" | "32KiB") => (0..3).map(|i| format!("{name}-{i}.bincode")).collect(),
        ("update", "4KiB") => vec![format!("{name}-0.bincode")],
        ("update", "32KiB") => (0..2).map(|i| format!("{name}-{i}.bincode")).collect(),
        _ => vec![format!("{name}.bincode")],
    };
    names.into_iter().map(|name| (name.clone(), file(&name))).collect()
}

pub fn inputs(files: &[(String, Vec<u8>)]) -> Vec<InputFile<'_>> {
    files.iter().map(|(name, bytes)| InputFile { name, bytes }).collect()
}

pub fn circuit(name: &str) -> CircuitName {
    name.replace("-v1", "").parse().unwrap()
}

/// An entry of `expected.json`.
#[derive(Deserialize)]
pub struct Expected {
    pub aux: usize,
    pub constraints: usize,
    pub partitions: Vec<ExpectedPartition>,
    pub randomness: Option<String>,
    #[serde(default)]
    pub sectors: Vec<ExpectedSector>,
    pub prover_id: Option<String>,
    pub sector_id: Option<u64>,
    pub ticket: Option<String>,
    pub seed: Option<String>,
    pub comm_r: Option<String>,
    pub comm_d: Option<String>,
    pub porep_id: Option<String>,
}

#[derive(Deserialize)]
pub struct ExpectedPartition {
    pub witness_sha256: String,
    public_inputs: Vec<Value>,
}

#[derive(Deserialize)]
pub struct ExpectedSector {
    pub id: u64,
    pub comm_r: String,
}

impl ExpectedPartition {
    pub fn public_inputs(&self) -> Vec<Scalar> {
        let scalar = |value: &Value| match value {
            Value::String(hex) => scalar(hex),
            number => Scalar::from(number.as_u64().unwrap()),
        };
        self.public_inputs.iter().map(scalar).collect()
    }
}

/// All of `expected.json`, by name.
pub fn expected() -> std::collections::BTreeMap<String, Expected> {
    serde_json::from_slice(&file("expected.json")).unwrap()
}

pub fn bytes(hex: &str) -> [u8; 32] {
    hex::decode(hex).unwrap().try_into().unwrap()
}

pub fn scalar(hex: &str) -> Scalar {
    domain::from_bytes(&bytes(hex)).unwrap()
}
