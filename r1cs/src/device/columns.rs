//! The transposed matrices times a vector.

use std::ops::Range;

use gpu::{DeviceBuffer, Fr, Pool, Stream};

use super::DeviceCircuit;
use crate::MatrixName;
use crate::ffi;

/// 64-bit counters in which a column is summed.
const COUNTERS: usize = 8;

impl DeviceCircuit {
    /// `Σ_row M[row, j]·v[row]` for the columns `j` of a range, inputs first, over all rows, the input rows included: with the
    /// Lagrange polynomials at a point for `v`, the value there of each variable's polynomial. Queued; does not wait. The result
    /// is wiped when it is released.
    ///
    /// Takes [`transposed_product_bytes`](Self::transposed_product_bytes) of the pool, most of it for as long as the work lasts.
    /// Every term of the matrix is visited, whatever the range.
    ///
    /// # Errors
    /// [`gpu::Error::Length`] if `v` has fewer elements than there are rows, or the range ends behind the last column.
    pub fn transposed_product(
        &self,
        matrix: MatrixName,
        v: &DeviceBuffer<Fr>,
        columns: Range<usize>,
        pool: &Pool,
        stream: &Stream,
    ) -> Result<DeviceBuffer<Fr>, gpu::Error> {
        let circuit = self.circuit();
        let all = circuit.num_inputs() + circuit.num_aux();
        if columns.end > all {
            let (expected, got) = (all as u64, columns.end as u64);
            return Err(gpu::Error::Length { what: "the end of a range of columns", expected, got });
        }
        let which = match matrix {
            MatrixName::A => 0,
            MatrixName::B => 1,
            MatrixName::C => 2,
        };
        let mut counters = pool.allocate::<u64>(COUNTERS * columns.len(), stream)?.wipe_on_release();
        counters.fill_bytes(stream, 0)?;
        let mut out = pool.allocate::<Fr>(columns.len(), stream)?.wipe_on_release();
        let rows = v.read(stream)?;
        {
            let (slots, dictionary) = (self.slots().read(stream)?, self.dictionary(stream)?);
            // A compiled circuit's columns fit in 32 bits.
            let (first, num_inputs) = (columns.start as u32, circuit.num_inputs() as u32);
            let columns = ffi::Columns { counters: counters.write(stream)?, first, num_inputs };
            for block in self.blocks(stream)? {
                ffi::scatter(stream, &block, &slots, which, &dictionary, &rows, &columns)?;
            }
            if matrix == MatrixName::A {
                ffi::scatter_inputs(stream, &rows, circuit.num_constraints(), &columns)?;
            }
        }
        ffi::reduce(stream, &counters.read(stream)?, &out.write(stream)?)?;
        Ok(out)
    }

    /// Device memory that the transposed product of so many columns takes: the result, and eight 64-bit counters a column
    /// beside it.
    pub fn transposed_product_bytes(columns: usize) -> u64 {
        let counters = columns.checked_mul(COUNTERS).map_or(u64::MAX, Pool::bytes_for::<u64>);
        counters.saturating_add(Pool::bytes_for::<Fr>(columns))
    }
}
