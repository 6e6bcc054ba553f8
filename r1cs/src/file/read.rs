//! Reading compiled circuits, trusting nothing.

use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;

use assignment::{Bitmap, CircuitId};
use blake3::Hasher;
use blstrs::Scalar;
use ff::Field;
use rayon::prelude::*;

use super::{FileError, MAGIC, MAX_NAME, Sizes, VERSION};
use crate::compiled::{Bindings, CompiledCircuit, check_total};
use crate::density::BlockDensity;
use crate::matrix::{Block, Layout, Matrix};

/// Reads and hashes, knowing how much there is.
struct Hashing<R> {
    inner: R,
    hasher: Hasher,
    position: u64,
    len: u64,
}

impl<R: Read> Hashing<R> {
    /// Fills `bytes`, unless the file ends before.
    fn fill(&mut self, section: &'static str, bytes: &mut [u8]) -> Result<(), FileError> {
        let expected = self.position + bytes.len() as u64;
        let truncated = |got| FileError::Truncated { section, expected, got };
        if expected > self.len {
            return Err(truncated(self.len));
        }
        self.inner.read_exact(bytes).map_err(|error| match error.kind() {
            // The file has shrunk since its length was taken.
            io::ErrorKind::UnexpectedEof => truncated(self.position),
            _ => FileError::Io { action: "read", source: error },
        })?;
        self.position += bytes.len() as u64;
        self.hasher.update_rayon(bytes);
        Ok(())
    }

    fn array<const N: usize>(&mut self, section: &'static str) -> Result<[u8; N], FileError> {
        let mut bytes = [0; N];
        self.fill(section, &mut bytes)?;
        Ok(bytes)
    }

    /// `count` integers. The caller has checked that so many remain.
    fn integers<T: bytemuck::Pod>(&mut self, section: &'static str, count: u64) -> Result<Vec<T>, FileError> {
        let mut integers = vec![T::zeroed(); count as usize];
        self.fill(section, bytemuck::cast_slice_mut(&mut integers))?;
        Ok(integers)
    }

    /// Compares the checksum of everything since the last.
    fn check_seal(&mut self, section: &'static str) -> Result<(), FileError> {
        let computed = self.hasher.finalize();
        let stored: [u8; 32] = self.array("checksum")?;
        self.hasher.reset();
        if computed != stored {
            return Err(FileError::Checksum { section });
        }
        Ok(())
    }
}

impl CompiledCircuit {
    /// Reads a circuit's file, which must be that of the circuit asked for.
    pub fn load(path: &Path, id: &CircuitId) -> Result<Self, FileError> {
        let file = super::open_regular(path).map_err(FileError::io("open"))?;
        let len = file.metadata().map_err(FileError::io("examine"))?.len();
        Self::read_from(file, len, id)
    }

    /// Reads a circuit's file of `len` bytes. Allocates no more than that in total, whatever it says.
    pub fn read_from<R: Read>(reader: R, len: u64, id: &CircuitId) -> Result<Self, FileError> {
        let mut file = Hashing { inner: reader, hasher: Hasher::new(), position: 0, len };
        let (digest, sizes) = read_header(&mut file, id)?;
        check_length(&sizes, file.position, len)?;
        read_body(&mut file, id, digest, &sizes)
    }
}

fn read_header<R: Read>(
    file: &mut Hashing<R>,
    id: &CircuitId,
) -> Result<(Option<[u8; 32]>, Sizes), FileError> {
    let magic: [u8; 8] = file.array("magic")?;
    if magic != MAGIC {
        return Err(FileError::Foreign);
    }
    let version = u32::from_le_bytes(file.array("version")?);
    if version != VERSION {
        return Err(FileError::Version { got: version });
    }
    let name_len = u32::from_le_bytes(file.array("key")?) as usize;
    if name_len > MAX_NAME {
        let reason = "the name is too long";
        return Err(FileError::Content { section: "key", index: 0, reason });
    }
    let mut name = vec![0; name_len];
    file.fill("key", &mut name)?;
    let key_digest: [u8; 32] = file.array("key")?;
    let [known] = file.array("constraint digest")?;
    let digest: [u8; 32] = file.array("constraint digest")?;
    let mut sizes = [0; Sizes::COUNT];
    for size in &mut sizes {
        *size = u64::from_le_bytes(file.array("sizes")?);
    }
    file.check_seal("header")?;
    if name != id.name().as_bytes() {
        let got = String::from_utf8_lossy(&name).into_owned();
        return Err(FileError::OtherCircuit { expected: id.name().into(), got });
    }
    if key_digest != *id.digest() {
        return Err(FileError::Stale { name: id.name().into() });
    }
    Ok(((known == 1).then_some(digest), Sizes::from_array(sizes)))
}

/// The file must be exactly as long as its sizes make it.
fn check_length(sizes: &Sizes, header: u64, len: u64) -> Result<(), FileError> {
    let narrow = |bytes: u128| u64::try_from(bytes).unwrap_or(u64::MAX);
    let mut end = u128::from(header);
    let mut cut = None;
    for (section, bytes) in sizes.sections() {
        end += bytes;
        if cut.is_none() && end > u128::from(len) {
            cut = Some(section);
        }
    }
    match cut {
        Some(section) => Err(FileError::Truncated { section, expected: narrow(end), got: len }),
        None if end < u128::from(len) => Err(FileError::Trailing { expected: narrow(end), got: len }),
        None => Ok(()),
    }
}

