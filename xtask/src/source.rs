//! What is to be proved: the circuits of a proof's partitions with their values.

use std::path::PathBuf;

use assignment::{NativeWitnessError, PackedWitness, native_witness};
use blstrs::Scalar;
use circuits::{
    FilecoinCircuit,
    error::{CircuitError, WitnessError},
    input::{self, InputError, InputFile, Partitions},
    sample::sample,
    shape::{CircuitName, Proof},
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
    /// Its number, counted through all sectors.
    pub k: usize,
    /// Which it is, for people: its number within the proof, and of several sectors the sector's.
    pub place: String,
    /// The circuit with its values.
    pub circuit: FilecoinCircuit,
    /// The public inputs that the vanilla proof gives, without ONE.
    pub public_inputs: Vec<Scalar>,
}

impl Partition {
    /// The packed witness by the circuit's own generators, whose public inputs are those of the vanilla proof.
    pub fn witness(&self) -> Result<PackedWitness<Scalar>, Failure> {
        let _span = tracing::info_span!("witness", partition = self.k).entered();
        let witness = native_witness(&self.circuit).map_err(|error| match &error {
            NativeWitnessError::Circuit(error) => witness_failure(&self.place, error),
            NativeWitnessError::UnitShape { .. } => Failure::new(Kind::Internal, &error),
        })?;
        // Both are derived from the vanilla proof, by different code.
        if witness.inputs().get(1..) != Some(&self.public_inputs[..]) {
            let message = "the witness has other public inputs than the vanilla proof states";
            return Err(Failure::new(Kind::Internal, message).at(&self.place));
        }
        Ok(witness)
    }
}

/// Reads the partitions that the flags ask for, all or one: of one sector after another where there are several.
pub fn load(source: &Source, sectors: u32) -> Result<Vec<Partition>, Failure> {
    let name = source.circuit;
    let partitions = match source.synthetic {
        Some(seed) => synthetic(name, seed, sectors as usize),
        None if sectors != 1 => {
            let message = "several sectors are made from a seed: they come with --synthetic";
            return Err(Failure::new(Kind::Usage, message).at("--sectors"));
        }
        None if source.input.is_empty() => embedded(name)?,
        None => from_files(name, &source.input)?,
    };
    let count = partitions.len();
    let public = partitions.public_inputs(name);
    let circuits = FilecoinCircuit::all(name, partitions).map_err(|error| circuit_failure(&error))?;
    // A WindowPoSt proves its sectors together.
    let sectors = if name.proof == Proof::Window { 1 } else { sectors as usize };
    let place = |k: usize| match count / sectors {
        _ if sectors == 1 => format!("partition {k}"),
        each => format!("sector {}, partition {}", k / each.max(1), k % each.max(1)),
    };
    let all = circuits.into_iter().zip(public).enumerate();
    let mut all = all.map(|(k, (circuit, public_inputs))| {
        let place = place(k);
        Partition { k, place, circuit, public_inputs }
    });
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

/// A native witness that cannot be made.
fn witness_failure(partition: &str, error: &WitnessError) -> Failure {
    match error {
        WitnessError::Relation(error) => {
            let message = format!("{}: expected {}, got {}", error.relation, error.expected, error.got);
            Failure::new(Kind::Unsatisfied, message)
                .at(format_args!("{partition}, {}, {}", error.place, error.part))
        }
        error => Failure::new(Kind::Internal, error).at(partition),
    }
}
