//! Which parameters a circuit is proved with: a given file, the ceremony's, or test parameters.

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use circuits::{params_name, shape::CircuitName};
use groth16::{
    Backend, FileOptions, Fleet, FleetError, ParameterError, Parameters, PlanError, ProveError, ReadOptions,
    Shape, ToxicWaste, VerifyingKey, check_test_target,
};
use r1cs::CompiledCircuit;
use rand_chacha::ChaCha20Rng;
use rand_core::{OsRng, SeedableRng};
use serde::Serialize;

use crate::{
    backend::{Choice, open_failure, parameter_kind, setup_failure},
    cache::CachedParameters,
    failure::{Failure, Kind},
    memory,
    progress::Progress,
    size::Size,
};

/// Where Filecoin's tools keep the ceremony's files.
const CEREMONY_FOLDER: &str = "FIL_PROOFS_PARAMETER_CACHE";
/// The seed of the test parameters that `prove` makes for itself.
const SEED: u64 = 0;
/// Larger test parameters are not worth their place on the disk.
const CACHE_LIMIT: u64 = 2 << 30;

/// That what comes from test parameters may be written to these files, none of them under a ceremony's name or beside a ceremony's files.
pub fn check_targets(targets: &[PathBuf]) -> Result<(), Failure> {
    let check = |target: &PathBuf| check_test_target(target).map_err(|error| read_failure(target, &error));
    targets.iter().try_for_each(check)
}

/// Whether anybody can know the trapdoor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ParamsKind {
    /// Made from a seed, or of unknown origin: forgeable.
    Test,
    /// Under the ceremony's name, with the circuit's exact section lengths and the γ of Filecoin's ceremonies. That keeps test
    /// parameters from being taken for a ceremony's by accident; it does not stop a forger.
    Ceremony,
}

/// Where parameters are before there is a prover.
enum Held {
    /// In memory.
    Host(Arc<Parameters>),
    /// In a file, for which nobody vouches, and the key that it had.
    File(PathBuf, Box<VerifyingKey>),
    /// Nowhere yet: the prover makes them where it uses them.
    Trapdoor(ToxicWaste),
}

/// Parameters, where they came from, and what they cost.
pub struct Chosen {
    /// The bytes of a file with them.
    pub bytes: u64,
    /// Test or ceremony.
    pub kind: ParamsKind,
    /// Where they came from, for people.
    pub origin: String,
    /// Making them, if they were made.
    pub setup: Option<Duration>,
    /// Reading them, if they were read.
    pub load: Option<Duration>,
}

/// Whether [`fleet`] will surely give test parameters: those it makes, and files without the ceremony's name.
pub fn surely_test(name: CircuitName, given: Option<&Path>) -> bool {
    match given {
        Some(path) => !has_ceremony_name(name, path),
        None => ceremony_file(name).is_none(),
    }
}

fn has_ceremony_name(name: CircuitName, path: &Path) -> bool {
    path.file_name().is_some_and(|file| *file == *(params_name::file_stem(name) + ".params"))
}

/// A prover on each device, with the parameters of a given file, of the ceremony's file where there is one, or with test parameters.
/// Where a device has too little memory and the processor is allowed, the choice becomes the processor.
pub fn fleet(
    name: CircuitName,
    circuit: &Arc<CompiledCircuit>,
    given: Option<&Path>,
    choice: &mut Choice,
) -> Result<(Fleet, Chosen), Failure> {
    fleet_on(name, circuit, given, choice).or_else(|failure| {
        *choice = choice.instead(failure)?;
        fleet_on(name, circuit, given, choice)
    })
}

fn fleet_on(
    name: CircuitName,
    circuit: &Arc<CompiledCircuit>,
    given: Option<&Path>,
    choice: &Choice,
) -> Result<(Fleet, Chosen), Failure> {
    let shape = Shape::from(&**circuit);
    let (held, mut chosen) = match given.map(Path::to_owned).or_else(|| ceremony_file(name)) {
        Some(path) => from_file(name, &path, &shape, choice)?,
        None => test_parameters(circuit, &shape, choice)?,
    };
    let backends = &choice.backends[..];
    let started = Instant::now();
    let fleet = match held {
        Held::Host(parameters) => {
            Fleet::with_parameters(circuit, &parameters, backends).map_err(|error| fleet_failure(&error))
        }
        Held::File(path, key) => {
            let _progress = Progress::start("loading parameters", None);
            let options = FileOptions { check_subgroups: true, digest: None };
            let fleet = Fleet::with_parameter_file(circuit, &path, options, backends);
            chosen.load = Some(started.elapsed());
            let fleet = fleet.map_err(|error| fleet_failure(&error).at(path.display()))?;
            same_key(&key, &fleet).map_err(|failure| failure.at(path.display()))?;
            Ok(fleet)
        }
        Held::Trapdoor(waste) => {
            let _progress = Progress::start("making test parameters", None);
            let fleet = Fleet::with_test_parameters(circuit, waste, backends);
            chosen.setup = Some(started.elapsed());
            fleet.map_err(|error| without_file(fleet_failure(&error), &error))
        }
    }?;
    Ok((fleet, chosen))
}

