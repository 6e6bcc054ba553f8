//! Which parameters a circuit is proved with: a given file, the ceremony's, or test parameters.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use circuits::{params_name, shape::CircuitName};
use groth16::{
    Backend, ParameterError, Parameters, ReadOptions, Shape, ToxicWaste, VerifyingKey, check_test_target,
};
use r1cs::CompiledCircuit;
use rand_chacha::ChaCha20Rng;
use rand_core::{OsRng, SeedableRng};
use serde::Serialize;

use crate::{
    backend::device_failure,
    cache::CachedParameters,
    failure::{Failure, Kind, io_kind},
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
pub enum Held {
    /// In memory.
    Host(Arc<Parameters>),
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

/// Whether [`choose`] will surely give test parameters: those it makes, and files without the ceremony's name.
pub fn surely_test(name: CircuitName, given: Option<&Path>) -> bool {
    match given {
        Some(path) => !has_ceremony_name(name, path),
        None => ceremony_file(name).is_none(),
    }
}

fn has_ceremony_name(name: CircuitName, path: &Path) -> bool {
    path.file_name().is_some_and(|file| *file == *(params_name::file_stem(name) + ".params"))
}

/// A given file, the ceremony's file where there is one, or test parameters.
pub fn choose(
    name: CircuitName,
    circuit: &Arc<CompiledCircuit>,
    given: Option<&Path>,
    backend: Backend,
) -> Result<(Held, Chosen), Failure> {
    let shape = Shape::from(&**circuit);
    match given.map(Path::to_owned).or_else(|| ceremony_file(name)) {
        Some(path) => from_file(name, &path, &shape),
        None => test_parameters(circuit, &shape, backend),
    }
}

/// The ceremony's file of this circuit, if the folder holds it.
fn ceremony_file(name: CircuitName) -> Option<PathBuf> {
    let folder = env::var_os(CEREMONY_FOLDER).filter(|folder| !folder.is_empty())?;
    let path = Path::new(&folder).join(params_name::file_stem(name) + ".params");
    path.exists().then_some(path)
}

/// Nobody vouches for the file, so that all its points are checked to be in the subgroup.
fn from_file(name: CircuitName, path: &Path, shape: &Shape) -> Result<(Held, Chosen), Failure> {
    let started = Instant::now();
    let found = fs::metadata(path).map_err(|error| Failure::io(path, &error))?.len();
    // What follows the last section is read past, not kept.
    let bytes = found.min(shape.file_size());
    memory::ensure_available(bytes, "holding these parameters")
        .map_err(|failure| failure.at(path.display()))?;
    let progress = Progress::start("loading parameters", None);
    let options = ReadOptions { shape: Some(shape), digest: None };
    let parameters = Parameters::read_file(path, options).map_err(|error| read_failure(path, &error))?;
    parameters.check_subgroups(&mut OsRng).map_err(|error| read_failure(path, &error))?;
    drop(progress);
    let named = has_ceremony_name(name, path);
    let ceremony = named && parameters.vk.gamma_is_one();
    if named && !ceremony {
        tracing::warn!(path = %path.display(), "test parameters under a ceremony's name: gamma_g2 is not the generator");
    }
    let kind = if ceremony { ParamsKind::Ceremony } else { ParamsKind::Test };
    let key_file = path.with_extension("vk");
    if named && key_file.exists() {
        check_key(&parameters.vk, &key_file)?;
    }
    let origin = path.display().to_string();
    let bytes = parameters.file_size();
    let chosen = Chosen { bytes, kind, origin, setup: None, load: Some(started.elapsed()) };
    Ok((Held::Host(Arc::new(parameters)), chosen))
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
    backend: Backend,
) -> Result<(Held, Chosen), Failure> {
    let bytes = shape.file_size();
    let kind = ParamsKind::Test;
    let made = |origin: String| {
        let started = Instant::now();
        let parameters = Arc::new(setup(circuit, Some(SEED), backend)?);
        let chosen = Chosen { bytes, kind, origin, setup: Some(started.elapsed()), load: None };
        Ok::<_, Failure>((parameters, chosen))
    };
    if bytes >= CACHE_LIMIT {
        let origin = "made for this run, too large for the cache".into();
        return match backend {
            Backend::Cpu => made(origin).map(|(parameters, chosen)| (Held::Host(parameters), chosen)),
            _ => {
                let chosen = Chosen { bytes, kind, origin, setup: None, load: None };
                Ok((Held::Trapdoor(trapdoor(Some(SEED))), chosen))
            }
        };
    }
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

/// Test parameters from a seed, or from fresh randomness that is forgotten.
pub fn setup(
    circuit: &Arc<CompiledCircuit>,
    seed: Option<u64>,
    backend: Backend,
) -> Result<Parameters, Failure> {
    let shape = Shape::from(&**circuit);
    // The points, and on the processor the scalars that they are multiples of.
    let scalars = match backend {
        Backend::Cpu => 32 * (4 * shape.rows.next_power_of_two() + 6 * (shape.inputs + shape.aux)) as u64,
        _ => 0,
    };
    memory::ensure_available(shape.file_size() + scalars, "making test parameters")?;
    let _progress = Progress::start("making test parameters", None);
    groth16::setup_on(circuit, trapdoor(seed), backend).map_err(|error| match error.device() {
        Some(error) => device_failure(error),
        None => Failure::new(Kind::Internal, error).at("setup"),
    })
}

/// A parameter or key file that cannot be used.
pub fn read_failure(path: &Path, error: &ParameterError) -> Failure {
    let kind = match error {
        ParameterError::Io { source, .. } => io_kind(source),
        ParameterError::OutOfMemory { .. } => Kind::Memory,
        _ => Kind::Input,
    };
    Failure::new(kind, error).at(path.display())
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
