//! Matrix-vector products with a witness, on the CPU.

use assignment::{AuxValue, PackedWitness};
use blstrs::Scalar;
use ff::Field;
use rayon::prelude::*;

use crate::compiled::CompiledCircuit;
use crate::error::{CheckError, SizeError};
use crate::matrix::{Block, Matrix};
use crate::rows::{Relocation, Segment};

/// Rows that one task takes: their products stay in cache, and there are enough for any number of cores.
const CHUNK: usize = 1 << 14;

/// Where the values of a circuit's variables come from.
pub trait Assignment: Sync {
    /// The inputs, ONE first.
    fn inputs(&self) -> &[Scalar];
    /// The number of auxiliary variables.
    fn num_aux(&self) -> usize;
    /// Auxiliary variable `i`, as a bit where that is known.
    fn aux(&self, i: usize) -> AuxValue<'_, Scalar>;
}

impl Assignment for PackedWitness<Scalar> {
    fn inputs(&self) -> &[Scalar] {
        self.inputs()
    }

    fn num_aux(&self) -> usize {
        self.num_aux()
    }

    #[inline]
    fn aux(&self, i: usize) -> AuxValue<'_, Scalar> {
        self.aux(i)
    }
}

/// Plain values.
#[derive(Clone, Copy, Debug)]
pub struct PlainAssignment<'a> {
    /// The inputs, ONE first.
    pub inputs: &'a [Scalar],
    /// The auxiliary values.
    pub aux: &'a [Scalar],
}

impl Assignment for PlainAssignment<'_> {
    fn inputs(&self) -> &[Scalar] {
        self.inputs
    }

    fn num_aux(&self) -> usize {
        self.aux.len()
    }

    #[inline]
    fn aux(&self, i: usize) -> AuxValue<'_, Scalar> {
        match &self.aux[i] {
            value if *value == Scalar::ZERO => AuxValue::Bit(false),
            value if *value == Scalar::ONE => AuxValue::Bit(true),
            value => AuxValue::Element(value),
        }
    }
}

/// Coefficients that are small integers, so that sums of bits can be summed in a register.
pub(crate) struct Small<'a> {
    coefficients: &'a [Scalar],
    /// The coefficient, or [`LARGE`].
    integers: Vec<i64>,
    /// The field elements `-CACHED..=CACHED`.
    elements: Vec<Scalar>,
}

const LARGE: i64 = i64::MIN;
/// Rows have fewer than 2^32 terms, so a sum of such integers is below 2^62.
const SMALL: u64 = 1 << 30;
const CACHED: i64 = 256;

fn as_small_integer(value: &Scalar) -> Option<i64> {
    let low = |value: &Scalar| {
        let bytes = value.to_bytes_le();
        let (low, high) = bytes.split_first_chunk::<8>()?;
        let low = u64::from_le_bytes(*low);
        (low < SMALL && high.iter().all(|byte| *byte == 0)).then_some(low as i64)
    };
    low(value).or_else(|| low(&-value).map(|low| -low))
}

fn from_integer(value: i64) -> Scalar {
    let magnitude = Scalar::from(value.unsigned_abs());
    if value < 0 { -magnitude } else { magnitude }
}

impl<'a> Small<'a> {
    pub(crate) fn new(coefficients: &'a [Scalar]) -> Self {
        Self {
            coefficients,
            integers: coefficients.iter().map(|c| as_small_integer(c).unwrap_or(LARGE)).collect(),
            elements: (-CACHED..=CACHED).map(from_integer).collect(),
        }
    }

    /// The coefficients that are small integers, and `i32::MIN` for the others.
    pub(crate) fn integers_32(&self) -> Vec<i32> {
        self.integers.iter().map(|integer| i32::try_from(*integer).unwrap_or(i32::MIN)).collect()
    }

    /// The field elements `-256..=256`.
    pub(crate) fn elements(&self) -> &[Scalar] {
        &self.elements
    }

    #[inline]
    fn element(&self, value: i64) -> Scalar {
        match self.elements.get(value.wrapping_add(CACHED) as usize) {
            Some(element) => *element,
            None => from_integer(value),
        }
    }
}

/// A row times the witness. Coefficients ±1 and bits cost no multiplication.
#[inline]
fn dot<W: Assignment>(
    (columns, coefficients): (&[u32], &[u16]),
    columns_of: &Columns<'_>,
    small: &Small<'_>,
    witness: &W,
) -> Scalar {
    let mut integer = 0;
    let mut field: Option<Scalar> = None;
    for (column, number) in columns.iter().zip(coefficients) {
        match columns_of.value(*column, witness) {
            AuxValue::Bit(false) => {}
            AuxValue::Bit(true) => match small.integers[*number as usize] {
                LARGE => *field.get_or_insert(Scalar::ZERO) += &small.coefficients[*number as usize],
                coefficient => integer += coefficient,
            },
            AuxValue::Element(value) => {
                let sum = field.get_or_insert(Scalar::ZERO);
                match number {
                    0 => *sum += value,
                    1 => *sum -= value,
                    _ => *sum += small.coefficients[*number as usize] * value,
                }
            }
        }
    }
    match field {
        None => small.element(integer),
        Some(sum) if integer == 0 => sum,
        Some(sum) => sum + small.element(integer),
    }
}

