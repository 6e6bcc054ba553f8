//! `compile`: a circuit's compiled form, into the cache or a file.

use std::{fs, time::Instant};

use circuits::FilecoinCircuit;
use r1cs::CompiledCircuit;
use serde_json::json;

use super::{Answer, Outcome, compile_failure, millis};
use crate::{
    cache,
    cli::Compile,
    console::Console,
    failure::{Failure, Kind},
    files::{Outputs, check_stem},
    memory::Meter,
    parameters::check_targets,
    progress::Progress,
    size::Size,
    source,
};

/// Compiles from nothing, writes the file with the digest in it, and reads it back.
pub fn run(flags: &Compile, console: Console) -> Outcome {
    let meter = Meter::start();
    let name = flags.circuit;
    // No compiled circuit belongs under a ceremony's name or among its files.
    let staged = match &flags.out {
        Some(path) => {
            check_stem(path)?;
            check_targets(std::slice::from_ref(path))?;
            Some(Outputs::create(std::slice::from_ref(path))?)
        }
        None => None,
    };
    let blank = FilecoinCircuit::blank(name).map_err(|error| source::circuit_failure(&error))?;
    let file = match &flags.out {
        Some(path) => path.clone(),
        None => cache::compiled_circuit(&name.id())?,
    };

    let started = Instant::now();
    let compiled = {
        let _progress = Progress::start(&format!("compiling {name}"), None);
        CompiledCircuit::compile(&blank).map_err(|error| compile_failure(&error))?
    };
    let compile_ms = millis(started);
    let digest = {
        let _progress = Progress::start(&format!("hashing {name}"), None);
        hex::encode(compiled.digest())
    };
    let mut outputs = match staged {
        Some(outputs) => outputs,
        None => Outputs::create(std::slice::from_ref(&file))?,
    };
    outputs.fill(0, |out| cache::write_compiled(&compiled, out))?;
    outputs.publish()?;

    let started = Instant::now();
    CompiledCircuit::load(&file, &name.id())
        .map_err(|error| Failure::new(Kind::Internal, error).at(file.display()))?;
    let load_ms = millis(started);
    let bytes = fs::metadata(&file).map_err(|error| Failure::io(&file, &error))?.len();
    let peaks = meter.peaks();

    console.field("circuit", name);
    console.field("file", file.display());
    console.field("size", Size(bytes));
    console.field("compiled in", format_args!("{compile_ms:.0} ms"));
    console.field("loaded in", format_args!("{load_ms:.0} ms"));
    console.field("digest", &digest);
    console.result(&json!({
        "circuit": name.to_string(),
        "file": file,
        "bytes": bytes,
        "compile_ms": compile_ms,
        "load_ms": load_ms,
        "host_peak_bytes": peaks.anonymous,
        "digest": digest,
    }));
    Ok(Answer::Yes)
}
