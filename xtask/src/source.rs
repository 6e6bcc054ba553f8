//! What is to be proved: the circuits of a proof's partitions with their values.

use std::path::PathBuf;

use assignment::{NativeWitnessError, PackedWitness, native_witness};
use blstrs::Scalar;
use circuits::{
    FilecoinCircuit,
    error::{CircuitError, WitnessError},
    input::{self, InputError, InputFile, Partitions},
    sample::sample,
    shape::CircuitName,
    synthetic::synthetic,
};

use crate::{
    cli::Source,
    failure::{Failure, Kind},
    files,
};

/// Longer input files are refused. The largest real one, a 64 GiB NI-PoRep as JSON in base64, is under 2 GB.
const LIMIT: u64 = 4 << 30;

/// One partition.
pub struct Partition {
    /// Its number within the proof.
    pub k: usize,
    /// The circuit with its values.
    pub circuit: FilecoinCircuit,
    /// The public inputs that the vanilla proof gives, without ONE.
    pub public_inputs: Vec<Scalar>,
}

impl Partition {
    /// The packed witness by the circuit's own generators, whose public inputs are those of the vanilla proof.
    pub fn witness(&self) -> Result<PackedWitness<Scalar>, Failure> {
        let witness = native_witness(&self.circuit).map_err(|error| match &error {
            NativeWitnessError::Circuit(error) => witness_failure(self.k, error),
            NativeWitnessError::UnitShape { .. } => Failure::new(Kind::Internal, &error),
        })?;
        // Both are derived from the vanilla proof, by different code.
        if witness.inputs().get(1..) != Some(&self.public_inputs[..]) {
            let message = "the witness has other public inputs than the vanilla proof states";
            return Err(Failure::new(Kind::Internal, message).at(format_args!("partition {}", self.k)));
        }
        Ok(witness)
    }
}

/// Reads the partitions that the flags ask for, all or one.
pub fn load(source: &Source) -> Result<Vec<Partition>, Failure> {
    let name = source.circuit;
    let partitions = match source.synthetic {
        Some(seed) => synthetic(name, seed, 1),
        None if source.input.is_empty() => embedded(name)?,
        None => from_files(name, &source.input)?,
    };
    let count = partitions.len();
    let public = partitions.public_inputs(name);
    let circuits = FilecoinCircuit::all(name, partitions).map_err(|error| circuit_failure(&error))?;
    let all = circuits.into_iter().zip(public).enumerate();
    let mut all = all.map(|(k, (circuit, public_inputs))| Partition { k, circuit, public_inputs });
    match source.partition {
        None => Ok(all.collect()),
        Some(k) => match all.nth(k) {
            Some(partition) => Ok(vec![partition]),
            None => {
                let message =
                    format_args!("there is no partition {k}: the proof has {count}, counted from 0");
                Err(Failure::new(Kind::Usage, message).at("--partition"))
            }
        },
    }
}

fn embedded(name: CircuitName) -> Result<Partitions, Failure> {
    let file = sample(name).ok_or_else(|| {
        let message = format_args!(
            "no vanilla proof for {name} is built in: give one with --input, or --synthetic SEED for a synthetic sector"
        );
        Failure::new(Kind::Usage, message).at("--circuit")
    })?;
    input::read(name, &[file]).map_err(|error| input_failure(&error))
}

fn from_files(name: CircuitName, paths: &[PathBuf]) -> Result<Partitions, Failure> {
    let named = paths.iter().map(|path| Ok((path.display().to_string(), files::read(path, LIMIT)?)));
    let named = named.collect::<Result<Vec<_>, Failure>>()?;
    let files: Vec<_> = named.iter().map(|(name, bytes)| InputFile { name, bytes }).collect();
    input::read(name, &files).map_err(|error| input_failure(&error))
}

fn input_failure(error: &InputError) -> Failure {
    let place = error.file.iter().chain(&error.place).cloned().collect::<Vec<_>>().join(": ");
    let failure = Failure::input(&error.problem);
    if place.is_empty() { failure.at("--input") } else { failure.at(place) }
}

/// A circuit that cannot be made of a well-formed input.
pub fn circuit_failure(error: &CircuitError) -> Failure {
    Failure::input(error).at("--input")
}

/// A native witness that cannot be made, of partition `k`.
fn witness_failure(k: usize, error: &WitnessError) -> Failure {
    let place = |inner: &dyn std::fmt::Display| format!("partition {k}, {inner}");
    match error {
        WitnessError::Relation(error) => {
            let message = format!("{}: expected {}, got {}", error.relation, error.expected, error.got);
            Failure::new(Kind::Unsatisfied, message).at(format_args!(
                "{}, {}",
                place(&error.place),
                error.part
            ))
        }
        error => Failure::new(Kind::Internal, error).at(format_args!("partition {k}")),
    }
}
