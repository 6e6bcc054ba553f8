//! `inspect`: counts, densities and digest of circuits, also against golden values.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    time::Instant,
};

use assignment::CircuitId;
use circuits::{FilecoinCircuit, shape::CircuitName};
use r1cs::{CircuitStats, CompiledCircuit};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Answer, Outcome, compile_failure};
use crate::{cli::Inspect, console::Console, failure::Failure, files, progress::Progress, source};

/// Golden files are small.
const LIMIT: u64 = 64 << 20;

/// What is known of a circuit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Report {
    circuit: String,
    inputs: usize,
    aux: usize,
    constraints: usize,
    domain_log2: u32,
    a_aux_density: usize,
    b_aux_density: usize,
    b_input_density: usize,
    nnz: Nnz,
    digest: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Nnz {
    a: u64,
    b: u64,
    c: u64,
}

/// A golden file: circuits by name, or a list of circuits that name themselves.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum GoldenFile {
    ByName(BTreeMap<String, Golden>),
    List(Vec<NamedGolden>),
}

#[derive(Debug, Deserialize)]
struct NamedGolden {
    name: String,
    #[serde(flatten)]
    golden: Golden,
}

/// A circuit in a golden file; further fields are ignored.
#[derive(Debug, Deserialize)]
struct Golden {
    num_public_inputs: usize,
    num_aux: usize,
    num_constraints: usize,
    /// Follows from the rest, so that a file may leave it out.
    domain_log2: Option<u32>,
    a_aux_density: usize,
    b_aux_density: usize,
    b_input_density: usize,
    nnz: [u64; 3],
    r1cs_sha256: String,
}

/// Inspects one circuit, or all of them.
pub fn run(flags: &Inspect, console: Console) -> Outcome {
    let mut inspector = Inspector { console, known: HashMap::new() };
    match (&flags.circuit, &flags.check) {
        (Some(name), _) => {
            let report = inspector.inspect(*name)?;
            report.print(console);
            console.result(&report);
            Ok(Answer::Yes)
        }
        (None, Some(path)) => inspector.check(path),
        (None, None) => inspector.list(),
    }
}

struct Inspector {
    console: Console,
    /// By circuit: several names may have the same one.
    known: HashMap<CircuitId, Report>,
}

impl Inspector {
    /// Compiles the circuit and hashes its expansion.
    fn inspect(&mut self, name: CircuitName) -> Result<Report, Failure> {
        if let Some(report) = self.known.get(&name.id()) {
            return Ok(Report { circuit: name.to_string(), ..report.clone() });
        }
        let blank = FilecoinCircuit::blank(name).map_err(|error| source::circuit_failure(&error))?;
        let compiled = {
            let _progress = Progress::start(&format!("compiling {name}"), None);
            CompiledCircuit::compile(&blank).map_err(|error| compile_failure(&error))?
        };
        let progress = Progress::start(&format!("hashing {name}"), Some(compiled.num_constraints() as u64));
        let digest = compiled.digest_with(|constraints| progress.reach(constraints as u64));
        let report = Report::new(name, &compiled.stats(), &digest);
        self.known.insert(name.id(), report.clone());
        Ok(report)
    }

    fn list(&mut self) -> Outcome {
        let mut reports = Vec::new();
        self.heading();
        for name in CircuitName::all() {
            let started = Instant::now();
            let report = self.inspect(name)?;
            self.row(&report, started, "");
            reports.push(report);
        }
        self.console.result(&json!({ "circuits": reports }));
        Ok(Answer::Yes)
    }

