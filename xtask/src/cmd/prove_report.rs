//! What `prove` says of its work, to people and to machines.

use std::time::Duration;

use blstrs::Scalar;
use groth16::{Clocks, Proof, StageTimes};
use r1cs::CompiledCircuit;
use serde::Serialize;

use super::{
    median,
    prove_clocks::{HEADER, lines},
};
use crate::{
    backend::Choice,
    cli::Prove,
    console::Console,
    memory::Peaks,
    parameters::{Chosen, ParamsKind},
    public_inputs,
    size::Size,
};

/// One repetition.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// By stage, summed over partitions.
    pub stages: StageTimes,
    /// From vanilla proof in memory to verified proof.
    pub total: Duration,
}

/// Everything there is to report.
pub struct Report<'a> {
    pub flags: &'a Prove,
    pub circuit: &'a CompiledCircuit,
    pub choice: &'a Choice,
    pub chosen: &'a Chosen,
    /// Compiling the circuit, if it was compiled.
    pub compiled: Option<Duration>,
    pub runs: &'a [Run],
    /// Of the last repetition.
    pub proofs: &'a [(Proof, Vec<Scalar>)],
    pub verified: bool,
    pub peaks: Peaks,
    /// Of device memory.
    pub device_peak: Option<u64>,
}

/// The object of `--json`.
#[derive(Serialize)]
pub struct Json {
    circuit: String,
    backend: &'static str,
    backend_reason: String,
    devices: Vec<String>,
    params_kind: ParamsKind,
    partitions: usize,
    constraints: usize,
    domain_log2: u32,
    verified: bool,
    proofs: Vec<String>,
    public_inputs: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compile_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    setup_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    load_ms: Option<f64>,
    runs: Vec<JsonRun>,
    total_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    host_peak_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device_peak_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_rss_bytes: Option<u64>,
}

#[derive(Serialize)]
struct JsonRun {
    #[serde(skip_serializing_if = "Option::is_none")]
    witness_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    products_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quotient_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    msm_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verify_ms: Option<f64>,
    total_ms: f64,
    /// From witness to sums by the three clocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    device_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrapper_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pipeline_ms: Option<f64>,
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

impl Report<'_> {
    fn total_ms(&self) -> f64 {
        median(self.runs.iter().map(|run| ms(run.total)))
    }

    /// The machine-readable report.
    pub fn json(&self) -> Json {
        let runs = self.runs.iter().map(|run| {
            let StageTimes { witness, products, quotient, msm, whole, verify, .. } = run.stages;
            let stage = |clocks: Option<Clocks>| clocks.map(|clocks| ms(clocks.pipeline));
            JsonRun {
                witness_ms: witness.map(ms),
                products_ms: stage(products),
                quotient_ms: stage(quotient),
                msm_ms: stage(msm),
                verify_ms: verify.map(ms),
                total_ms: ms(run.total),
                device_ms: whole.and_then(|clocks| clocks.device).map(ms),
                wrapper_ms: whole.map(|clocks| ms(clocks.wrapper)),
                pipeline_ms: stage(whole),
            }
        });
        let inputs: Vec<_> = self.proofs.iter().map(|(_, inputs)| inputs.clone()).collect();
        Json {
            circuit: self.flags.source.circuit.to_string(),
            backend: self.choice.name,
            backend_reason: self.choice.reason.clone(),
            devices: self.choice.devices.clone(),
            params_kind: self.chosen.kind,
            partitions: self.proofs.len(),
            constraints: self.circuit.num_constraints(),
            domain_log2: self.circuit.domain_log2(),
            verified: self.verified,
            proofs: self.proofs.iter().map(|(proof, _)| hex::encode(proof.to_bytes())).collect(),
            public_inputs: public_inputs::to_hex(&inputs),
            compile_ms: self.compiled.map(ms),
            setup_ms: self.chosen.setup.map(ms),
            load_ms: self.chosen.load.map(ms),
            runs: runs.collect(),
            total_ms: self.total_ms(),
            host_peak_bytes: self.peaks.anonymous,
            device_peak_bytes: self.device_peak,
            peak_rss_bytes: self.peaks.resident,
        }
    }

    /// The report for people.
    pub fn print(&self, console: Console) {
        let circuit = self.circuit;
        console.field(
            "circuit",
            format_args!("{}, {} partition(s)", self.flags.source.circuit, self.proofs.len()),
        );
        console.field(
            "size",
            format_args!(
                "{} constraints, {} public inputs, {} aux, domain 2^{}",
                circuit.num_constraints(),
                circuit.num_inputs() - 1,
                circuit.num_aux(),
                circuit.domain_log2()
            ),
        );
        console.field("parameters", self.chosen.describe());
        console.field("backend", format_args!("{} ({})", self.choice.name, self.choice.reason));
        let once = [("compile", self.compiled), ("setup", self.chosen.setup), ("load", self.chosen.load)];
        for (label, time) in once {
            if let Some(time) = time {
                console.field(label, format_args!("{:.1} ms", ms(time)));
            }
        }
        let runs = self.runs.len();
        let of = if runs > 1 { format!(" (median of {runs})") } else { String::new() };
        let host = |label: &str, pick: fn(&StageTimes) -> Option<Duration>| {
            let times: Vec<f64> = self.runs.iter().filter_map(|run| pick(&run.stages)).map(ms).collect();
            if !times.is_empty() {
                console.field(label, format_args!("{:.1} ms{of}", median(times.into_iter())));
            }
        };
        host("witness", |times| times.witness);
        self.print_clocks(console);
        host("verify", |times| times.verify);
        console.field("total", format_args!("{:.1} ms{of}, from vanilla proof to proof", self.total_ms()));
        if let (Some(anonymous), Some(resident)) = (self.peaks.anonymous, self.peaks.resident) {
            let [anonymous, resident] = [anonymous, resident].map(Size);
            console.field("peak memory", format_args!("{anonymous} (anonymous), {resident} (resident)"));
        }
        if let Some(peak) = self.device_peak {
            console.field("device", format_args!("{} at the peak", Size(peak)));
        }
        for (proof, _) in self.proofs {
            console.field("proof", hex::encode(proof.to_bytes()));
        }
        console.field("result", if self.verified { "verified" } else { "NOT verified, as asked" });
    }

    /// The stages by three clocks.
    fn print_clocks(&self, console: Console) {
        let stages: Vec<_> = self.runs.iter().map(|run| run.stages).collect();
        let lines = lines(&stages, self.proofs.len());
        console.field("clocks", HEADER);
        for line in &lines {
            console.field(line.name, line);
        }
        if lines.iter().any(|line| line.is_marked()) {
            console.field("", "!: a gap above 2 % of the time to its left");
        }
    }
}
