//! Proves synthetic sectors by workers, one for each device: `worker CIRCUIT [DEVICE…]`, on the processor where no device is named.
//!
//! This is how a service stays up when a kernel fails: see `groth16::worker`. Each worker makes test parameters for itself; one for
//! real parameters would read them from their file.

use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use circuits::shape::CircuitName;
use circuits::synthetic::synthetic;
use groth16::filecoin::{self, FilecoinProver};
use groth16::{Backend, Fleet, Proved, Prover, ToxicWaste, worker};
use rand_chacha::ChaCha20Rng;
use rand_core::{OsRng, SeedableRng};

const REPETITIONS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--serve", name, device] => serve(name.parse()?, device),
        [name] => prove(name.parse()?, &[Backend::Cpu]),
        [name, ref devices @ ..] => {
            let backends: Result<Vec<_>, _> =
                devices.iter().map(|ordinal| ordinal.parse().map(Backend::cuda)).collect();
            prove(name.parse()?, &backends?)
        }
        [] => Err("name a circuit, and devices".into()),
    }
}

/// The worker.
fn serve(name: CircuitName, device: &str) -> Result<(), Box<dyn std::error::Error>> {
    let backend = match device {
        "cpu" => Backend::Cpu,
        ordinal => Backend::cuda(ordinal.parse()?),
    };
    let waste = ToxicWaste::random(&mut ChaCha20Rng::seed_from_u64(0));
    let prover = Prover::with_test_parameters(Arc::new(filecoin::compile(name)?), waste, backend)?;
    Ok(worker::serve(&prover)?)
}

/// Its caller.
fn prove(name: CircuitName, backends: &[Backend]) -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let program = std::env::current_exe()?;
    // Side by side: each waits until its worker is ready.
    let fleet = Fleet::on(backends, |backend| {
        let (program, name) = (program.clone(), name.to_string());
        let device = match backend {
            Backend::Cuda { device, .. } => device.to_string(),
            _ => "cpu".to_owned(),
        };
        Prover::in_worker(move || {
            let mut command = Command::new(&program);
            command.args(["--serve", &name, &device]);
            command
        })
    })?;
    let prover = FilecoinProver::with_fleet(name, fleet);
    println!("ready after {:.2} s", start.elapsed().as_secs_f64());
    for _ in 0..REPETITIONS {
        let partitions = synthetic(name, 1, 1);
        let start = Instant::now();
        let proofs = prover.prove(partitions, &mut OsRng)?;
        let elapsed = start.elapsed().as_secs_f64() * 1e3;
        let pipeline = |proof: &Proved| proof.times.whole.map(|clocks| clocks.pipeline.as_secs_f64() * 1e3);
        let pipelines: f64 = proofs.iter().filter_map(pipeline).sum();
        println!(
            "{elapsed:.1} ms for {} proofs, whose pipelines took {pipelines:.1} ms in workers",
            proofs.len()
        );
    }
    Ok(())
}
