//! `bench prove`: whole proofs, from inputs in memory to verified proofs, of chained SHA-256 and of production circuits.

mod chain;
mod floor;
mod report;

use std::{sync::Arc, time::Instant};

use assignment::{NativeWitness, native_witness, reaper};
use blstrs::Scalar;
use circuits::{FilecoinCircuit, shape::CircuitName, synthetic::synthetic};
use groth16::{Backend, Fleet, ProveManyError, Prover, Shape, ToxicWaste, until_error};
use r1cs::CompiledCircuit;
use rand_core::{OsRng, RngCore};

use chain::Chain;
use floor::Floor;
use report::{Measured, Report, Stages};

use super::failure::failure;
use crate::{
    backend::{self, Choice, open_failure},
    cache,
    cli::{Bench, Hardware},
    cmd::Outcome,
    console::Console,
    failure::{Failure, Kind},
    memory,
    progress::Progress,
    source::circuit_failure,
};

/// The sizes that the peers were measured at.
const SIZES: [u32; 4] = [18, 20, 22, 24];
/// Runs that count, after one that does not.
const RUNS: u32 = 5;

/// Proves everything asked for and prints the table.
pub fn run(flags: &Bench, console: Console) -> Outcome {
    let backend = flags.backend.unwrap_or_default();
    let choice = backend::choose(&Hardware { backend, ..Hardware::default() })?;
    let sizes = match (&flags.log_n, flags.circuit.is_empty()) {
        (Some(sizes), _) => sizes.0.clone(),
        (None, true) => SIZES.to_vec(),
        (None, false) => vec![],
    };
    let chains = sizes.into_iter().map(blocks).collect::<Result<Vec<_>, Failure>>()?;
    let runs = flags.runs.unwrap_or(RUNS);
    let mut report = Report::start(&choice, runs, console);
    for blocks in chains {
        let circuit = Chain::random(blocks, &mut OsRng);
        let compiled = CompiledCircuit::compile(&circuit).map_err(|e| Failure::new(Kind::Internal, e))?;
        report.add("chain", &measure(compiled, &[circuit], &choice, runs)?, true);
    }
    for &name in &flags.circuit {
        let circuits = sector(name)?;
        report.add(&name.to_string(), &measure(compile(name)?, &circuits, &choice, runs)?, false);
    }
    report.finish()
}

/// The blocks of the longest chain of at most `2^log_n` rows.
fn blocks(log_n: u32) -> Result<usize, Failure> {
    Chain::blocks_within(log_n).ok_or_else(|| {
        let message = format_args!("a chain of SHA-256 has no block in 2^{log_n} rows");
        Failure::new(Kind::Usage, message).at("--log-n")
    })
}

/// All partitions of a fresh synthetic sector.
fn sector(name: CircuitName) -> Result<Vec<FilecoinCircuit>, Failure> {
    let _progress = Progress::start("making a sector", None);
    let partitions = synthetic(name, OsRng.next_u64(), 1);
    FilecoinCircuit::all(name, partitions).map_err(|error| circuit_failure(&error))
}

/// The compiled circuit from the cache, or compiled now where the cache cannot be used.
fn compile(name: CircuitName) -> Result<CompiledCircuit, Failure> {
    let _progress = Progress::start("compiling", None);
    let blank = FilecoinCircuit::blank(name).map_err(|error| circuit_failure(&error))?;
    match cache::load_or_compile(&blank) {
        Ok((circuit, _)) => Ok(circuit),
        Err(error) => Err(Failure::new(Kind::Internal, error)),
    }
}

/// Proves the partitions once to warm up and then `runs` times, with fresh test parameters. All proofs of a run are verified.
fn measure<C>(
    compiled: CompiledCircuit,
    partitions: &[C],
    choice: &Choice,
    runs: u32,
) -> Result<Measured, Failure>
where
    C: NativeWitness<Scalar> + Send,
{
    let compiled = Arc::new(compiled);
    let progress = Progress::start(compiled.id().name(), Some(u64::from(runs) + 1));
    if choice.backend == Backend::Cpu {
        memory::ensure_available(Shape::from(&*compiled).file_size(), "making test parameters")?;
    }
    let waste = ToxicWaste::random(&mut OsRng);
    let prover = Prover::with_test_parameters(compiled.clone(), waste, choice.backend);
    let fleet = Fleet::from(prover.map_err(|error| open_failure(&error))?);
    let mut stages = Vec::with_capacity(runs as usize);
    for run in 0..=runs {
        let once = prove(&fleet, partitions)?;
        if run > 0 {
            stages.push(once);
        }
        // What a proof leaves behind is freed between the runs, as between proofs that do not come back to back.
        reaper::flush();
        progress.advance(1);
    }
    let floor = match (choice.backend, partitions) {
        (Backend::Cuda { .. }, [first, ..]) => {
            let witness = native_witness(first).map_err(|error| Failure::new(Kind::Internal, error))?;
            Some(Floor::of_proofs(&compiled, &witness, partitions.len()))
        }
        _ => None,
    };
    Ok(Measured { circuit: compiled, partitions: partitions.len(), stages, floor })
}

/// From inputs in memory to verified proofs.
fn prove<C: NativeWitness<Scalar>>(fleet: &Fleet, partitions: &[C]) -> Result<Stages, Failure> {
    let started = Instant::now();
    let batch = fleet.prove_all(partitions.iter().map(native_witness), &mut OsRng, until_error);
    let mut stages = Stages { verify: batch.verify.unwrap_or_default(), ..Stages::default() };
    let proved = batch.into_proofs().map_err(|error| match error {
        ProveManyError::Prove { source, .. } => failure(*source),
        ProveManyError::Witness { source, .. } => Failure::new(Kind::Internal, source),
    })?;
    proved.iter().for_each(|proved| stages.add(&proved.times));
    stages.total = started.elapsed();
    Ok(stages)
}
