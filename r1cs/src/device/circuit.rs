//! A compiled circuit in device memory, and its products with a witness.

use std::sync::Arc;

use bytemuck::TransparentWrapper;
use gpu::{DeviceBuffer, Fr, Pool, Stream};

use super::{DeviceError, DeviceWitness, SHORT_TERMS};
use crate::CompiledCircuit;
use crate::ffi::{self, BlockNumbers};
use crate::matrix::Block;
use crate::products::Small;

/// A block's matrices on the device.
#[derive(Debug)]
struct DeviceBlock {
    words: DeviceBuffer<u32>,
    coefficients: DeviceBuffer<u16>,
    terms: [usize; 3],
    numbers: BlockNumbers,
}

/// A compiled circuit on the device, ready for witness after witness.
#[derive(Debug)]
pub struct DeviceCircuit {
    circuit: Arc<CompiledCircuit>,
    blocks: [DeviceBlock; 2],
    slots: DeviceBuffer<u32>,
    values: DeviceBuffer<Fr>,
    integers: DeviceBuffer<i32>,
    elements: DeviceBuffer<Fr>,
}

impl DeviceCircuit {
    /// Copies the circuit to the device and waits for it.
    pub fn upload(circuit: Arc<CompiledCircuit>, pool: &Pool, stream: &Stream) -> Result<Self, gpu::Error> {
        let upload = |block: &Block, numbers| DeviceBlock::upload(block, numbers, pool, stream);
        let (prefix, unit) = (circuit.prefix_numbers(), circuit.unit_numbers());
        let small = Small::new(&circuit.coefficients);
        Ok(Self {
            blocks: [upload(&circuit.prefix, prefix)?, upload(&circuit.unit, unit)?],
            slots: pool.upload(&circuit.bindings.columns, stream)?,
            values: pool.upload(Fr::wrap_slice(&circuit.coefficients), stream)?,
            integers: pool.upload(&small.integers_32(), stream)?,
            elements: pool.upload(Fr::wrap_slice(small.elements()), stream)?,
            circuit,
        })
    }

    /// Bytes of device memory that a circuit takes.
    pub fn bytes(circuit: &CompiledCircuit) -> u64 {
        let of_block = |block: &Block| {
            let terms = block.matrices.iter().map(|matrix| matrix.nnz()).sum();
            let words = 3 * (block.rows() + 1) + terms + block.longer_rows(SHORT_TERMS).len();
            Pool::bytes_for::<u32>(words) + Pool::bytes_for::<u16>(terms)
        };
        let coefficients = circuit.coefficients.len();
        let dictionary = 2 * Pool::bytes_for::<Fr>(coefficients) + Pool::bytes_for::<i32>(coefficients);
        let slots = Pool::bytes_for::<u32>(circuit.bindings.columns.len());
        of_block(&circuit.prefix) + of_block(&circuit.unit) + slots + dictionary
    }

    /// The circuit.
    pub fn circuit(&self) -> &Arc<CompiledCircuit> {
        &self.circuit
    }

    /// `A·w` and `B·w` in new buffers of the domain's size, natural order: the constraints, the input rows, zeros. They are
    /// wiped when they are released. Waits for the check that every row's product is `C·w`.
    ///
    /// # Errors
    /// [`DeviceError::Check`] names the first row that does not hold.
    pub fn satisfied_products(
        &self,
        witness: &DeviceWitness<'_>,
        pool: &Pool,
        stream: &Stream,
    ) -> Result<[DeviceBuffer<Fr>; 2], DeviceError> {
        let circuit = &self.circuit;
        circuit.check_size(witness.host())?;
        let size = 1 << circuit.domain_log2();
        let allocate = || Ok::<_, gpu::Error>(pool.allocate::<Fr>(size, stream)?.wipe_on_release());
        let [mut a, mut b] = [allocate()?, allocate()?];
        let mut first = pool.upload(&[u32::MAX], stream)?;
        {
            let (slots, dictionary) = (self.slots.read(stream)?, self.dictionary(stream)?);
            let values = witness.read(stream)?;
            let (to_a, to_b) = (a.write(stream)?, b.write(stream)?);
            let to_first = first.write(stream)?;
            for block in &self.blocks {
                let block = block.read(stream)?;
                ffi::products(stream, &block, &slots, &dictionary, &values, [&to_a, &to_b], &to_first)?;
            }
            let inputs = witness.inputs().read(stream)?;
            ffi::tail(stream, &inputs, circuit.num_constraints(), [&to_a, &to_b])?;
        }
        let mut row = [0];
        first.download_into(stream, 0, &mut row)?;
        match row {
            [u32::MAX] => Ok([a, b]),
            [row] => Err(match circuit.unsatisfied_at(witness.host(), row as usize) {
                Some(error) => error.into(),
                None => DeviceError::Disagreement { row: row as usize },
            }),
        }
    }