/// That the file that the provers opened is the one whose name and key were judged.
fn same_key(judged: &VerifyingKey, fleet: &Fleet) -> Result<(), Failure> {
    match judged == fleet.key() {
        true => Ok(()),
        false => Err(Failure::input("another file came in its place while it was read")),
    }
}

fn fleet_failure(error: &FleetError) -> Failure {
    error.prover().map_or_else(|| Failure::new(Kind::Internal, error), open_failure)
}

/// Test parameters that fit nowhere can still be in a file.
fn without_file(mut failure: Failure, error: &FleetError) -> Failure {
    if matches!(error.prover(), Some(ProveError::Plan(PlanError::Host { .. }))) {
        failure.message += "; write them with `setup --out`, and give the file with --params";
    }
    failure
}

/// The ceremony's file of this circuit, if the folder holds it.
fn ceremony_file(name: CircuitName) -> Option<PathBuf> {
    let folder = env::var_os(CEREMONY_FOLDER).filter(|folder| !folder.is_empty())?;
    let path = Path::new(&folder).join(params_name::file_stem(name) + ".params");
    path.exists().then_some(path)
}

/// Memory of a proof on the processor, beside its parameters: four vectors of the domain's size.
fn proof_bytes(shape: &Shape) -> u64 {
    4 * 32 * shape.domain_size() as u64
}

/// Nobody vouches for the file, so that all its points are checked to be in the subgroup. The processor holds them if there is
/// memory for that, and reads them for each proof otherwise; on a device it is the prover that decides.
fn from_file(
    name: CircuitName,
    path: &Path,
    shape: &Shape,
    choice: &Choice,
) -> Result<(Held, Chosen), Failure> {
    let started = Instant::now();
    let found = fs::metadata(path).map_err(|error| Failure::io(path, &error))?.len();
    // What follows the last section is read past, not kept.
    let bytes = found.min(shape.file_size());
    let held = bytes + proof_bytes(shape);
    let hold = choice.backend == Backend::Cpu
        && memory::ensure_within(held, choice.host_memory, "proving with these parameters").is_ok();
    if choice.backend == Backend::Cpu && !hold {
        let work = "proving with parameters that stay in their file";
        memory::ensure_within(proof_bytes(shape), choice.host_memory, work)
            .map_err(|failure| failure.at(path.display()))?;
    }
    let (held, vk) = if hold {
        let _progress = Progress::start("loading parameters", None);
        let options = ReadOptions { shape: Some(shape), digest: None };
        let parameters = Parameters::read_file(path, options).map_err(|error| read_failure(path, &error))?;
        parameters.check_subgroups(&mut OsRng).map_err(|error| read_failure(path, &error))?;
        let vk = parameters.vk.clone();
        (Held::Host(Arc::new(parameters)), vk)
    } else {
        let vk = VerifyingKey::read_parameter_file(path).map_err(|error| read_failure(path, &error))?;
        (Held::File(path.to_owned(), Box::new(vk.clone())), vk)
    };
    let named = has_ceremony_name(name, path);
    let ceremony = named && vk.gamma_is_one();
    if named && !ceremony {
        tracing::warn!(path = %path.display(), "test parameters under a ceremony's name: gamma_g2 is not the generator");
    }
    let kind = if ceremony { ParamsKind::Ceremony } else { ParamsKind::Test };
    let key_file = path.with_extension("vk");
    if named && key_file.exists() {
        check_key(&vk, &key_file)?;
    }
    let origin = path.display().to_string();
    let chosen = Chosen { bytes, kind, origin, setup: None, load: Some(started.elapsed()) };
    Ok((held, chosen))
}

/// That the parameters' verifying key is that of this file.
pub fn check_key(of_parameters: &VerifyingKey, key_file: &Path) -> Result<(), Failure> {
    let key = VerifyingKey::read_file(key_file).map_err(|error| read_failure(key_file, &error))?;
    if key != *of_parameters {
        return Err(Failure::input("the verifying key is not that of the parameters").at(key_file.display()));
    }
    Ok(())
}

