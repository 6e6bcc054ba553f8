//! The table of whole proofs.

use std::{sync::Arc, time::Duration};

use groth16::StageTimes;
use r1cs::CompiledCircuit;
use serde::Serialize;

use super::floor::Floor;
use crate::{
    backend::Choice,
    cmd::{Answer, Outcome, median},
    console::Console,
};

/// The time of each stage in one run, summed over its proofs. A sector's later witnesses are made while its first ones are proved,
/// so that a total can be less than its stages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stages {
    pub witness: Duration,
    pub products: Duration,
    pub quotient: Duration,
    pub msm: Duration,
    pub verify: Duration,
    /// From inputs in memory to verified proofs, by the clock on the wall.
    pub total: Duration,
}

/// The runs of one circuit.
pub struct Measured {
    pub circuit: Arc<CompiledCircuit>,
    pub partitions: usize,
    pub stages: Vec<Stages>,
    /// What the multiplications of a run need; for a device only.
    pub floor: Option<Floor>,
}

/// Proofs of chained SHA-256 by others, in milliseconds.
struct Peers {
    constraints: usize,
    /// bellperson 0.26 on 16 cores, synthesis and proof.
    bellperson: Option<f64>,
    /// supraseal-c2 0.1.2 on an H200.
    supraseal: f64,
}

/// One line for each size of domain.
const PEERS: [(u32, Peers); 4] = [
    (18, Peers { constraints: 244_166, bellperson: Some(148.0 + 1_008.0), supraseal: 285.0 }),
    (20, Peers { constraints: 1_033_082, bellperson: Some(578.0 + 3_916.0), supraseal: 729.0 }),
    (22, Peers { constraints: 4_188_746, bellperson: Some(2_307.0 + 13_618.0), supraseal: 2_747.0 }),
    (24, Peers { constraints: 16_756_994, bellperson: None, supraseal: 12_718.0 }),
];

/// The table under way: each line is printed as soon as it is known.
pub struct Report {
    console: Console,
    compared: bool,
    json: Json,
}

#[derive(Serialize)]
struct Json {
    bench: &'static str,
    device: String,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    what: String,
    log_n: u32,
    constraints: usize,
    partitions: usize,
    ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    floor_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
}

impl Stages {
    /// Adds a proof's times.
    pub fn add(&mut self, times: &StageTimes) {
        self.witness += times.witness.unwrap_or_default();
        self.products += times.products.unwrap_or_default().pipeline;
        self.quotient += times.quotient.unwrap_or_default().pipeline;
        self.msm += times.msm.unwrap_or_default().pipeline;
    }
}

/// A column's name, and the stage that it shows.
type Column = (&'static str, fn(&Stages) -> Duration);

const COLUMNS: [Column; 6] = [
    ("witness", |stages| stages.witness),
    ("products", |stages| stages.products),
    ("quotient", |stages| stages.quotient),
    ("msm", |stages| stages.msm),
    ("verify", |stages| stages.verify),
    ("total", |stages| stages.total),
];

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

impl Report {
    /// An empty table.
    pub fn start(choice: &Choice, runs: u32, console: Console) -> Self {
        let device = choice.devices.first().map_or("CPU", |device| device).to_owned();
        console.say(format_args!("whole proofs on {device}: milliseconds, medians of {runs} warm runs"));
        let columns = COLUMNS.map(|(name, _)| format!("{name:>9}")).concat();
        console.say(format_args!(
            "{:<15} {:>11} {:>5} {:>10}{columns} {:>12} {:>12}",
            "circuit", "constraints", "log n", "partitions", "bellperson", "supraseal-c2"
        ));
        Self { console, compared: false, json: Json { bench: "prove", device, rows: vec![] } }
    }

    /// Adds a circuit's line; `compare` for the chain, which the peers proved too.
    pub fn add(&mut self, name: &str, measured: &Measured, compare: bool) {
        let (circuit, stages) = (&measured.circuit, &measured.stages);
        let (constraints, log_n, partitions) =
            (circuit.num_constraints(), circuit.domain_log2(), measured.partitions);
        let mut line = format!("{name:<15} {constraints:>11} {log_n:>5} {partitions:>10}");
        for (stage, of) in COLUMNS {
            let ms = median(stages.iter().map(|stages| self::ms(of(stages))));
            line += &format!("{ms:>9.2}");
            let floor_ms = measured.floor.as_ref().and_then(|floor| floor.of(stage)).map(self::ms);
            let share = floor_ms.map(|floor| floor / ms);
            let what = format!("{name}: {stage}");
            self.json.rows.push(Row { what, log_n, constraints, partitions, ms, floor_ms, share });
        }
        let peers = PEERS.iter().find(|(size, _)| compare && *size == log_n);
        if let Some((_, Peers { constraints, bellperson, supraseal })) = peers {
            self.compared = true;
            let bellperson = bellperson.map_or("-".into(), |ms| format!("{ms:.0}"));
            line += &format!(" {bellperson:>12} {supraseal:>12.0} (of {constraints} constraints)");
        }
        self.console.say(line);
    }

    /// Prints the report for machines.
    pub fn finish(self) -> Outcome {
        if self.compared {
            self.console.say("bellperson 0.26 on 16 cores, supraseal-c2 0.1.2 on an H200: synthesis and proof, measured before");
        }
        self.console.result(&self.json);
        Ok(Answer::Yes)
    }
}