/// Finds the values of a block's columns in one copy.
struct Columns<'a> {
    own_aux: u32,
    slots: u32,
    /// The index of the copy's first auxiliary variable.
    first_aux: usize,
    num_inputs: u32,
    relocation: Relocation<'a>,
}

impl<'a> Columns<'a> {
    fn new(block: &Block, relocation: Relocation<'a>, num_inputs: usize) -> Self {
        let [_, _, own_aux, slots, _] = block.bounds;
        let first_aux = relocation.first_aux();
        Self { own_aux, slots, first_aux, num_inputs: num_inputs as u32, relocation }
    }

    #[inline]
    fn value<'w, W: Assignment>(&self, column: u32, witness: &'w W) -> AuxValue<'w, Scalar> {
        // Nearly all columns are the copy's own aux.
        if column >= self.own_aux && column < self.slots {
            return witness.aux(self.first_aux + (column - self.own_aux) as usize);
        }
        match self.relocation.apply(column) {
            0 => AuxValue::Bit(true),
            input if input < self.num_inputs => AuxValue::Element(&witness.inputs()[input as usize]),
            aux => witness.aux((aux - self.num_inputs) as usize),
        }
    }
}

fn multiply_rows<W: Assignment>(
    matrix: &Matrix,
    first: usize,
    columns: &Columns<'_>,
    small: &Small<'_>,
    witness: &W,
    target: &mut [Scalar],
) {
    for (row, product) in (first..).zip(target) {
        *product = dot(matrix.row(row), columns, small, witness);
    }
}

/// Vectors to put products into, each of [`CompiledCircuit::num_rows`] elements or more.
#[derive(Debug)]
pub struct ProductsMut<'a> {
    /// `A·w`.
    pub a: &'a mut [Scalar],
    /// `B·w`.
    pub b: &'a mut [Scalar],
    /// `C·w`.
    pub c: &'a mut [Scalar],
}

impl CompiledCircuit {
    /// That the witness has this circuit's numbers of inputs and aux.
    pub fn check_size<W: Assignment>(&self, witness: &W) -> Result<(), SizeError> {
        let same = |what, expected: usize, got: usize| match expected == got {
            true => Ok(()),
            false => Err(SizeError { what, expected, got }),
        };
        same("inputs (with ONE) of the witness", self.num_inputs(), witness.inputs().len())?;
        same("auxiliary variables of the witness", self.num_aux(), witness.num_aux())
    }

    /// Products of the rows `first..` of A, B and C, as many as the targets are long.
    fn multiply_chunk<W: Assignment>(
        &self,
        witness: &W,
        small: &Small<'_>,
        first: usize,
        targets: [&mut [Scalar]; 3],
    ) {
        let end = first + targets[0].len();
        for (which, target) in targets.into_iter().enumerate() {
            let mut rest = target;
            for segment in self.segments(first..end) {
                let (now, later) = std::mem::take(&mut rest).split_at_mut(segment.len());
                rest = later;
                match segment {
                    Segment::Block { block, rows, relocation } => {
                        let columns = Columns::new(block, relocation, self.num_inputs());
                        multiply_rows(&block.matrices[which], rows.start, &columns, small, witness, now);
                    }
                    Segment::Inputs(inputs) if which == 0 => now.copy_from_slice(&witness.inputs()[inputs]),
                    Segment::Inputs(_) => now.fill(Scalar::ZERO),
                }
            }
        }
    }

    /// `A·w`, `B·w` and `C·w`, the input rows included, into the first [`num_rows`](Self::num_rows) elements of each target.
    /// In parallel over rows on rayon's current pool.
    pub fn products_into<W: Assignment>(
        &self,
        witness: &W,
        targets: ProductsMut<'_>,
    ) -> Result<(), SizeError> {
        self.check_size(witness)?;
        let ProductsMut { a, b, c } = targets;
        let rows = self.check_targets(a.len().min(b.len()).min(c.len()))?;
        let small = Small::new(&self.coefficients);
        let chunks = a[..rows].par_chunks_mut(CHUNK).zip(b[..rows].par_chunks_mut(CHUNK));
        chunks
            .zip(c[..rows].par_chunks_mut(CHUNK))
            .enumerate()
            .for_each(|(i, ((a, b), c))| self.multiply_chunk(witness, &small, i * CHUNK, [a, b, c]));
        Ok(())
    }

