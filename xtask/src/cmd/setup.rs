//! `setup`: test parameters and their verifying key.

use std::{sync::Arc, time::Instant};

use circuits::FilecoinCircuit;
use groth16::Shape;
use r1cs::CompiledCircuit;
use serde_json::json;

use super::{Answer, Outcome, compile_failure, millis};
use crate::{
    backend,
    cli::Setup,
    console::Console,
    files::{Outputs, check_stem, with_suffix},
    memory::Meter,
    parameters::{self, check_targets},
    size::Size,
    source,
};

/// Makes parameters from a seed or fresh randomness and writes `FILE.params` and `FILE.vk`.
pub fn run(flags: &Setup, console: Console) -> Outcome {
    let meter = Meter::start();
    let choice = backend::choose(&flags.hardware)?;
    check_stem(&flags.out)?;
    let [params, vk] = ["params", "vk"].map(|suffix| with_suffix(&flags.out, suffix));
    let targets = [params.clone(), vk.clone()];
    check_targets(&targets)?;
    let mut outputs = Outputs::create(&targets)?;
    let blank = FilecoinCircuit::blank(flags.circuit).map_err(|error| source::circuit_failure(&error))?;
    let started = Instant::now();
    let circuit = CompiledCircuit::compile(&blank).map_err(|error| compile_failure(&error))?;
    let circuit = Arc::new(circuit);
    let key = outputs.fill_file(0, |file, target| {
        parameters::setup_into(&circuit, flags.seed, &choice, file)
            .map_err(|failure| failure.at(target.display()))
    })?;
    outputs.fill(1, |out| key.write(out))?;
    // Meanwhile a ceremony's file may have come into the folder.
    check_targets(&targets)?;
    outputs.publish()?;
    let setup_ms = millis(started);

    let bytes = Shape::from(&*circuit).file_size();
    console.field("circuit", flags.circuit);
    console.field("parameters", format_args!("test (forgeable by whoever knows the seed), {}", Size(bytes)));
    console.field("written", format_args!("{}, {}", params.display(), vk.display()));
    console.field("backend", format_args!("{} ({})", choice.name, choice.reason));
    console.field("setup", format_args!("{setup_ms:.0} ms, compiled, made and written"));
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