/// Test parameters from the fixed seed: from the cache, or made and put there, or made for this run, on a device by the prover.
fn test_parameters(
    circuit: &Arc<CompiledCircuit>,
    shape: &Shape,
    choice: &Choice,
) -> Result<(Held, Chosen), Failure> {
    let bytes = shape.file_size();
    let kind = ParamsKind::Test;
    let made = |origin: String| {
        let started = Instant::now();
        let parameters = Arc::new(setup(circuit, Some(SEED), choice)?);
        let chosen = Chosen { bytes, kind, origin, setup: Some(started.elapsed()), load: None };
        Ok::<_, Failure>((parameters, chosen))
    };
    if bytes >= CACHE_LIMIT {
        let origin = "made for this run, too large for the cache".into();
        return match choice.backend {
            Backend::Cpu => made(origin).map(|(parameters, chosen)| (Held::Host(parameters), chosen)),
            _ => {
                let chosen = Chosen { bytes, kind, origin, setup: None, load: None };
                Ok((Held::Trapdoor(trapdoor(Some(SEED))), chosen))
            }
        };
    }
    // These are held, whatever proves; a device has the proof's vectors itself.
    let beside = if choice.backend == Backend::Cpu { proof_bytes(shape) } else { 0 };
    memory::ensure_within(bytes + beside, choice.host_memory, "proving with test parameters")?;
    // No fault of the cache keeps anyone from proving.
    let cached = match CachedParameters::lock(circuit.id(), SEED) {
        Ok(cached) => cached,
        Err(failure) => {
            tracing::warn!(%failure, "test parameters are made without the cache");
            return made("made for this run".into())
                .map(|(parameters, chosen)| (Held::Host(parameters), chosen));
        }
    };
    let started = Instant::now();
    if let Some(parameters) = cached.load(shape) {
        let origin = cached.path().display().to_string();
        let chosen = Chosen { bytes, kind, origin, setup: None, load: Some(started.elapsed()) };
        return Ok((Held::Host(Arc::new(parameters)), chosen));
    }
    let (parameters, mut chosen) = made(format!("made now, kept in {}", cached.path().display()))?;
    if let Err(failure) = cached.store(&parameters) {
        tracing::warn!(%failure, "test parameters not cached");
        chosen.origin = "made for this run".into();
    }
    Ok((Held::Host(parameters), chosen))
}

fn trapdoor(seed: Option<u64>) -> ToxicWaste {
    match seed {
        Some(seed) => ToxicWaste::random(&mut ChaCha20Rng::seed_from_u64(seed)),
        None => ToxicWaste::random(&mut OsRng),
    }
}

/// Test parameters from a seed.
fn setup(circuit: &Arc<CompiledCircuit>, seed: Option<u64>, choice: &Choice) -> Result<Parameters, Failure> {
    ensure_setup(circuit, choice, true)?;
    let _progress = Progress::start("making test parameters", None);
    groth16::setup_on(circuit, trapdoor(seed), choice.backend).map_err(|error| setup_failure(&error))
}

/// Test parameters from a seed, or from fresh randomness that is forgotten, into an empty file.
pub fn setup_into(
    circuit: &Arc<CompiledCircuit>,
    seed: Option<u64>,
    choice: &Choice,
    file: &File,
) -> Result<VerifyingKey, Failure> {
    ensure_setup(circuit, choice, choice.backend == Backend::Cpu)?;
    let _progress = Progress::start("making test parameters", None);
    groth16::setup_into(circuit, trapdoor(seed), choice.backend, file).map_err(|error| setup_failure(&error))
}

/// That there is memory for a setup, which may hold its points.
fn ensure_setup(circuit: &CompiledCircuit, choice: &Choice, holds: bool) -> Result<(), Failure> {
    let shape = Shape::from(circuit);
    // On the processor there are also the scalars that the points are multiples of.
    let scalars = match choice.backend {
        Backend::Cpu => 32 * (4 * shape.domain_size() + 6 * (shape.inputs + shape.aux)) as u64,
        _ => 0,
    };
    let points = if holds { shape.file_size() } else { 0 };
    memory::ensure_within(points + scalars, choice.host_memory, "making test parameters")
}

/// A parameter or key file that cannot be used.
pub fn read_failure(path: &Path, error: &ParameterError) -> Failure {
    Failure::new(parameter_kind(error), error).at(path.display())
}

impl Chosen {
    /// How the report names them.
    pub fn describe(&self) -> String {
        let size = Size(self.bytes);
        match self.kind {
            ParamsKind::Test => format!("test (forgeable), {size}, {}", self.origin),
            ParamsKind::Ceremony => format!("ceremony, {size}, {}", self.origin),
        }
    }
}

#[cfg(test)]
mod tests {
    use circuits::FilecoinCircuit;

    use super::*;

    /// As far as the verifying key goes, a file that is swapped between two looks at it is noticed.
    #[test]
    fn a_file_that_is_swapped_is_noticed() {
        let name = "window-2KiB".parse().unwrap();
        let circuit = CompiledCircuit::compile(&FilecoinCircuit::blank(name).unwrap()).unwrap();
        let circuit = Arc::new(circuit);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.params");
        let key = |seed| {
            let file = File::create(&path).unwrap();
            groth16::setup_into(&circuit, trapdoor(Some(seed)), Backend::Cpu, &file).unwrap()
        };
        let (first, second) = (key(1), key(2));
        let options = FileOptions { check_subgroups: false, digest: None };
        let fleet = Fleet::with_parameter_file(&circuit, &path, options, &[Backend::Cpu]).unwrap();
        assert_eq!(same_key(&first, &fleet).unwrap_err().kind, Kind::Input);
        same_key(&second, &fleet).unwrap();
    }
}
