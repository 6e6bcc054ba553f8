//! Which parameters a circuit is proved with: a given file, the ceremony's, or test parameters.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use circuits::{params_name, shape::CircuitName};
use groth16::{ParameterError, Parameters, ReadOptions, Shape, ToxicWaste, VerifyingKey};
use r1cs::CompiledCircuit;
use rand_chacha::ChaCha20Rng;
use rand_core::{OsRng, SeedableRng};
use serde::Serialize;

use crate::{
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

/// Whether anybody can know the trapdoor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ParamsKind {
    /// Made from a seed, or of unknown origin: forgeable.
    Test,
    /// Under the ceremony's name, with the circuit's exact section lengths.
    Ceremony,
}

/// Parameters, where they came from, and what they cost.
pub struct Chosen {
    /// The parameters.
    pub parameters: Arc<Parameters>,
    /// Test or ceremony.
    pub kind: ParamsKind,
    /// Where they came from, for people.
    pub origin: String,
    /// Making them, if they were made.
    pub setup: Option<Duration>,
    /// Reading them, if they were read.
    pub load: Option<Duration>,
}

/// A given file, the ceremony's file where there is one, or test parameters.
pub fn choose(name: CircuitName, circuit: &CompiledCircuit, given: Option<&Path>) -> Result<Chosen, Failure> {
    let shape = Shape::from(circuit);
    match given.map(Path::to_owned).or_else(|| ceremony_file(name)) {
        Some(path) => from_file(name, &path, &shape),
        None => test_parameters(circuit, &shape),
    }
}

/// The ceremony's file of this circuit, if the folder holds it.
fn ceremony_file(name: CircuitName) -> Option<PathBuf> {
    let folder = env::var_os(CEREMONY_FOLDER).filter(|folder| !folder.is_empty())?;
    let path = Path::new(&folder).join(params_name::file_stem(name) + ".params");
    path.exists().then_some(path)
}

/// Nobody vouches for the file, so that all its points are checked to be in the subgroup.
fn from_file(name: CircuitName, path: &Path, shape: &Shape) -> Result<Chosen, Failure> {
    let started = Instant::now();
    let bytes = fs::metadata(path).map_err(|error| Failure::io(path, &error))?.len();
    memory::ensure_available(bytes, "holding these parameters")
        .map_err(|failure| failure.at(path.display()))?;
    let progress = Progress::start("loading parameters", None);
    let options = ReadOptions { shape: Some(shape), digest: None };
    let parameters = Parameters::read_file(path, options).map_err(|error| read_failure(path, &error))?;
    parameters.check_subgroups(&mut OsRng).map_err(|error| read_failure(path, &error))?;
    drop(progress);
    let ceremony = path.file_name().is_some_and(|file| *file == *(params_name::file_stem(name) + ".params"));
    let kind = if ceremony { ParamsKind::Ceremony } else { ParamsKind::Test };
    let key_file = path.with_extension("vk");
    if ceremony && key_file.exists() {
        check_key(&parameters, &key_file)?;
    }
    let origin = path.display().to_string();
    Ok(Chosen { parameters: Arc::new(parameters), kind, origin, setup: None, load: Some(started.elapsed()) })
}

/// That the parameters carry the verifying key of this file.
pub fn check_key(parameters: &Parameters, key_file: &Path) -> Result<(), Failure> {
    let key = VerifyingKey::read_file(key_file).map_err(|error| read_failure(key_file, &error))?;
    if key != parameters.vk {
        return Err(Failure::input("the verifying key is not that of the parameters").at(key_file.display()));
    }
    Ok(())
}

/// Test parameters from the fixed seed: from the cache, or made and put there, or made for this run.
fn test_parameters(circuit: &CompiledCircuit, shape: &Shape) -> Result<Chosen, Failure> {
    if file_size(shape) >= CACHE_LIMIT {
        return made(circuit, "made for this run, too large for the cache".into());
    }
    let cached = CachedParameters::lock(circuit.id(), SEED)?;
    let started = Instant::now();
    if let Some(parameters) = cached.load(shape) {
        return Ok(Chosen {
            parameters: Arc::new(parameters),
            kind: ParamsKind::Test,
            origin: cached.path().display().to_string(),
            setup: None,
            load: Some(started.elapsed()),
        });
    }
    let chosen = made(circuit, format!("made now, kept in {}", cached.path().display()))?;
    match cached.store(&chosen.parameters) {
        Ok(()) => Ok(chosen),
        // A full disk does not keep anyone from proving.
        Err(failure) => {
            tracing::warn!(%failure, "test parameters not cached");
            Ok(Chosen { origin: "made for this run".into(), ..chosen })
        }
    }
}

fn made(circuit: &CompiledCircuit, origin: String) -> Result<Chosen, Failure> {
    let started = Instant::now();
    let parameters = Arc::new(setup(circuit, Some(SEED))?);
    Ok(Chosen { parameters, kind: ParamsKind::Test, origin, setup: Some(started.elapsed()), load: None })
}

/// Test parameters from a seed, or from fresh randomness that is forgotten.
pub fn setup(circuit: &CompiledCircuit, seed: Option<u64>) -> Result<Parameters, Failure> {
    let shape = Shape::from(circuit);
    // The points, and the scalars that they are multiples of.
    let scalars = 32 * (4 * shape.rows.next_power_of_two() + 6 * (shape.inputs + shape.aux)) as u64;
    memory::ensure_available(file_size(&shape) + scalars, "making test parameters")?;
    let waste = match seed {
        Some(seed) => ToxicWaste::random(&mut ChaCha20Rng::seed_from_u64(seed)),
        None => ToxicWaste::random(&mut OsRng),
    };
    let _progress = Progress::start("making test parameters", None);
    groth16::setup(circuit, waste).map_err(|error| Failure::new(Kind::Internal, error).at("setup"))
}

/// The bytes of a parameter file of this shape.
pub fn file_size(shape: &Shape) -> u64 {
    let b = shape.b_inputs + shape.b_aux;
    let g1 = shape.inputs + (shape.domain_size() - 1) + shape.aux + (shape.inputs + shape.a_aux) + b;
    864 + 6 * 4 + 96 * g1 as u64 + 192 * b as u64
}

/// A parameter or key file that cannot be used.
pub fn read_failure(path: &Path, error: &ParameterError) -> Failure {
    let kind = match error {
        ParameterError::Io { source, .. } => io_kind(source),
        _ => Kind::Input,
    };
    Failure::new(kind, error).at(path.display())
}

impl Chosen {
    /// How the report names them.
    pub fn describe(&self) -> String {
        let size = Size(self.parameters.file_size());
        match self.kind {
            ParamsKind::Test => format!("test (forgeable), {size}, {}", self.origin),
            ParamsKind::Ceremony => format!("ceremony, {size}, {}", self.origin),
        }
    }
}
