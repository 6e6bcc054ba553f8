//! The user's cache folder: compiled circuits and test parameters.

use std::{fs, path::PathBuf};

use assignment::CircuitId;
use etcetera::BaseStrategy;

use crate::failure::Failure;

/// The name of our folder within the user's cache folder.
const FOLDER: &str = "filecoin-groth16";

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

/// A file name for this circuit; another version of the circuit has another.
fn file_stem(id: &CircuitId) -> String {
    format!("{}-{}", id.name(), hex::encode(&id.digest()[..8]))
}
