//! Compiled circuits on disk.
//!
//! All numbers are little-endian. A file is, without gaps:
//!
//! | part | content |
//! | --- | --- |
//! | magic | 8 bytes |
//! | version | u32 |
//! | key | u32 length of the name, the name in UTF-8, the 32-byte digest of the circuit's key |
//! | constraint digest | one byte, 1 if it is known, and 32 bytes |
//! | sizes | u64: units; inputs and aux of the prefix; inputs, aux and bindings of the unit; rows of the prefix and of the unit; terms of A, B, C of the prefix, of the unit; coefficients |
//! | header checksum | BLAKE3 of everything before |
//! | coefficients | 32 bytes each, canonical |
//! | bindings | u32, by copy, then by slot |
//! | matrices | A, B, C of the prefix, then of the unit, each: row starts (u32, one more than rows), columns (u32), coefficient numbers (u16) |
//! | densities | u64 words of the bitmaps: A over aux, B over inputs, B over aux, of the prefix, then of the unit |
//! | checksum | BLAKE3 of everything after the header checksum |

mod open;
mod read;
mod write;

use std::fmt;
use std::io;
use std::path::Path;

use assignment::{CircuitId, StructuredCircuit};
use blstrs::Scalar;

use crate::compiled::CompiledCircuit;
use crate::error::CompileError;
use crate::matrix::Layout;

// Sections are read and written as the memory of integers.
const _: () =
    assert!(cfg!(target_endian = "little"), "the file format is written for little-endian machines");

pub use open::{NotAFile, check_target, folder_of, open_regular, write_whole};

const MAGIC: [u8; 8] = *b"\x89r1cs\r\n\x1a";
const VERSION: u32 = 1;
/// Longer names are not ours.
const MAX_NAME: usize = 1024;

/// A compiled circuit's file that cannot be used or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system says no.
    #[error("{action}: {source}")]
    Io {
        /// What was attempted.
        action: &'static str,
        /// What it said.
        source: io::Error,
    },
    /// The file does not start like a compiled circuit.
    #[error("not a compiled circuit: it starts with other bytes")]
    Foreign,
    /// The file has another version's format.
    #[error("format version {got}, but this program reads {VERSION}")]
    Version {
        /// The file's.
        got: u32,
    },
    /// The file ends early.
    #[error("truncated in {section}: expected {expected} bytes, got {got}")]
    Truncated {
        /// Where it ends.
        section: &'static str,
        /// How long the file should be, or at least the section's end.
        expected: u64,
        /// How long it is.
        got: u64,
    },
    /// The file goes on after its end.
    #[error("expected {expected} bytes, got {got}")]
    Trailing {
        /// How long the file should be.
        expected: u64,
        /// How long it is.
        got: u64,
    },
    /// A checksum does not match: the file is damaged.
    #[error("damaged: the checksum of the {section} does not match")]
    Checksum {
        /// `header` or `body`.
        section: &'static str,
    },
    /// The file holds another circuit.
    #[error("holds circuit {got}, not {expected}")]
    OtherCircuit {
        /// The name asked for.
        expected: String,
        /// The name in the file.
        got: String,
    },
    /// The file holds an earlier form of the circuit: the name is right, the key's digest is not.
    #[error("stale: circuit {name} has changed since")]
    Stale {
        /// The circuit.
        name: String,
    },
    /// The checksums match, but what they cover is no circuit.
    #[error("{section}, element {index}: {reason}")]
    Content {
        /// The section.
        section: &'static str,
        /// The element within the section.
        index: usize,
        /// What is wrong.
        reason: &'static str,
    },
}

impl FileError {
    fn io(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, source }
    }
}

/// The numbers that give every section's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sizes {
    units: u64,
    prefix_inputs: u64,
    prefix_aux: u64,
    unit_inputs: u64,
    unit_aux: u64,
    slots: u64,
    /// Rows of the prefix and of the unit.
    rows: [u64; 2],
    /// Terms of A, B and C of the prefix and of the unit.
    nnz: [[u64; 3]; 2],
    coefficients: u64,
}

impl Sizes {
    const COUNT: usize = 15;

    fn to_array(self) -> [u64; Self::COUNT] {
        let Self { units, prefix_inputs, prefix_aux, unit_inputs, unit_aux, slots, rows, nnz, coefficients } =
            self;
        let [[pa, pb, pc], [ua, ub, uc]] = nnz;
        let [prefix_rows, unit_rows] = rows;
        [
            units,
            prefix_inputs,
            prefix_aux,
            unit_inputs,
            unit_aux,
            slots,
            prefix_rows,
            unit_rows,
            pa,
            pb,
            pc,
            ua,
            ub,
            uc,
            coefficients,
        ]
    }

