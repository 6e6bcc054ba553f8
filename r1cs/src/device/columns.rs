//! The transposed matrices times a vector.

use gpu::{DeviceBuffer, Fr, Pool, Stream};

use super::DeviceCircuit;
use crate::MatrixName;
use crate::ffi;

impl DeviceCircuit {
    /// `Σ_row M[row, j]·v[row]` for every column `j`, inputs first, over all rows, the input rows included: with the Lagrange
    /// polynomials at a point for `v`, the value there of each variable's polynomial. Queued; does not wait. The result is wiped
    /// when it is released.
    ///
    /// Eight 64-bit counters a column are allocated beside the result.
    ///
    /// # Errors
    /// [`gpu::Error::Length`] if `v` has fewer elements than there are rows.
    pub fn transposed_product(
        &self,
        matrix: MatrixName,
        v: &DeviceBuffer<Fr>,
        pool: &Pool,
        stream: &Stream,
    ) -> Result<DeviceBuffer<Fr>, gpu::Error> {
        let circuit = self.circuit();
        let (inputs, columns) = (circuit.num_inputs() as u32, circuit.num_inputs() + circuit.num_aux());
        let which = match matrix {
            MatrixName::A => 0,
            MatrixName::B => 1,
            MatrixName::C => 2,
        };
        let mut counters = pool.allocate::<u64>(8 * columns, stream)?.wipe_on_release();
        counters.fill_bytes(stream, 0)?;
        let mut out = pool.allocate::<Fr>(columns, stream)?.wipe_on_release();
        let rows = v.read(stream)?;
        {
            let (slots, dictionary) = (self.slots().read(stream)?, self.dictionary(stream)?);
            let counters = counters.write(stream)?;
            for block in self.blocks(stream)? {
                ffi::scatter(stream, &block, &slots, which, &dictionary, &rows, inputs, &counters)?;
            }
            if matrix == MatrixName::A {
                ffi::scatter_inputs(stream, &rows, circuit.num_constraints(), inputs, &counters)?;
            }
        }
        ffi::reduce(stream, &counters.read(stream)?, &out.write(stream)?)?;
        Ok(out)
    }
}
