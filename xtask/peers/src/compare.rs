//! Both provers on `porep-2KiB`: the same parameters, the same vanilla proof, the same r and s, in one run.

use std::{
    error::Error,
    path::{Path, PathBuf},
    time::Instant,
};

use blstrs::Scalar;
use circuits::shape::CircuitName;
use serde_json::{Value, json};

use crate::{
    fixtures,
    measure::{Sample, median, peak_bytes, sample},
    ours, reference, theirs,
};

const CIRCUIT: &str = "porep-2KiB";
/// The proof's randomness: fixed, so that the proofs can be compared.
const RANDOMNESS: [u64; 2] = [0x5eed_0001, 0x5eed_0002];
/// The parameters' secrets: known, since these parameters are for this comparison only.
const SECRETS: [u64; 5] = [11, 12, 13, 14, 0x7a_75a7_75a7];

/// One of the two provers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Side {
    Ours,
    Bellperson,
}

fn randomness() -> [Scalar; 2] {
    RANDOMNESS.map(Scalar::from)
}

/// One proof by one side; parameters are loaded before the clock starts.
pub fn one(side: Side, params: &Path) -> Result<Sample, Box<dyn Error>> {
    let (started, proof) = match side {
        Side::Ours => {
            let production = ours::Production::new(CIRCUIT.parse::<CircuitName>()?, params)?;
            let started = Instant::now();
            (started, production.prove(randomness())?)
        }
        Side::Bellperson => {
            let porep = reference::Porep::new(&fixtures::porep_phase1()?)?;
            let parameters = theirs::load(params)?;
            let [r, s] = randomness();
            let started = Instant::now();
            (started, theirs::prove(porep.circuit()?, &parameters, r, s)?)
        }
    };
    let prove_ms = started.elapsed().as_secs_f64() * 1e3;
    Ok(Sample { prove_ms, peak_bytes: peak_bytes()?, proof: hex::encode(proof) })
}

/// Alternating runs of both sides, each proof in a process of its own; medians and ratios.
pub fn run(rounds: usize, given: Option<PathBuf>) -> Result<Value, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let params = match given {
        Some(path) => path,
        None => make_parameters(&folder.path().join("porep-2KiB.params"))?,
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        for (name, samples) in [("ours", &mut ours), ("bellperson", &mut theirs)] {
            let sample = sample(name, &params)?;
            eprintln!("round {round}, {name}: {:.0} ms, {} MiB", sample.prove_ms, sample.peak_bytes >> 20);
            samples.push(sample);
        }
    }
    let first = &ours.first().ok_or("no round")?.proof;
    if let Some(other) = ours.iter().chain(&theirs).find(|sample| sample.proof != *first) {
        return Err(format!("the proofs differ: {first} and {}", other.proof).into());
    }
    let accepted = reference::Porep::new(&fixtures::porep_phase1()?)?
        .verify(&theirs::load(&params)?, &hex::decode(first)?)?;
    if !accepted {
        return Err("storage-proofs does not accept the proof".into());
    }
    let ms = [&ours, &theirs].map(|samples| median(samples.iter().map(|sample| sample.prove_ms)));
    let bytes = [&ours, &theirs].map(|samples| median(samples.iter().map(|sample| sample.peak_bytes as f64)));
    let [time_ratio, memory_ratio] = [ms, bytes].map(|[ours, theirs]| ours / theirs);
    eprintln!("{CIRCUIT}, {rounds} alternating rounds, synthesis included, medians:");
    eprintln!("  time    ours {:>8.0} ms, bellperson {:>8.0} ms, ratio {time_ratio:.3}", ms[0], ms[1]);
    let mib = bytes.map(|bytes| bytes / f64::from(1 << 20));
    eprintln!("  memory  ours {:>7.0} MiB, bellperson {:>7.0} MiB, ratio {memory_ratio:.3}", mib[0], mib[1]);
    eprintln!("  the proofs are the same bytes, and storage-proofs accepts them");
    Ok(json!({
        "circuit": CIRCUIT,
        "rounds": rounds,
        "ours_ms": ms[0],
        "bellperson_ms": ms[1],
        "time_ratio": time_ratio,
        "ours_peak_bytes": bytes[0],
        "bellperson_peak_bytes": bytes[1],
        "memory_ratio": memory_ratio,
        "same_bytes": true,
        "accepted_by_storage_proofs": true,
    }))
}

fn make_parameters(path: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let blank = circuits::FilecoinCircuit::blank(CIRCUIT.parse::<CircuitName>()?)?;
    let compiled = r1cs::CompiledCircuit::compile(&blank)?;
    let started = Instant::now();
    let [alpha, beta, gamma, delta, tau] = SECRETS.map(Scalar::from);
    let parameters = groth16::setup(&compiled, groth16::ToxicWaste::new(alpha, beta, gamma, delta, tau)?)?;
    eprintln!("setup of {CIRCUIT}: {:.1} s", started.elapsed().as_secs_f64());
    parameters.write_file(path)?;
    Ok(path.to_owned())
}
