//! `prove`: from vanilla proofs to verified Groth16 proofs.

use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use assignment::reaper;
use blstrs::Scalar;
use groth16::{
    Backend, Fleet, Proof, ProveError, ProveManyError, Proved, StageTimes, VerificationError, VerifyingKey,
    until_error,
};
use r1cs::{CheckError, CompiledCircuit};
use rand_core::OsRng;

use super::{
    Answer, Outcome, compile_failure,
    prove_report::{Report, Run},
};
use crate::{
    backend, cache,
    cli::Prove,
    console::Console,
    failure::{Failure, Kind},
    files::{Outputs, check_stem, same_target, takes_away, with_suffix},
    memory::Meter,
    parameters::{self, ParamsKind},
    progress::Progress,
    public_inputs,
    source::{self, Partition},
    timeline,
};

/// Reads, checks, proves, verifies and reports; files are written last.
pub fn run(flags: &Prove, console: Console) -> Outcome {
    let meter = Meter::start();
    let started = Instant::now();
    let mut choice = backend::choose(&flags.hardware)?;

    // Whatever is wrong with the output or the input is said before anything expensive begins.
    let targets = targets(flags.out.as_deref())?;
    if parameters::surely_test(flags.source.circuit, flags.params.as_deref()) {
        parameters::check_targets(&targets)?;
    }
    let outputs = Outputs::create(&targets)?;
    let partitions = source::load(&flags.source, flags.sectors)?;
    if let Some(path) = &flags.public {
        let derived: Vec<_> = partitions.iter().map(|partition| partition.public_inputs.clone()).collect();
        public_inputs::compare(&derived, &public_inputs::read(path)?)?;
    }
    let (circuit, compiled) = compiled_circuit(&partitions)?;
    // A device checks every row as it multiplies, faster than the processor could beforehand.
    if choice.backend == Backend::Cpu {
        partitions.iter().try_for_each(|partition| check(&circuit, partition))?;
    }

    let (fleet, chosen) =
        parameters::fleet(flags.source.circuit, &circuit, flags.params.as_deref(), &mut choice)?;
    if chosen.kind == ParamsKind::Test {
        parameters::check_targets(&targets)?;
    }
    let fleet = fleet.verify_proofs(!flags.no_verify);
    for plan in fleet.plans() {
        console.field("plan", plan);
    }
    if let Some(path) = &flags.vk {
        parameters::check_key(fleet.key(), path)?;
    }
    console.say(format_args!("ready after {:.2} s", started.elapsed().as_secs_f64()));

    let file = chosen.load.map(|_| &*chosen.origin);
    let mut runs = Vec::new();
    let mut proofs = Vec::new();
    for _ in 0..flags.repeat {
        let (run, made) = prove_all(&fleet, &partitions, file)?;
        runs.push(run);
        proofs = made;
    }
    reaper::flush();

    // Before the report, which says what it took; but no proof is lost to a file that cannot be written.
    let written = if targets.is_empty() { Ok(()) } else { write(outputs, &proofs, fleet.key()) };
    let report = Report {
        flags,
        circuit: &circuit,
        choice: &choice,
        chosen: &chosen,
        compiled,
        runs: &runs,
        proofs: &proofs,
        verified: !flags.no_verify,
        peaks: meter.peaks(),
        device_peak: fleet.device_peak(),
    };
    report.print(console);
    written.map_err(|failure| Failure {
        message: format!("--out was not written, the proofs are in the report: {}", failure.message),
        ..failure
    })?;
    if let [proof, public, key] = &targets[..] {
        let [proof, public, key] = [proof, public, key].map(|path| path.display());
        console.field("written", format_args!("{proof}, {public}, {key}"));
    }
    // The proofs are out: a timeline that cannot be written, which may be long, costs nothing but itself.
    timeline::publish().map_err(|failure| Failure {
        message: format!("the timeline was not written, all else was done: {}", failure.message),
        ..failure
    })?;
    console.result(&report.json());
    Ok(Answer::Yes)
}

/// The compiled circuit from the cache, or compiled and put there; and the time if it was compiled.
fn compiled_circuit(partitions: &[Partition]) -> Result<(Arc<CompiledCircuit>, Option<Duration>), Failure> {
    let first = partitions.first().ok_or_else(|| Failure::new(Kind::Internal, "no partition was read"))?;
    let started = Instant::now();
    let _progress = Progress::start("compiling", None);
    let (circuit, from_file) =
        cache::load_or_compile(&first.circuit).map_err(|error| compile_failure(&error))?;
    Ok((Arc::new(circuit), (!from_file).then(|| started.elapsed())))
}

/// That the witness satisfies the circuit: every relation by the native generators, every row by the matrices.
fn check(circuit: &CompiledCircuit, partition: &Partition) -> Result<(), Failure> {
    let _progress = Progress::start("checking the input", None);
    let witness = partition.witness()?;
    circuit.check(&witness).map_err(|error| check_failure(&partition.place, &error))?;
    reaper::defer(witness);
    Ok(())
}

type ProofAndInputs = (Proof, Vec<Scalar>);

/// All partitions once, from vanilla proofs to verified proofs; the first failure ends it. `file` is what the parameters were read from.
fn prove_all(
    fleet: &Fleet,
    partitions: &[Partition],
    file: Option<&str>,
) -> Result<(Run, Vec<ProofAndInputs>), Failure> {
    let progress = Progress::start("proving", Some(partitions.len() as u64));
    let started = Instant::now();
    let witnesses = partitions.iter().map(Partition::witness);
    let batch = fleet.prove_all(witnesses, &mut OsRng, |outcome| {
        progress.advance(1);
        until_error(outcome)
    });
    let mut stages = StageTimes { verify: batch.verify, ..StageTimes::default() };
    let proved = batch.into_proofs().map_err(|error| match error {
        ProveManyError::Witness { source, .. } => source,
        ProveManyError::Prove { index, source } => match partitions.get(index) {
            Some(partition) => prove_failure(&partition.place, file, &source),
            None => prove_failure("a partition", file, &source),
        },
    })?;
    let of = |proved: Proved| {
        stages.add(&proved.times);
        (proved.proof, proved.public_inputs)
    };
    let proofs = proved.into_iter().map(of).collect();
    Ok((Run { stages, total: started.elapsed() }, proofs))
}

