//! Writing compiled circuits.

use std::io::{BufWriter, Write};
use std::path::Path;

use blake3::Hasher;
use blstrs::Scalar;

use super::open::write_whole;
use super::{FileError, MAGIC, Sizes, VERSION};
use crate::compiled::CompiledCircuit;

/// Writes and hashes.
struct Hashing<W> {
    inner: W,
    hasher: Hasher,
}

impl<W: Write> Hashing<W> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.hasher.update_rayon(bytes);
        self.inner.write_all(bytes).map_err(FileError::io("write"))
    }

    /// Writes the checksum of everything put since the last.
    fn seal(&mut self) -> Result<(), FileError> {
        let checksum = self.hasher.finalize();
        self.hasher.reset();
        self.inner.write_all(checksum.as_bytes()).map_err(FileError::io("write"))
    }
}

impl CompiledCircuit {
    /// Writes the circuit's file, completely or not at all, as [`write_whole`] does.
    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        write_whole(
            path,
            |action, source| FileError::Io { action, source },
            |file| self.write_to(BufWriter::with_capacity(1 << 16, file)),
        )
    }

    /// Writes the circuit's file.
    pub fn write_to<W: Write>(&self, writer: W) -> Result<(), FileError> {
        let mut out = Hashing { inner: writer, hasher: Hasher::new() };
        out.put(&MAGIC)?;
        out.put(&VERSION.to_le_bytes())?;
        let name = self.id.name().as_bytes();
        out.put(&(name.len() as u32).to_le_bytes())?;
        out.put(name)?;
        out.put(self.id.digest())?;
        let digest = self.known_digest();
        out.put(&[u8::from(digest.is_some())])?;
        out.put(&digest.unwrap_or_default())?;
        for size in Sizes::of(self).to_array() {
            out.put(&size.to_le_bytes())?;
        }
        out.seal()?;

        let coefficients: Vec<u8> = self.coefficients.iter().flat_map(Scalar::to_bytes_le).collect();
        out.put(&coefficients)?;
        out.put(bytemuck::cast_slice(&self.bindings.columns))?;
        for matrix in self.prefix.matrices.iter().chain(&self.unit.matrices) {
            out.put(bytemuck::cast_slice(&matrix.starts))?;
            out.put(bytemuck::cast_slice(&matrix.columns))?;
            out.put(bytemuck::cast_slice(&matrix.coefficients))?;
        }
        for density in [&self.prefix_density, &self.unit_density] {
            for bitmap in [&density.a_aux, &density.b_input, &density.b_aux] {
                out.put(bytemuck::cast_slice(bitmap.words()))?;
            }
        }
        out.seal()?;
        out.inner.flush().map_err(FileError::io("write"))
    }
}
