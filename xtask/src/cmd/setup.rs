//! `setup`: test parameters and their verifying key.

use std::{sync::Arc, time::Instant};

use circuits::FilecoinCircuit;
use groth16::check_test_target;
use r1cs::CompiledCircuit;
use serde_json::json;

use super::{Answer, Outcome, compile_failure, millis};
use crate::{
    backend,
    cli::Setup,
    console::Console,
    files::{Outputs, with_suffix},
    memory::Meter,
    parameters,
    progress::Progress,
    size::Size,
    source,
};

/// Makes parameters from a seed or fresh randomness and writes `FILE.params` and `FILE.vk`.
pub fn run(flags: &Setup, console: Console) -> Outcome {
    let meter = Meter::start();
    let choice = backend::choose(flags.backend, &[])?;
    let [params, vk] = ["params", "vk"].map(|suffix| with_suffix(&flags.out, suffix));
    for target in [&params, &vk] {
        check_test_target(target).map_err(|error| parameters::read_failure(target, &error))?;
    }
    let blank = FilecoinCircuit::blank(flags.circuit).map_err(|error| source::circuit_failure(&error))?;
    let started = Instant::now();
    let circuit = CompiledCircuit::compile(&blank).map_err(|error| compile_failure(&error))?;
    let made = parameters::setup(&Arc::new(circuit), flags.seed, choice.backend)?;
    let setup_ms = millis(started);

    let progress = Progress::start("writing", None);
    let mut outputs = Outputs::new();
    outputs.add(&params, |out| made.write(out))?;
    outputs.add(&vk, |out| made.vk.write(out))?;
    outputs.publish()?;
    drop(progress);

    let bytes = made.file_size();
    console.field("circuit", flags.circuit);
    console.field("parameters", format_args!("test (forgeable by whoever knows the seed), {}", Size(bytes)));
    console.field("written", format_args!("{}, {}", params.display(), vk.display()));
    console.field("backend", format_args!("{} ({})", choice.name, choice.reason));
    console.field("setup", format_args!("{setup_ms:.0} ms"));
    if let Some(peak) = meter.peaks().anonymous {
        console.field("peak memory", Size(peak));
    }
    console.result(&json!({
        "circuit": flags.circuit.to_string(),
        "params": params,
        "vk": vk,
        "bytes": bytes,
        "setup_ms": setup_ms,
        "params_kind": parameters::ParamsKind::Test,
    }));
    Ok(Answer::Yes)
}