/// Where the timeline goes, if there is to be one. No output may take away another, or an input; but a key and public inputs that are
/// compared are written again as they are.
pub fn timeline(flags: &Prove) -> Result<Option<&Path>, Failure> {
    let refuse = |path: &Path, flag, other| {
        let message = format_args!("{} is given to {other} too", path.display());
        Err(Failure::new(Kind::Usage, message).at(flag))
    };
    let targets = targets(flags.out.as_deref())?;
    let inputs = flags.source.input.iter().map(|path| ("--input", path));
    let inputs = inputs.chain(flags.params.iter().map(|path| ("--params", path)));
    for (other, source) in inputs.clone() {
        if let Some(target) = targets.iter().find(|target| takes_away(target, source)) {
            return refuse(target, "--out", other);
        }
    }
    let Some(path) = flags.timeline.as_deref() else { return Ok(None) };
    if targets.iter().any(|target| same_target(target, path)) {
        return refuse(path, "--timeline", "--out");
    }
    let compared = flags.vk.iter().map(|path| ("--vk", path));
    let compared = compared.chain(flags.public.iter().map(|path| ("--public", path)));
    match inputs.chain(compared).find(|(_, other)| takes_away(path, other)) {
        Some((other, _)) => refuse(path, "--timeline", other),
        None => Ok(Some(path)),
    }
}

/// `P.proof`, `P.public.json` and `P.vk`; nothing without `--out`.
fn targets(out: Option<&Path>) -> Result<Vec<PathBuf>, Failure> {
    let Some(path) = out else { return Ok(vec![]) };
    check_stem(path)?;
    Ok(["proof", "public.json", "vk"].iter().map(|suffix| with_suffix(path, suffix)).collect())
}

/// The [`targets`], all or none.
fn write(mut outputs: Outputs, proofs: &[ProofAndInputs], key: &VerifyingKey) -> Result<(), Failure> {
    let inputs: Vec<_> = proofs.iter().map(|(_, inputs)| inputs.clone()).collect();
    let public = serde_json::to_vec(&public_inputs::to_hex(&inputs))
        .map_err(|error| Failure::new(Kind::Internal, error))?;
    outputs.fill(0, |out| proofs.iter().try_for_each(|(proof, _)| out.write_all(&proof.to_bytes())))?;
    outputs.fill(1, |out| out.write_all(&public))?;
    outputs.fill(2, |out| key.write(out))?;
    outputs.publish()
}

fn check_failure(place: &str, error: &CheckError) -> Failure {
    let kind = match error {
        CheckError::Unsatisfied { .. } => Kind::Unsatisfied,
        CheckError::Size(_) => Kind::Internal,
    };
    Failure::new(kind, error).at(place)
}

/// How a proof failed: which it was, or the file of the parameters where they are at fault. The witness satisfies the circuit, so that a
/// proof that does not verify is most likely theirs too: points in place of others.
fn prove_failure(place: &str, file: Option<&str>, error: &ProveError) -> Failure {
    if let Some(of_device) = error.device() {
        return Failure::new(backend::device_kind(of_device), error).at(place);
    }
    let of_file = file.unwrap_or(place);
    let (kind, place) = match error {
        ProveError::Witness(error) => return check_failure(place, error),
        ProveError::Parameters(error) => (backend::parameter_kind(error), of_file),
        ProveError::Key(_) => (Kind::Input, of_file),
        ProveError::Verification(VerificationError::Sum { .. }) => (Kind::Internal, place),
        ProveError::Verification(_) => (Kind::Invalid, of_file),
        _ => (Kind::Internal, place),
    };
    Failure::new(kind, error).at(place)
}

#[cfg(test)]
mod tests {
    use groth16::ParameterError;

    use super::*;

    /// Which proof it was, the whole of the error, and the exit code of its cause.
    #[test]
    fn a_proof_that_a_device_failed_is_named() {
        let lost = || gpu::Error::DeviceLost {
            ordinal: 1,
            code: 719,
            message: "unspecified launch failure".into(),
            call: "cudaStreamSynchronize".into(),
        };
        let memory = gpu::Error::OutOfMemory { requested: 3, in_use: 2, limit: 1 };
        let cases = [
            (ProveError::Sum(msm_gpu::Error::Device(lost())), 3),
            (ProveError::NoProverLeft(Some(Box::new(lost().into()))), 3),
            (ProveError::Device(memory), 4),
        ];
        for (error, code) in cases {
            let failure = prove_failure("sector 2, partition 7", Some("a.params"), &error);
            assert_eq!(failure.kind.exit_code(), code);
            assert_eq!(failure.to_string(), format!("sector 2, partition 7: {error}"));
        }
    }

    #[test]
    fn a_file_of_parameters_that_is_at_fault_is_named() {
        let changed = ParameterError::Changed { what: "it was written to".into() };
        for error in
            [ProveError::Parameters(changed), ProveError::Verification(VerificationError::InvalidProof)]
        {
            let place = |file| prove_failure("partition 7", file, &error).location;
            assert_eq!(place(Some("a.params")).as_deref(), Some("a.params"));
            assert_eq!(place(None).as_deref(), Some("partition 7"));
        }
    }
}
