//! `synth-only`: synthesis without a proof, iteration by iteration.

use std::time::Instant;

use assignment::{NativeWitnessError, ProvingAssignment, StructuredCircuit, hints, native_witness, reaper};
use blstrs::Scalar;
use ff::Field;
use serde::Serialize;

use super::{Answer, Outcome, median, millis};
use crate::{
    cli::{Source, SynthOnly, SynthesisPath},
    console::Console,
    failure::{Failure, Kind},
    memory::Meter,
    progress::Progress,
    size::Size,
    source::{self, Partition},
};

#[derive(Serialize)]
struct Report {
    circuit: String,
    path: &'static str,
    partition: usize,
    iterations: Vec<Iteration>,
    /// The median after the first iteration, or the first where it is the only one.
    witness_ms: f64,
    aux: usize,
    bits_share: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    host_peak_bytes: Option<u64>,
}

#[derive(Serialize)]
struct Iteration {
    ms: f64,
    hint: bool,
}

/// What a synthesis made: aux values, and how many of them are bits.
struct Made {
    aux: usize,
    bits: usize,
}

/// Synthesises one partition several times.
pub fn run(flags: &SynthOnly, console: Console) -> Outcome {
    let meter = Meter::start();
    let one = Source { partition: Some(flags.source.partition.unwrap_or(0)), ..flags.source.clone() };
    let partition =
        source::load(&one)?.pop().ok_or_else(|| Failure::new(Kind::Internal, "no partition was read"))?;
    let path = match flags.path {
        SynthesisPath::Classic => "classic",
        SynthesisPath::Packed => "packed",
    };
    let progress = Progress::start("synthesis", Some(flags.iterations.into()));
    let (mut iterations, mut last) = (Vec::new(), Made { aux: 0, bits: 0 });
    for i in 0..flags.iterations {
        let (iteration, made) = match flags.path {
            SynthesisPath::Classic => classic(&partition)?,
            SynthesisPath::Packed => packed(&partition)?,
        };
        let hint = if iteration.hint { "with a hint" } else { "without a hint" };
        console.say(format_args!("iteration {i}: {:>10.1} ms, {hint}", iteration.ms));
        iterations.push(iteration);
        last = made;
        progress.advance(1);
    }
    drop(progress);
    reaper::flush();

    let after_first = &iterations[usize::from(iterations.len() > 1)..];
    let peaks = meter.peaks();
    let report = Report {
        circuit: flags.source.circuit.to_string(),
        path,
        partition: partition.k,
        witness_ms: median(after_first.iter().map(|iteration| iteration.ms)),
        aux: last.aux,
        bits_share: last.bits as f64 / last.aux.max(1) as f64,
        host_peak_bytes: peaks.anonymous,
        iterations,
    };
    console.field("circuit", format_args!("{}, partition {}, {path} path", report.circuit, report.partition));
    console.field("median", format_args!("{:.1} ms", report.witness_ms));
    console.field("aux", format_args!("{}, {:.1} % bits", report.aux, 100.0 * report.bits_share));
    if let Some(bytes) = report.host_peak_bytes {
        console.field("peak memory", Size(bytes));
    }
    console.result(&report);
    Ok(Answer::Yes)
}

/// The whole assignment, with a, b and c, as a prover without compiled circuits has it.
fn classic(partition: &Partition) -> Result<(Iteration, Made), Failure> {
    let id = partition.circuit.id();
    let hint = hints::capacity(&id);
    let started = Instant::now();
    let mut assignment = ProvingAssignment::<Scalar>::with_hint(hint);
    partition
        .circuit
        .synthesize_all(&mut assignment)
        .map_err(|error| Failure::new(Kind::Internal, error).at(format_args!("partition {}", partition.k)))?;
    let size = assignment.capacity_hint();
    assignment.append_input_rows();
    let ms = millis(started);
    hints::record_capacity(&id, size);
    let is_bit = |value: &&Scalar| **value == Scalar::ZERO || **value == Scalar::ONE;
    let made = Made { aux: assignment.aux().len(), bits: assignment.aux().iter().filter(is_bit).count() };
    reaper::defer(assignment);
    Ok((Iteration { ms, hint: hint.is_some() }, made))
}

/// The packed witness by the circuit's own generators.
fn packed(partition: &Partition) -> Result<(Iteration, Made), Failure> {
    let hint = hints::shape(&partition.circuit.id()).is_some();
    let started = Instant::now();
    let witness = native_witness(&partition.circuit).map_err(|error| native_failure(partition.k, &error))?;
    let ms = millis(started);
    let made = Made { aux: witness.num_aux(), bits: witness.num_aux() - witness.dense_values().len() };
    reaper::defer(witness);
    Ok((Iteration { ms, hint }, made))
}

fn native_failure(k: usize, error: &NativeWitnessError<circuits::error::WitnessError>) -> Failure {
    match error {
        NativeWitnessError::Circuit(error) => source::witness_failure(k, error),
        NativeWitnessError::UnitShape { .. } => Failure::new(Kind::Internal, error),
    }
}