fn read_body<R: Read>(
    file: &mut Hashing<R>,
    id: &CircuitId,
    digest: Option<[u8; 32]>,
    sizes: &Sizes,
) -> Result<CompiledCircuit, FileError> {
    let content = |section, index, reason| FileError::Content { section, index, reason };
    let [prefix_layout, unit_layout] =
        sizes.layouts().ok_or(content("sizes", 0, "more than 2^32 - 1 variables"))?;

    let mut bytes = vec![0; 32 * sizes.coefficients as usize];
    file.fill("coefficients", &mut bytes)?;
    let slots = sizes.slots as usize;
    let bindings = Bindings { slots, columns: file.integers("bindings", sizes.units * sizes.slots)? };
    let prefix = read_block(file, prefix_layout, sizes.rows[0], sizes.nnz[0])?;
    let unit = read_block(file, unit_layout, sizes.rows[1], sizes.nnz[1])?;
    let prefix_density = read_density(file, prefix_layout)?;
    let unit_density = read_density(file, unit_layout)?;
    file.check_seal("body")?;

    // From here on, whoever made the file made it on purpose; it must still not make us panic.
    let units = usize::try_from(sizes.units).unwrap_or(usize::MAX);
    if units == 0 {
        return Err(content("sizes", 0, "no units"));
    }
    check_total(&prefix, &unit, units)
        .map_err(|_| content("sizes", 0, "more than 2^32 - 1 rows or columns"))?;
    let coefficients = parse_coefficients(&bytes)?;
    let prefix_columns = prefix_layout.inputs + prefix_layout.aux;
    if let Some(index) = bindings.columns.iter().position(|column| *column >= prefix_columns) {
        return Err(content("bindings", index, "not a variable of the prefix"));
    }
    let matrices =
        [&prefix, &unit].map(|block| block.matrices.each_ref().map(|matrix| (matrix, block.bounds[4])));
    let checks: Vec<_> = matrices
        .into_par_iter()
        .flatten_iter()
        .map(|(matrix, columns)| check_matrix(matrix, columns, coefficients.len()))
        .collect();
    checks.into_iter().collect::<Result<(), _>>()?;
    let cell = OnceLock::new();
    if let Some(digest) = digest {
        let _ = cell.set(digest);
    }
    Ok(CompiledCircuit {
        id: id.clone(),
        units,
        coefficients,
        prefix,
        unit,
        bindings,
        prefix_density,
        unit_density,
        digest: cell,
    })
}

fn read_block<R: Read>(
    file: &mut Hashing<R>,
    layout: Layout,
    rows: u64,
    nnz: [u64; 3],
) -> Result<Block, FileError> {
    let reason = "more than 2^32 - 1 columns";
    let bounds = layout.bounds().ok_or(FileError::Content { section: "sizes", index: 0, reason })?;
    let mut matrix = |nnz| {
        Ok::<_, FileError>(Matrix {
            starts: file.integers("row starts", rows + 1)?,
            columns: file.integers("columns", nnz)?,
            coefficients: file.integers("coefficient numbers", nnz)?,
        })
    };
    let [a, b, c] = nnz;
    Ok(Block { layout, bounds, matrices: [matrix(a)?, matrix(b)?, matrix(c)?] })
}

fn read_density<R: Read>(file: &mut Hashing<R>, layout: Layout) -> Result<BlockDensity, FileError> {
    let mut bitmap = |bits: u32| {
        let words = file.integers("densities", u64::from(bits).div_ceil(64))?;
        let index = words.len().saturating_sub(1);
        let reason = "bits beyond the last variable";
        Bitmap::from_words(words, bits as usize).ok_or(FileError::Content {
            section: "densities",
            index,
            reason,
        })
    };
    Ok(BlockDensity {
        a_aux: bitmap(layout.aux)?,
        b_input: bitmap(layout.inputs)?,
        b_aux: bitmap(layout.aux)?,
    })
}

fn parse_coefficients(bytes: &[u8]) -> Result<Vec<Scalar>, FileError> {
    let content = |index, reason| FileError::Content { section: "coefficients", index, reason };
    let (chunks, _) = bytes.as_chunks::<32>();
    let parse = |(index, chunk): (usize, &[u8; 32])| {
        let value = Option::<Scalar>::from(Scalar::from_bytes_le(chunk));
        let value = value.ok_or(content(index, "not below the field's modulus"))?;
        if value == Scalar::ZERO { Err(content(index, "zero")) } else { Ok(value) }
    };
    let coefficients = chunks.iter().enumerate().map(parse).collect::<Result<Vec<_>, _>>()?;
    // The products take these two for granted.
    match coefficients.get(..2) {
        Some([one, minus_one]) if *one == Scalar::ONE && *minus_one == -Scalar::ONE => Ok(coefficients),
        _ => Err(content(0, "the first two are not 1 and -1")),
    }
}

fn check_matrix(matrix: &Matrix, columns: u32, coefficients: usize) -> Result<(), FileError> {
    let content = |section, index, reason| Err(FileError::Content { section, index, reason });
    if matrix.starts.first() != Some(&0) {
        return content("row starts", 0, "not zero");
    }
    if let Some(row) = matrix.starts.windows(2).position(|pair| pair[0] > pair[1]) {
        return content("row starts", row, "greater than the next");
    }
    if matrix.starts.last().map(|end| *end as usize) != Some(matrix.nnz()) {
        return content("row starts", matrix.rows(), "not the number of terms");
    }
    // The greatest is found at the speed of memory; where it is comes after.
    if matrix.columns.iter().max().is_some_and(|greatest| *greatest >= columns) {
        let index = matrix.columns.iter().position(|column| *column >= columns);
        return content("columns", index.unwrap_or_default(), "beyond the last column");
    }
    let beyond = |number: &u16| usize::from(*number) >= coefficients;
    if matrix.coefficients.iter().max().is_some_and(beyond) {
        let index = matrix.coefficients.iter().position(beyond);
        return content("coefficient numbers", index.unwrap_or_default(), "beyond the last coefficient");
    }
    Ok(())
}