    pub(super) fn dictionary<'a>(&'a self, stream: &'a Stream) -> Result<ffi::Dictionary<'a>, gpu::Error> {
        Ok(ffi::Dictionary {
            values: self.values.read(stream)?,
            integers: self.integers.read(stream)?,
            elements: self.elements.read(stream)?,
        })
    }

    pub(super) fn blocks<'a>(&'a self, stream: &'a Stream) -> Result<[ffi::Block<'a>; 2], gpu::Error> {
        let [prefix, unit] = &self.blocks;
        Ok([prefix.read(stream)?, unit.read(stream)?])
    }

    pub(super) fn slots(&self) -> &DeviceBuffer<u32> {
        &self.slots
    }
}

impl DeviceBlock {
    fn upload(
        block: &Block,
        numbers: BlockNumbers,
        pool: &Pool,
        stream: &Stream,
    ) -> Result<Self, gpu::Error> {
        let long_rows = block.longer_rows(SHORT_TERMS);
        let terms = block.matrices.each_ref().map(|matrix| matrix.nnz());
        let all: usize = terms.iter().sum();
        let mut words = pool.allocate(3 * (block.rows() + 1) + all + long_rows.len(), stream)?;
        let mut coefficients = pool.allocate(all, stream)?;
        let starts = block.matrices.iter().map(|matrix| &matrix.starts);
        let columns = block.matrices.iter().map(|matrix| &matrix.columns);
        let mut at = 0;
        for part in starts.chain(columns).chain([&long_rows]) {
            words.upload_at(stream, at, part)?;
            at += part.len();
        }
        let mut at = 0;
        for matrix in &block.matrices {
            coefficients.upload_at(stream, at, &matrix.coefficients)?;
            at += matrix.nnz();
        }
        let numbers = BlockNumbers { long_count: long_rows.len() as u32, ..numbers };
        Ok(Self { words, coefficients, terms, numbers })
    }

    fn read<'a>(&'a self, stream: &'a Stream) -> Result<ffi::Block<'a>, gpu::Error> {
        Ok(ffi::Block {
            words: self.words.read(stream)?,
            coefficients: self.coefficients.read(stream)?,
            terms: self.terms,
            numbers: self.numbers,
        })
    }
}

/// Everything in a block's numbers but its long rows. All fit in 32 bits, as the circuit was checked to when it was assembled.
impl CompiledCircuit {
    fn prefix_numbers(&self) -> BlockNumbers {
        let layout = self.prefix.layout;
        BlockNumbers {
            bounds: bounds(&self.prefix),
            rows: self.prefix.rows() as u32,
            long_count: 0,
            copies: 1,
            slots_per_copy: 0,
            first_row: 0,
            first_input: 0,
            first_aux: 0,
            inputs: layout.inputs,
            aux: layout.aux,
            prefix_inputs: layout.inputs,
        }
    }

    fn unit_numbers(&self) -> BlockNumbers {
        let (prefix, layout) = (self.prefix.layout, self.unit.layout);
        BlockNumbers {
            bounds: bounds(&self.unit),
            rows: self.unit.rows() as u32,
            long_count: 0,
            copies: self.units as u32,
            slots_per_copy: self.bindings.slots as u32,
            first_row: self.prefix.rows() as u32,
            first_input: prefix.inputs,
            first_aux: prefix.aux,
            inputs: layout.inputs,
            aux: layout.aux,
            prefix_inputs: prefix.inputs,
        }
    }
}

fn bounds(block: &Block) -> [u32; 4] {
    let [own_inputs, shared_aux, own_aux, slots, _] = block.bounds;
    [own_inputs, shared_aux, own_aux, slots]
}
