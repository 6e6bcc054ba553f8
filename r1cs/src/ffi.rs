//! The boundary to the kernels, and the only unsafe code of this crate.
#![allow(unsafe_code)]

use std::ffi::c_void;

use gpu::{Error, Fr, Read, Stream, Write};

/// Mirrors `r1cs_matrix` in `matrix.cuh`.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawMatrix {
    starts: *const c_void,
    columns: *const c_void,
    coefficients: *const c_void,
}

/// Mirrors `r1cs_block`.
#[repr(C)]
pub(crate) struct RawBlock {
    matrices: [RawMatrix; 3],
    long_rows: *const c_void,
    slots: *const c_void,
    numbers: BlockNumbers,
}

/// The numbers of a block, as `r1cs_block` says.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockNumbers {
    pub(crate) bounds: [u32; 4],
    pub(crate) rows: u32,
    pub(crate) long_count: u32,
    pub(crate) copies: u32,
    pub(crate) slots_per_copy: u32,
    pub(crate) first_row: u32,
    pub(crate) first_input: u32,
    pub(crate) first_aux: u32,
    pub(crate) inputs: u32,
    pub(crate) aux: u32,
    pub(crate) prefix_inputs: u32,
}

/// Mirrors `r1cs_dictionary`.
#[repr(C)]
struct RawDictionary {
    values: *const c_void,
    integers: *const c_void,
    elements: *const c_void,
}

/// Mirrors `r1cs_witness`.
#[repr(C)]
struct RawWitness {
    inputs: *const c_void,
    ones: *const c_void,
    is_dense: *const c_void,
    rank: *const c_void,
    dense: *const c_void,
}

/// Mirrors `r1cs_columns`.
#[repr(C)]
struct RawColumns {
    counters: *mut c_void,
    first: u32,
    count: u32,
    num_inputs: u32,
}

mod raw {
    use super::{RawBlock, RawColumns, RawDictionary, RawWitness, c_void};

    gpu::entry_points! {
        fn r1cs_products(
            block: *const RawBlock,
            dictionary: *const RawDictionary,
            witness: *const RawWitness,
            a: *mut c_void,
            b: *mut c_void,
            first_unsatisfied: *mut c_void,
            stream: *mut c_void,
        );
        fn r1cs_tail(
            inputs: *const c_void,
            count: u32,
            a: *mut c_void,
            b: *mut c_void,
            constraints: u64,
            size: u64,
            stream: *mut c_void,
        );
        fn r1cs_scatter(
            block: *const RawBlock,
            which: u32,
            dictionary: *const RawDictionary,
            rows: *const c_void,
            columns: *const RawColumns,
            stream: *mut c_void,
        );
        fn r1cs_scatter_inputs(
            rows: *const c_void,
            constraints: u64,
            columns: *const RawColumns,
            stream: *mut c_void,
        );
        fn r1cs_reduce(columns: *const c_void, out: *mut c_void, count: u64, stream: *mut c_void);
    }
}

/// A block on the device. `words` holds, one after another, the starts of A, B and C, their columns, and the long rows;
/// `coefficients` those of A, B and C.
pub(crate) struct Block<'a> {
    pub(crate) words: Read<'a, u32>,
    pub(crate) coefficients: Read<'a, u16>,
    pub(crate) terms: [usize; 3],
    pub(crate) numbers: BlockNumbers,
}

impl Block<'_> {
    fn raw(&self, slots: &Read<'_, u32>) -> Result<RawBlock, Error> {
        let starts = self.numbers.rows as usize + 1;
        let all: usize = self.terms.iter().sum();
        expect("a block's words", 3 * starts + all + self.numbers.long_count as usize, self.words.len())?;
        expect("a block's coefficients", all, self.coefficients.len())?;
        let bound = self.numbers.slots_per_copy as usize * self.numbers.copies as usize;
        if bound > slots.len() {
            return Err(length("the bindings", bound, slots.len()));
        }
        let word = |at: usize| self.words.pointer().wrapping_byte_add(4 * at);
        let mut before = 0;
        let mut number = 0;
        let matrices = self.terms.map(|terms| {
            let matrix = RawMatrix {
                starts: word(number * starts),
                columns: word(3 * starts + before),
                coefficients: self.coefficients.pointer().wrapping_byte_add(2 * before),
            };
            before += terms;
            number += 1;
            matrix
        });
        let long_rows = word(3 * starts + all);
        Ok(RawBlock { matrices, long_rows, slots: slots.pointer(), numbers: self.numbers })
    }
}

/// The coefficients on the device.
pub(crate) struct Dictionary<'a> {
    pub(crate) values: Read<'a, Fr>,
    pub(crate) integers: Read<'a, i32>,
    pub(crate) elements: Read<'a, Fr>,
}

impl Dictionary<'_> {
    fn raw(&self) -> RawDictionary {
        let (values, integers) = (self.values.pointer(), self.integers.pointer());
        RawDictionary { values, integers, elements: self.elements.pointer() }
    }
}

/// A packed witness on the device.
pub(crate) struct Witness<'a> {
    pub(crate) inputs: Read<'a, Fr>,
    pub(crate) ones: Read<'a, u64>,
    pub(crate) is_dense: Read<'a, u64>,
    pub(crate) rank: Read<'a, u32>,
    pub(crate) dense: Read<'a, Fr>,
}