    /// `A·w`, `B·w` and `C·w` in new vectors of [`num_rows`](Self::num_rows) elements.
    pub fn products<W: Assignment>(&self, witness: &W) -> Result<[Vec<Scalar>; 3], SizeError> {
        self.check_size(witness)?;
        let zeros = || {
            let mut vector = Vec::with_capacity(self.num_rows());
            // In parallel because the first touch of fresh memory is what costs.
            vector.par_extend(rayon::iter::repeat_n(Scalar::ZERO, self.num_rows()));
            vector
        };
        let [mut a, mut b, mut c] = [zeros(), zeros(), zeros()];
        self.products_into(witness, ProductsMut { a: &mut a, b: &mut b, c: &mut c })?;
        Ok([a, b, c])
    }

    /// That every row holds, without keeping the products. The error names the first that does not.
    pub fn check<W: Assignment>(&self, witness: &W) -> Result<(), CheckError> {
        self.check_size(witness)?;
        let small = Small::new(&self.coefficients);
        let rows = self.num_constraints();
        let unsatisfied = (0..rows.div_ceil(CHUNK)).into_par_iter().map_init(
            || vec![Scalar::ZERO; 3 * CHUNK],
            |buffer, i| {
                let first = i * CHUNK;
                let len = CHUNK.min(rows - first);
                let (a, rest) = buffer.split_at_mut(CHUNK);
                let (b, c) = rest.split_at_mut(CHUNK);
                let (a, b, c) = (&mut a[..len], &mut b[..len], &mut c[..len]);
                self.multiply_chunk(witness, &small, first, [&mut *a, &mut *b, &mut *c]);
                unsatisfied_in(first, a, b, c)
            },
        );
        unsatisfied.find_first(Option::is_some).flatten().map_or(Ok(()), Err)
    }

    /// `A·w` and `B·w`, the input rows included, into the first [`num_rows`](Self::num_rows) elements of the targets,
    /// and the check that their products are `C·w`, which is not kept. The error names the first row that does not hold.
    pub fn satisfied_products_into<W: Assignment>(
        &self,
        witness: &W,
        a: &mut [Scalar],
        b: &mut [Scalar],
    ) -> Result<(), CheckError> {
        self.check_size(witness)?;
        let rows = self.check_targets(a.len().min(b.len()))?;
        let small = Small::new(&self.coefficients);
        let chunks = a[..rows].par_chunks_mut(CHUNK).zip(b[..rows].par_chunks_mut(CHUNK)).enumerate();
        let unsatisfied = chunks.map_init(
            || vec![Scalar::ZERO; CHUNK],
            |c, (i, (a, b))| {
                let c = &mut c[..a.len()];
                self.multiply_chunk(witness, &small, i * CHUNK, [&mut *a, &mut *b, &mut *c]);
                unsatisfied_in(i * CHUNK, a, b, c)
            },
        );
        unsatisfied.find_first(Option::is_some).flatten().map_or(Ok(()), Err)
    }

    /// The error of a constraint, if it does not hold.
    pub(crate) fn unsatisfied_at<W: Assignment>(&self, witness: &W, row: usize) -> Option<CheckError> {
        let [mut a, mut b, mut c] = [[Scalar::ZERO]; 3];
        self.multiply_chunk(witness, &Small::new(&self.coefficients), row, [&mut a, &mut b, &mut c]);
        unsatisfied_in(row, &a, &b, &c)
    }

    fn check_targets(&self, shortest: usize) -> Result<usize, SizeError> {
        let rows = self.num_rows();
        match shortest < rows {
            true => Err(SizeError { what: "elements of a target", expected: rows, got: shortest }),
            false => Ok(rows),
        }
    }
}

/// The first unsatisfied of some consecutive rows.
fn unsatisfied_in(first: usize, a: &[Scalar], b: &[Scalar], c: &[Scalar]) -> Option<CheckError> {
    let row = (0..a.len()).find(|row| !is_product(&a[*row], &b[*row], &c[*row]))?;
    Some(CheckError::Unsatisfied { row: first + row, a: a[row], b: b[row], c: c[row] })
}

/// Whether `a * b = c`; mostly `a` is 0 or 1.
#[inline]
fn is_product(a: &Scalar, b: &Scalar, c: &Scalar) -> bool {
    if *a == Scalar::ZERO {
        *c == Scalar::ZERO
    } else if *a == Scalar::ONE {
        b == c
    } else {
        a * b == *c
    }
}

/// The first row where `a * b` is not `c`, given the products.
pub fn first_unsatisfied(a: &[Scalar], b: &[Scalar], c: &[Scalar]) -> Option<CheckError> {
    let chunks = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK)).zip(c.par_chunks(CHUNK)).enumerate();
    let found = chunks.map(|(i, ((a, b), c))| unsatisfied_in(i * CHUNK, a, b, c));
    found.find_first(Option::is_some).flatten()
}
