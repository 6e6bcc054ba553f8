//! Reading sections of points from a stream whose length is known.

use std::io::{self, Read};

use blake2b_simd::State;
use rayon::prelude::*;

use crate::encoding::{Encoding, decode};
use crate::{ParameterError, Section, Shape};

/// Bytes that are read, then decoded in parallel.
const CHUNK: usize = 1 << 22;

/// A file that shrinks while it is read ends early although its length promised more.
pub(crate) fn short_read(section: Section, index: usize, source: io::Error) -> ParameterError {
    match source.kind() {
        io::ErrorKind::UnexpectedEof => ParameterError::Truncated { section, index },
        _ => ParameterError::Io { action: format!("reading section {section}, element {index}"), source },
    }
}

/// A reader that counts what remains and hashes what it reads.
pub(crate) struct Source<R> {
    reader: R,
    remaining: u64,
    hasher: Option<State>,
    buffer: Vec<u8>,
}

impl<R: Read> Source<R> {
    pub(crate) fn new(reader: R, len: u64, with_digest: bool) -> Self {
        Self { reader, remaining: len, hasher: with_digest.then(State::new), buffer: Vec::new() }
    }

    pub(crate) fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Fills the buffer with the next `len` bytes, which are known to remain.
    fn fill(&mut self, len: usize) -> io::Result<&[u8]> {
        self.buffer.resize(len, 0);
        self.reader.read_exact(&mut self.buffer)?;
        self.remaining -= len as u64;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&self.buffer);
        }
        Ok(&self.buffer)
    }

    /// One point.
    pub(crate) fn point<C: Encoding>(&mut self, section: Section) -> Result<C::Affine, ParameterError> {
        if self.remaining < C::BYTES as u64 {
            return Err(ParameterError::Truncated { section, index: 0 });
        }
        let bytes = self.fill(C::BYTES).map_err(|source| short_read(section, 0, source))?;
        decode::<C>(bytes, false).map_err(|source| ParameterError::Point { section, index: 0, source })
    }

    /// A section's length: the number of its points, which are known to remain.
    pub(crate) fn count<C: Encoding>(&mut self, section: Section) -> Result<usize, ParameterError> {
        if self.remaining < 4 {
            return Err(ParameterError::Truncated { section, index: 0 });
        }
        let bytes = self.fill(4).map_err(|source| short_read(section, 0, source))?;
        let count = bytes.iter().fold(0, |count, byte| count << 8 | u32::from(*byte));
        let needed = u64::from(count) * C::BYTES as u64;
        if needed > self.remaining {
            return Err(ParameterError::SectionLength { section, count, needed, remaining: self.remaining });
        }
        Ok(count as usize)
    }

    /// The points of a section from point `first` on, as many as `out` holds: canonical, on the curve, none at infinity.
    pub(crate) fn next_points<C: Encoding>(
        &mut self,
        section: Section,
        first: usize,
        out: &mut [C::Affine],
    ) -> Result<(), ParameterError> {
        for (k, targets) in out.chunks_mut(CHUNK / C::BYTES).enumerate() {
            let first = first + k * (CHUNK / C::BYTES);
            let len = targets.len() * C::BYTES;
            if len as u64 > self.remaining {
                return Err(ParameterError::Truncated { section, index: first });
            }
            let bytes = self.fill(len).map_err(|source| short_read(section, first, source))?;
            let bad = targets
                .par_iter_mut()
                .zip(bytes.par_chunks_exact(C::BYTES))
                .enumerate()
                .with_min_len(64)
                .filter_map(|(i, (target, bytes))| match decode::<C>(bytes, false) {
                    Ok(point) => {
                        *target = point;
                        None
                    }
                    Err(source) => Some((first + i, source)),
                })
                .min_by_key(|(index, _)| *index);
            if let Some((index, source)) = bad {
                return Err(ParameterError::Point { section, index, source });
            }
        }
        Ok(())
    }

    /// A whole section, of the circuit's length if that is known. Otherwise memory grows with what was read and found good, not with
    /// what the file claims.
    pub(crate) fn points<C: Encoding>(
        &mut self,
        section: Section,
        shape: Option<&Shape>,
    ) -> Result<Vec<C::Affine>, ParameterError> {
        let count = self.count::<C>(section)?;
        let mut out = Vec::new();
        let memory = |_| ParameterError::OutOfMemory { section, count };
        if let Some(shape) = shape {
            shape.check(section, count)?;
            out.try_reserve_exact(count).map_err(memory)?;
        }
        while out.len() < count {
            let first = out.len();
            let end = count.min(first + CHUNK / C::BYTES);
            out.try_reserve(end - first).map_err(memory)?;
            out.resize(end, C::Affine::default());
            self.next_points::<C>(section, first, &mut out[first..])?;
        }
        Ok(out)
    }

    /// Reads what is left, and gives the digest if it was asked for: the first half of BLAKE2b-512, in hex.
    pub(crate) fn finish(mut self) -> Result<Option<String>, ParameterError> {
        if self.hasher.is_some() {
            while self.remaining > 0 {
                let len = self.remaining.min(CHUNK as u64) as usize;
                self.fill(len).map_err(ParameterError::io("reading the bytes after the last section"))?;
            }
        }
        Ok(self.hasher.map(|hasher| hasher.finalize().to_hex()[..32].to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use msm_gpu::G1;

    /// Four thousand million points are claimed, and their bytes too; none is there.
    #[test]
    fn memory_follows_what_is_read() {
        let lie = [0xff; 4];
        let len = 4 + 96 * u64::from(u32::MAX);
        let mut source = Source::new(&lie[..], len, false);
        let result = source.points::<G1>(Section::H, None);
        assert!(matches!(result, Err(ParameterError::Truncated { section: Section::H, index: 0 })));
    }

    #[test]
    fn lengths_are_compared_before_points_are_read() {
        let shape = Shape { inputs: 1, aux: 3, rows: 4, a_aux: 1, b_inputs: 0, b_aux: 1 };
        let bytes = [&[0, 0, 0, 2][..], &[0; 192]].concat();
        let mut source = Source::new(&bytes[..], bytes.len() as u64, false);
        let result = source.points::<G1>(Section::L, Some(&shape));
        assert!(matches!(result, Err(ParameterError::Shape { section: Section::L, expected: 3, got: 2 })));
    }
}