/// Queues the products of all rows of a block's copies. The witness has the circuit's size, and all indices in a compiled
/// circuit are within it: its readers see to that.
pub(crate) fn products(
    stream: &Stream,
    block: &Block<'_>,
    slots: &Read<'_, u32>,
    dictionary: &Dictionary<'_>,
    witness: &Witness<'_>,
    targets: [&Write<'_, Fr>; 2],
    first_unsatisfied: &Write<'_, u32>,
) -> Result<(), Error> {
    let end = block.numbers.first_row as usize + block.numbers.rows as usize * block.numbers.copies as usize;
    let [a, b] = targets;
    expect_at_least("a product", end, a.len().min(b.len()))?;
    expect("the first unsatisfied row", 1, first_unsatisfied.len())?;
    let raw_block = block.raw(slots)?;
    let raw_witness = RawWitness {
        inputs: witness.inputs.pointer(),
        ones: witness.ones.pointer(),
        is_dense: witness.is_dense.pointer(),
        rank: witness.rank.pointer(),
        dense: witness.dense.pointer(),
    };
    let (a, b, first) = (a.pointer(), b.pointer(), first_unsatisfied.pointer());
    let queue = stream.raw()?;
    let _span = stream.span("rows", end - block.numbers.first_row as usize);
    // SAFETY: live buffers in use on this stream, of lengths checked above; the structures are read during the call.
    unsafe { raw::r1cs_products(&raw_block, &dictionary.raw(), &raw_witness, a, b, first, queue) }
        .into_result()
}

/// Queues the rows after the constraints: the inputs in `a`, then zeros.
pub(crate) fn tail(
    stream: &Stream,
    inputs: &Read<'_, Fr>,
    constraints: usize,
    targets: [&Write<'_, Fr>; 2],
) -> Result<(), Error> {
    let [a, b] = targets;
    expect("the second product", a.len(), b.len())?;
    expect_at_least("a product", constraints + inputs.len(), a.len())?;
    let (count, first, size) = (inputs.len() as u32, constraints as u64, a.len() as u64);
    let (a, b) = (a.pointer(), b.pointer());
    let _span = stream.span("input rows", inputs.len());
    // SAFETY: live buffers in use on this stream; `constraints + count <= size`, the length of both targets.
    unsafe { raw::r1cs_tail(inputs.pointer(), count, a, b, first, size, stream.raw()?) }.into_result()
}

/// Counters of a range of columns, eight for each.
pub(crate) struct Columns<'a> {
    pub(crate) counters: Write<'a, u64>,
    /// The first column.
    pub(crate) first: u32,
    /// The columns that are inputs; all others come behind them.
    pub(crate) num_inputs: u32,
}

impl Columns<'_> {
    fn raw(&self) -> Result<RawColumns, Error> {
        let (counters, first, num_inputs) = (self.counters.pointer(), self.first, self.num_inputs);
        let columns = self.counters.len() / 8;
        expect("counters", 8 * columns, self.counters.len())?;
        let count = u32::try_from(columns).map_err(|_| length("columns", u32::MAX as usize, columns))?;
        Ok(RawColumns { counters, first, count, num_inputs })
    }
}

/// Queues the terms of one matrix of a block's copies: each adds its product with the row's value to its column, where that is
/// in the range.
pub(crate) fn scatter(
    stream: &Stream,
    block: &Block<'_>,
    slots: &Read<'_, u32>,
    which: usize,
    dictionary: &Dictionary<'_>,
    rows: &Read<'_, Fr>,
    columns: &Columns<'_>,
) -> Result<(), Error> {
    let end = block.numbers.first_row as usize + block.numbers.rows as usize * block.numbers.copies as usize;
    expect_at_least("the values of rows", end, rows.len())?;
    let (raw_block, dictionary, columns) = (block.raw(slots)?, dictionary.raw(), columns.raw()?);
    let (which, rows, queue) = (which.min(2) as u32, rows.pointer(), stream.raw()?);
    // SAFETY: live buffers in use on this stream, of lengths checked above; a column outside the range is not touched, and the
    // structures are read during the call.
    unsafe { raw::r1cs_scatter(&raw_block, which, &dictionary, rows, &columns, queue) }.into_result()
}

/// Queues the same of the input rows in A.
pub(crate) fn scatter_inputs(
    stream: &Stream,
    rows: &Read<'_, Fr>,
    constraints: usize,
    columns: &Columns<'_>,
) -> Result<(), Error> {
    expect_at_least("the values of rows", constraints + columns.num_inputs as usize, rows.len())?;
    let (first, columns, queue) = (constraints as u64, columns.raw()?, stream.raw()?);
    // SAFETY: live buffers in use on this stream, of lengths checked above; a column outside the range is not touched.
    unsafe { raw::r1cs_scatter_inputs(rows.pointer(), first, &columns, queue) }.into_result()
}

/// Queues turning counters into field elements.
pub(crate) fn reduce(stream: &Stream, columns: &Read<'_, u64>, out: &Write<'_, Fr>) -> Result<(), Error> {
    expect("counters", 8 * out.len(), columns.len())?;
    // SAFETY: live buffers in use on this stream; eight counters for each element.
    unsafe { raw::r1cs_reduce(columns.pointer(), out.pointer(), out.len() as u64, stream.raw()?) }
        .into_result()
}

fn length(what: &'static str, expected: usize, got: usize) -> Error {
    Error::Length { what, expected: expected as u64, got: got as u64 }
}

fn expect(what: &'static str, expected: usize, got: usize) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(length(what, expected, got)) }
}

fn expect_at_least(what: &'static str, expected: usize, got: usize) -> Result<(), Error> {
    if got >= expected { Ok(()) } else { Err(length(what, expected, got)) }
}
