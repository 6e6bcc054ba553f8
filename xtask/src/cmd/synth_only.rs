//! `synth-only`: synthesis without a proof, iteration by iteration.

use std::time::{Duration, Instant};

use assignment::{ProvingAssignment, StructuredCircuit, hints, reaper};
use blstrs::Scalar;
use ff::Field;
use serde::Serialize;

use super::{Answer, Outcome, median, millis};
use crate::{
    bench::process_time,
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
    #[serde(flatten)]
    times: Times,
    hint: bool,
}

/// How long a synthesis took.
#[derive(Clone, Copy, Serialize)]
struct Times {
    /// Elapsed.
    ms: f64,
    /// Of all threads together.
    cpu_ms: f64,
}

struct Clock {
    started: Instant,
    cpu: Duration,
}

impl Clock {
    fn start() -> Self {
        Self { started: Instant::now(), cpu: process_time() }
    }

    fn times(&self) -> Times {
        let ms = millis(self.started);
        Times { ms, cpu_ms: process_time().saturating_sub(self.cpu).as_secs_f64() * 1e3 }
    }
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
        source::load(&one, 1)?.pop().ok_or_else(|| Failure::new(Kind::Internal, "no partition was read"))?;
    let path = match flags.path {
        SynthesisPath::Classic => "classic",
        SynthesisPath::Packed => "packed",
    };
    // The inputs are in memory now; what comes on top is the synthesis.
    let on_top = Meter::start();
    let inputs = on_top.peaks().anonymous;
    let progress = Progress::start("synthesis", Some(flags.iterations.into()));
    let (mut iterations, mut last) = (Vec::new(), Made { aux: 0, bits: 0 });
    for i in 0..flags.iterations {
        let (iteration, made) = match flags.path {
            SynthesisPath::Classic => classic(&partition)?,
            SynthesisPath::Packed => packed(&partition)?,
        };
        let Times { ms, cpu_ms } = iteration.times;
        let hint = if iteration.hint { "with a hint" } else { "without a hint" };
        console.say(format_args!("iteration {i}: {ms:>10.1} ms, {cpu_ms:>10.1} ms CPU, {hint}"));
        iterations.push(iteration);
        last = made;
        progress.advance(1);
    }
    drop(progress);
    reaper::flush();
    let on_top = on_top.peaks().anonymous.zip(inputs).map(|(peak, inputs)| peak.saturating_sub(inputs));

    let after_first = &iterations[usize::from(iterations.len() > 1)..];
    let cpu_ms = median(after_first.iter().map(|iteration| iteration.times.cpu_ms));
    let peaks = meter.peaks();
    let report = Report {
        circuit: flags.source.circuit.to_string(),
        path,
        partition: partition.k,
        witness_ms: median(after_first.iter().map(|iteration| iteration.times.ms)),
        aux: last.aux,
        bits_share: last.bits as f64 / last.aux.max(1) as f64,
        host_peak_bytes: peaks.anonymous,
        iterations,
    };
    console.field("circuit", format_args!("{}, partition {}, {path} path", report.circuit, report.partition));
    console.field("median", format_args!("{:.1} ms", report.witness_ms));
    console.field("CPU", format_args!("{cpu_ms:.1} ms, all threads"));
    console.field("aux", format_args!("{}, {:.1} % bits", report.aux, 100.0 * report.bits_share));
    if let Some(bytes) = report.host_peak_bytes {
        console.field("peak memory", Size(bytes));
    }
    if let Some(bytes) = on_top {
        console.field("on top", format_args!("{} beyond the inputs", Size(bytes)));
    }
    console.result(&report);
    Ok(Answer::Yes)
}

/// The whole assignment, with a, b and c, as a prover without compiled circuits has it.
fn classic(partition: &Partition) -> Result<(Iteration, Made), Failure> {
    let hint = hints::capacity(&partition.circuit.id()).is_some();
    let clock = Clock::start();
    let mut assignment = ProvingAssignment::<Scalar>::of(&partition.circuit)
        .map_err(|error| Failure::new(Kind::Internal, error).at(&partition.place))?;
    assignment.append_input_rows();
    let times = clock.times();
    let is_bit = |value: &&Scalar| **value == Scalar::ZERO || **value == Scalar::ONE;
    let made = Made { aux: assignment.aux().len(), bits: assignment.aux().iter().filter(is_bit).count() };
    reaper::defer(assignment);
    Ok((Iteration { times, hint }, made))
}

/// The packed witness by the circuit's own generators.
fn packed(partition: &Partition) -> Result<(Iteration, Made), Failure> {
    let hint = hints::shape(&partition.circuit.id()).is_some();
    let clock = Clock::start();
    let witness = partition.witness()?;
    let times = clock.times();
    let made = Made { aux: witness.num_aux(), bits: witness.num_aux() - witness.dense_values().len() };
    reaper::defer(witness);
    Ok((Iteration { times, hint }, made))
}
