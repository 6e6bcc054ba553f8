//! The user's cache folder: compiled circuits and test parameters.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use assignment::{CircuitId, StructuredCircuit};
use blake2b_simd::State;
use blstrs::Scalar;
use etcetera::BaseStrategy;
use groth16::{Parameters, ReadOptions, Shape};
use r1cs::{CompileError, CompiledCircuit, FileError, Source};
use rustix::fs::OFlags;

use crate::{
    failure::Failure,
    files::{self, Outputs},
    parameters::check_targets,
};

/// The name of our folder within the user's cache folder.
const FOLDER: &str = "filecoin-groth16";
/// Longer digest files are not ours: theirs is 32 hex digits and the end of a line.
const DIGEST_LIMIT: u64 = 64;

/// Where files of this kind (`circuits`, `parameters`) are kept. The folder is made if there is none.
fn folder(kind: &str) -> Result<PathBuf, Failure> {
    let base = etcetera::choose_base_strategy()
        .map_err(|error| Failure::input(format_args!("no cache folder: {error}")).at("XDG_CACHE_HOME"))?;
    let folder = base.cache_dir().join(FOLDER).join(kind);
    fs::create_dir_all(&folder).map_err(|error| Failure::io(&folder, &error))?;
    Ok(folder)
}

/// The file of a compiled circuit.
pub fn compiled_circuit(id: &CircuitId) -> Result<PathBuf, Failure> {
    Ok(folder("circuits")?.join(file_stem(id) + ".r1cs"))
}

/// The compiled circuit from its file in the cache, or compiled and put there; and whether it was in the file.
pub fn load_or_compile<C: StructuredCircuit<Scalar>>(
    circuit: &C,
) -> Result<(CompiledCircuit, bool), CompileError> {
    match compiled_circuit(&circuit.id()) {
        // The file is written as our other outputs are, so that an interrupt leaves nothing of it.
        Ok(file) => CompiledCircuit::load_or_compile_with(&file, circuit, |compiled| {
            let mut outputs = Outputs::new();
            outputs.add(&file, |out| write_compiled(compiled, out))?;
            outputs.publish()
        })
        .map(|(compiled, from)| (compiled, matches!(from, Source::File))),
        // No fault of the cache keeps anyone from proving.
        Err(failure) => {
            tracing::warn!(%failure, "compiled without the cache");
            CompiledCircuit::compile(circuit).map(|compiled| (compiled, false))
        }
    }
}

/// Writes a compiled circuit's file.
pub fn write_compiled(compiled: &CompiledCircuit, out: impl Write) -> io::Result<()> {
    compiled.write_to(out).map_err(|error| match error {
        FileError::Io { source, .. } => source,
        other => io::Error::other(other),
    })
}

/// A file name for this circuit; another version of the circuit has another.
fn file_stem(id: &CircuitId) -> String {
    format!("{}-{}", id.name(), hex::encode(&id.digest()[..8]))
}

/// Test parameters in the cache: a parameter file and, written after it, its digest.
///
/// Whoever holds one holds the lock on these parameters, so that of two processes that need them one makes them and the
/// other waits. Should locks not work here, both make them; the files are the same and appear by renaming.
pub struct CachedParameters {
    path: PathBuf,
    digest: PathBuf,
    _lock: File,
}

impl CachedParameters {
    /// Waits for the lock on this circuit's parameters from this seed. A cache that cannot be used, or that holds a ceremony's
    /// files, is an error.
    pub fn lock(id: &CircuitId, seed: u64) -> Result<Self, Failure> {
        let stem = folder("parameters")?.join(format!("test-{seed}-{}", file_stem(id)));
        let lock = files::with_suffix(&stem, "lock");
        let [path, digest] = ["params", "digest"].map(|suffix| files::with_suffix(&stem, suffix));
        check_targets(&[path.clone(), digest.clone()])?;
        // Others' links and pipes under the lock's name are not followed; nothing is truncated.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).custom_flags(flags.bits() as i32);
        let _lock = options.open(&lock).map_err(|error| Failure::io(&lock, &error))?;
        let locked = match _lock.try_lock() {
            Err(TryLockError::WouldBlock) => {
                tracing::warn!(path = %lock.display(), "waiting for another process that makes these parameters");
                _lock.lock()
            }
            Err(TryLockError::Error(error)) => Err(error),
            Ok(()) => Ok(()),
        };
        if let Err(error) = locked {
            tracing::warn!(%error, "the cache cannot be locked");
        }
        Ok(Self { path, digest, _lock })
    }

    /// The parameter file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The parameters, if the file is there, has the digest that was noted, and fits the circuit. Its points were in the subgroup
    /// when it was written, and the digest says that it has not changed.
    pub fn load(&self, shape: &Shape) -> Option<Parameters> {
        let digest = files::read(&self.digest, DIGEST_LIMIT).ok()?;
        let digest = std::str::from_utf8(&digest).ok()?.trim();
        let options = ReadOptions { digest: Some(digest), shape: Some(shape) };
        match Parameters::read_file(&self.path, options) {
            Ok(parameters) => Some(parameters),
            Err(error) => {
                tracing::warn!(path = %self.path.display(), %error, "cached test parameters are made anew");
                None
            }
        }
    }

    /// Writes the parameters and their digest.
    pub fn store(&self, parameters: &Parameters) -> Result<(), Failure> {
        let mut outputs = Outputs::new();
        let mut state = State::new();
        outputs.add(&self.path, |out| parameters.write(&mut Hashing { out, state: &mut state }))?;
        let digest = &state.finalize().to_hex()[..32];
        outputs.add(&self.digest, |out| writeln!(out, "{digest}"))?;
        outputs.publish()
    }
}

/// Hashes what it writes.
struct Hashing<'a, W> {
    out: W,
    state: &'a mut State,
}

impl<W: Write> Write for Hashing<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.state.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