    fn from_array(array: [u64; Self::COUNT]) -> Self {
        let [
            units,
            prefix_inputs,
            prefix_aux,
            unit_inputs,
            unit_aux,
            slots,
            prefix_rows,
            unit_rows,
            pa,
            pb,
            pc,
            ua,
            ub,
            uc,
            coefficients,
        ] = array;
        let (rows, nnz) = ([prefix_rows, unit_rows], [[pa, pb, pc], [ua, ub, uc]]);
        Self { units, prefix_inputs, prefix_aux, unit_inputs, unit_aux, slots, rows, nnz, coefficients }
    }

    fn of(circuit: &CompiledCircuit) -> Self {
        let (prefix, unit) = (&circuit.prefix, &circuit.unit);
        Self {
            units: circuit.units as u64,
            prefix_inputs: prefix.layout.inputs.into(),
            prefix_aux: prefix.layout.aux.into(),
            unit_inputs: unit.layout.inputs.into(),
            unit_aux: unit.layout.aux.into(),
            slots: circuit.bindings.slots as u64,
            rows: [prefix, unit].map(|block| block.rows() as u64),
            nnz: [prefix, unit].map(|block| [0, 1, 2].map(|m| block.matrices[m].nnz() as u64)),
            coefficients: circuit.coefficients.len() as u64,
        }
    }

    /// The columns of the prefix and of the unit; `None` where they are too many.
    fn layouts(&self) -> Option<[Layout; 2]> {
        let narrow = |n: u64| u32::try_from(n).ok();
        let prefix = Layout {
            inputs: narrow(self.prefix_inputs)?,
            aux: narrow(self.prefix_aux)?,
            ..Layout::default()
        };
        let unit = Layout {
            shared_inputs: prefix.inputs,
            inputs: narrow(self.unit_inputs)?,
            shared_aux: prefix.aux,
            aux: narrow(self.unit_aux)?,
            slots: narrow(self.slots)?,
        };
        Some([prefix, unit])
    }

    /// Each section's name and length in bytes, in order.
    fn sections(&self) -> Vec<(&'static str, u128)> {
        let wide = |n: u64| u128::from(n);
        let words = |bits: u64| 8 * wide(bits).div_ceil(64);
        let mut sections = vec![
            ("coefficients", 32 * wide(self.coefficients)),
            ("bindings", 4 * wide(self.units) * wide(self.slots)),
        ];
        for (rows, nnz) in self.rows.into_iter().zip(self.nnz) {
            for nnz in nnz {
                sections.push(("row starts", 4 * (wide(rows) + 1)));
                sections.push(("columns", 4 * wide(nnz)));
                sections.push(("coefficient numbers", 2 * wide(nnz)));
            }
        }
        for (inputs, aux) in [(self.prefix_inputs, self.prefix_aux), (self.unit_inputs, self.unit_aux)] {
            sections.extend([
                ("densities", words(aux)),
                ("densities", words(inputs)),
                ("densities", words(aux)),
            ]);
        }
        sections.push(("checksum", 32));
        sections
    }
}

/// Where [`CompiledCircuit::load_or_compile`] took the circuit from. `E` is why a file could not be written.
#[derive(Debug)]
pub enum Source<E = FileError> {
    /// From the file.
    File,
    /// Compiled anew.
    Compiled {
        /// Why the file would not do; `None` if there was none.
        reason: Option<FileError>,
        /// Why the new file could not be written, if it could not.
        not_written: Option<E>,
    },
}

impl CompiledCircuit {
    /// The circuit from its file, or compiled and written to the file if that is missing, stale, damaged or another's.
    pub fn load_or_compile<C: StructuredCircuit<Scalar>>(
        path: &Path,
        circuit: &C,
    ) -> Result<(Self, Source), CompileError> {
        Self::load_or_compile_with(path, circuit, |compiled| compiled.save(path))
    }

    /// The same with another way to write the file than [`save`](Self::save).
    pub fn load_or_compile_with<C: StructuredCircuit<Scalar>, E: fmt::Display>(
        path: &Path,
        circuit: &C,
        save: impl FnOnce(&Self) -> Result<(), E>,
    ) -> Result<(Self, Source<E>), CompileError> {
        let id: CircuitId = circuit.id();
        let reason = match Self::load(path, &id) {
            Ok(compiled) => return Ok((compiled, Source::File)),
            Err(FileError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(error),
        };
        if let Some(reason) = &reason {
            tracing::warn!(circuit = %id, path = %path.display(), %reason, "compiled circuit rebuilt");
        }
        let compiled = Self::compile(circuit)?;
        let not_written = save(&compiled).err();
        if let Some(error) = &not_written {
            tracing::warn!(circuit = %id, path = %path.display(), %error, "compiled circuit not saved");
        }
        Ok((compiled, Source::Compiled { reason, not_written }))
    }
}
