//! `bench synthesis`: what is said to help the classic path, each alone.
//!
//! Where the machine counts no instructions, callgrind does:
//! `valgrind --tool=callgrind xtask bench synthesis --runs 1`, then `callgrind_annotate --inclusive=yes` and the functions of
//! this module and those below it; each variant is a function of its own.

mod combinations;
mod lookahead;

use assignment::{ProvingAssignment, StructuredCircuit, reaper};
use bellpepper_core::SynthesisError;
use blstrs::Scalar;
use circuits::{FilecoinCircuit, shape::CircuitName, synthetic::synthetic};
use serde::Serialize;

use super::{
    alternate::{Comparison, Medians, Run},
    stopwatch::{Cost, Stopwatch},
};
use crate::{
    cmd::{Answer, Outcome},
    console::Console,
    failure::{Failure, Kind},
    source,
};

/// Large enough for its vectors to leave the caches, small enough for a dozen runs of each variant.
const CIRCUIT: &str = "porep-2KiB";
/// Of each variant, without `--runs`.
const RUNS: u32 = 12;

#[derive(Serialize)]
struct Report {
    bench: &'static str,
    device: &'static str,
    circuit: &'static str,
    /// Of each variant.
    runs: usize,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    what: String,
    /// Elapsed.
    ms: f64,
    /// Of the measured thread.
    cpu_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<f64>,
    /// CPU time over that of the comparison's first variant.
    ratio: f64,
}

/// Runs all comparisons and prints the table.
pub fn run(runs: Option<u32>, console: Console) -> Outcome {
    let runs = runs.unwrap_or(RUNS) as usize;
    let name: CircuitName = CIRCUIT.parse().map_err(|error| Failure::new(Kind::Internal, error))?;
    let circuit = FilecoinCircuit::all(name, synthetic(name, 1, 1))
        .map_err(|error| source::circuit_failure(&error))?
        .into_iter()
        .next()
        .ok_or_else(|| Failure::new(Kind::Internal, "a synthetic sector without partitions"))?;
    let mut stopwatch = Stopwatch::new();
    let counts = match stopwatch.counts_instructions() {
        true => "instructions counted",
        false => "the machine counts no instructions",
    };
    console.say(format_args!("medians of {runs} alternating runs of each variant, on one thread; {counts}"));

    let mut comparisons = combinations::comparisons().map_err(synthesis_failure)?;
    comparisons.extend([hints(&circuit)?, lookahead::comparison(&circuit)?, drops(&circuit)]);
    let mut rows = Vec::new();
    for mut comparison in comparisons {
        let medians = comparison.run(runs, &mut stopwatch)?;
        console.say(format_args!("{}", comparison.what));
        let base = medians.first().map_or(f64::NAN, |first| first.cpu_ms);
        for variant in medians {
            let row = row(comparison.what, &variant, base);
            print(console, variant.name, &row);
            rows.push(row);
        }
    }
    console.result(&Report { bench: "synthesis", device: "cpu", circuit: CIRCUIT, runs, rows });
    Ok(Answer::Yes)
}

fn row(what: &str, variant: &Medians, base_ms: f64) -> Row {
    Row {
        what: format!("{what}: {}", variant.name),
        ms: variant.wall_ms,
        cpu_ms: variant.cpu_ms,
        instructions: variant.instructions,
        ratio: variant.cpu_ms / base_ms,
    }
}

fn print(console: Console, name: &str, row: &Row) {
    let instructions =
        row.instructions.map_or_else(String::new, |count| format!(", {:.1} M instructions", count / 1e6));
    console.say(format_args!(
        "  {name:<32} {:>8.1} ms CPU, {:>8.1} ms elapsed, ratio {:.3}{instructions}",
        row.cpu_ms, row.ms, row.ratio
    ));
}

/// A circuit of ours that does not synthesise is a fault of ours.
fn synthesis_failure(error: SynthesisError) -> Failure {
    Failure::new(Kind::Internal, error)
}

/// Whole syntheses, into vectors that grow and into vectors of the right size.
fn hints(circuit: &FilecoinCircuit) -> Result<Comparison<'_>, Failure> {
    let hint = Some(ProvingAssignment::of(circuit).map_err(synthesis_failure)?.capacity_hint());
    let into = |make: fn(Option<assignment::CapacityHint>) -> ProvingAssignment<Scalar>| -> Run<'_> {
        Box::new(move |stopwatch| {
            let (made, cost) = stopwatch.time(|| {
                let mut assignment = make(hint);
                circuit.synthesize_all(&mut assignment).map(|()| assignment)
            });
            drop(made.map_err(synthesis_failure)?);
            Ok(cost)
        })
    };
    Ok(Comparison {
        what: "capacity hints, porep-2KiB",
        variants: vec![
            ("vectors grow", into(|_| ProvingAssignment::with_hint(None))),
            ("vectors of the right size", into(ProvingAssignment::with_hint)),
        ],
    })
}

/// Giving an assignment's memory back, on the thread that leads to the proof.
fn drops(circuit: &FilecoinCircuit) -> Comparison<'_> {
    let by = |release: fn(ProvingAssignment<Scalar>)| -> Run<'_> {
        Box::new(move |stopwatch: &mut Stopwatch| -> Result<Cost, Failure> {
            let assignment = ProvingAssignment::of(circuit).map_err(synthesis_failure)?;
            let ((), cost) = stopwatch.time(|| release(assignment));
            reaper::flush();
            Ok(cost)
        })
    };
    Comparison {
        what: "dropping an assignment, porep-2KiB",
        variants: vec![("in place", by(drop_in_place)), ("deferred to the reaper", by(reaper::defer))],
    }
}

#[inline(never)]
fn drop_in_place(assignment: ProvingAssignment<Scalar>) {
    drop(assignment);
}