    /// Compares every circuit of a golden file that is one of ours.
    fn check(&mut self, path: &Path) -> Outcome {
        let file: GoldenFile = serde_json::from_slice(&files::read(path, LIMIT)?)
            .map_err(|error| Failure::input(format_args!("no golden file: {error}")).at(path.display()))?;
        let golden: Vec<(String, Golden)> = match file {
            GoldenFile::ByName(circuits) => circuits.into_iter().collect(),
            GoldenFile::List(circuits) => circuits.into_iter().map(|one| (one.name, one.golden)).collect(),
        };
        let (mut checked, mut different, mut skipped) = (0, Vec::new(), Vec::new());
        let mut circuits: Vec<_> = golden.iter().collect();
        circuits.sort_by_key(|(_, golden)| golden.num_constraints);
        self.heading();
        for (text, golden) in circuits {
            let Ok(name) = text.parse::<CircuitName>() else {
                skipped.push(text);
                continue;
            };
            let started = Instant::now();
            let report = self.inspect(name)?;
            let differences = report.differences(golden);
            checked += 1;
            let verdict = if differences.is_empty() { "identical".into() } else { differences.join(", ") };
            self.row(&report, started, &verdict);
            if !differences.is_empty() {
                different.push(text);
            }
        }
        if checked == 0 {
            return Err(Failure::input("the file names no circuit of ours").at(path.display()));
        }
        let identical = checked - different.len();
        self.console
            .say(format_args!("{checked} checked, {identical} identical, {} different", different.len()));
        for name in &skipped {
            self.console.say(format_args!("not one of our circuits, skipped: {name}"));
        }
        let skipped = skipped.len();
        let answer = if different.is_empty() { Answer::Yes } else { Answer::No(1) };
        self.console.result(&json!({
            "checked": checked, "identical": identical, "different": different, "skipped": skipped,
        }));
        Ok(answer)
    }

    fn heading(&self) {
        self.console.say(format_args!(
            "{:<16} {:>6} {:>11} {:>11} {:>3} {:>11} {:>11} {:>16} {:>7}",
            "circuit", "inputs", "aux", "constraints", "log", "A density", "B density", "digest", "s"
        ));
    }

    fn row(&self, report: &Report, started: Instant, verdict: &str) {
        let seconds = started.elapsed().as_secs_f64();
        self.console.say(format_args!(
            "{:<16} {:>6} {:>11} {:>11} {:>3} {:>11} {:>11} {:>16} {seconds:>7.1} {verdict}",
            report.circuit,
            report.inputs,
            report.aux,
            report.constraints,
            report.domain_log2,
            report.a_aux_density,
            report.b_aux_density,
            report.digest.get(..16).unwrap_or_default(),
        ));
    }
}

impl Report {
    fn new(name: CircuitName, stats: &CircuitStats, digest: &[u8; 32]) -> Self {
        let [a, b, c] = stats.nnz;
        Self {
            circuit: name.to_string(),
            inputs: stats.inputs - 1,
            aux: stats.aux,
            constraints: stats.constraints,
            domain_log2: stats.domain_log2(),
            a_aux_density: stats.a_aux_density,
            b_aux_density: stats.b_aux_density,
            b_input_density: stats.b_input_density,
            nnz: Nnz { a, b, c },
            digest: hex::encode(digest),
        }
    }

    fn print(&self, console: Console) {
        let Nnz { a, b, c } = self.nnz;
        console.field("circuit", &self.circuit);
        console.field("inputs", format_args!("{} (without ONE)", self.inputs));
        console.field("aux", self.aux);
        console.field("constraints", self.constraints);
        console.field("domain", format_args!("2^{}", self.domain_log2));
        console.field("A density", format_args!("{} aux", self.a_aux_density));
        console
            .field("B density", format_args!("{} aux, {} inputs", self.b_aux_density, self.b_input_density));
        console.field("non-zeros", format_args!("A {a}, B {b}, C {c}"));
        console.field("digest", &self.digest);
    }

    /// The names of the golden fields that differ.
    fn differences(&self, golden: &Golden) -> Vec<&'static str> {
        let Nnz { a, b, c } = self.nnz;
        let fields = [
            ("inputs", self.inputs == golden.num_public_inputs),
            ("aux", self.aux == golden.num_aux),
            ("constraints", self.constraints == golden.num_constraints),
            ("domain_log2", golden.domain_log2.is_none_or(|log| self.domain_log2 == log)),
            ("a_aux_density", self.a_aux_density == golden.a_aux_density),
            ("b_aux_density", self.b_aux_density == golden.b_aux_density),
            ("b_input_density", self.b_input_density == golden.b_input_density),
            ("nnz", [a, b, c] == golden.nnz),
            ("digest", self.digest == golden.r1cs_sha256),
        ];
        fields.into_iter().filter(|(_, equal)| !equal).map(|(name, _)| name).collect()
    }
}
