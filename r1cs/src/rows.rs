//! The rows of the whole circuit, expanded one at a time.

use std::ops::Range;

use rayon::prelude::*;

use crate::compiled::CompiledCircuit;
use crate::matrix::{Block, Matrix};

/// A term of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    /// An input's index, or the number of inputs plus an auxiliary variable's index.
    pub column: u32,
    /// An index into [`CompiledCircuit::coefficients`]: 0 is 1, 1 is -1.
    pub coefficient: u16,
}

/// A row of A, B and C. Terms ascend by column; no column repeats and no coefficient is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// The row's number.
    pub index: usize,
    /// Its terms in A.
    pub a: &'a [Term],
    /// Its terms in B.
    pub b: &'a [Term],
    /// Its terms in C.
    pub c: &'a [Term],
}

/// How the columns of a block are those of the whole, for one copy.
#[derive(Clone, Copy)]
pub(crate) struct Relocation<'a> {
    bounds: [u32; 5],
    /// What to add, modulo 2^32, in each range.
    shifts: [u32; 4],
    slots: &'a [u32],
    prefix_inputs: u32,
    num_inputs: u32,
}

impl Relocation<'_> {
    /// The index, among all auxiliary variables, of the copy's first own.
    pub(crate) fn first_aux(&self) -> usize {
        self.bounds[2].wrapping_add(self.shifts[3]).wrapping_sub(self.num_inputs) as usize
    }

    #[inline]
    pub(crate) fn apply(&self, column: u32) -> u32 {
        let [own_inputs, shared_aux, own_aux, slots, _] = self.bounds;
        if column >= own_aux && column < slots {
            column.wrapping_add(self.shifts[3])
        } else if column < own_inputs {
            column.wrapping_add(self.shifts[0])
        } else if column < shared_aux {
            column.wrapping_add(self.shifts[1])
        } else if column < own_aux {
            column.wrapping_add(self.shifts[2])
        } else {
            match self.slots[(column - slots) as usize] {
                input if input < self.prefix_inputs => input,
                aux => aux - self.prefix_inputs + self.num_inputs,
            }
        }
    }
}

/// Consecutive rows of one kind.
pub(crate) enum Segment<'a> {
    /// Rows of a block, relocated.
    Block { block: &'a Block, rows: Range<usize>, relocation: Relocation<'a> },
    /// The rows `x_i * 0 = 0` of these inputs.
    Inputs(Range<usize>),
}

impl Segment<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Segment::Block { rows, .. } | Segment::Inputs(rows) => rows.len(),
        }
    }
}

impl CompiledCircuit {
    fn relocation(&self, unit: Option<usize>) -> Relocation<'_> {
        let num_inputs = self.num_inputs() as u32;
        let prefix_inputs = self.prefix.layout.inputs;
        let Some(unit) = unit else {
            // The prefix's own inputs come first, and its own aux first among the aux.
            let [.., own_aux, _, _] = self.prefix.bounds;
            let shifts = [0, 0, 0, num_inputs.wrapping_sub(own_aux)];
            return Relocation { bounds: self.prefix.bounds, shifts, slots: &[], prefix_inputs, num_inputs };
        };
        let layout = self.unit.layout;
        let [own_inputs, shared_aux, own_aux, ..] = self.unit.bounds;
        let first_input = prefix_inputs + unit as u32 * layout.inputs;
        let first_aux = num_inputs + self.prefix.layout.aux + unit as u32 * layout.aux;
        let shifts = [
            0,
            first_input.wrapping_sub(own_inputs),
            num_inputs.wrapping_sub(shared_aux),
            first_aux.wrapping_sub(own_aux),
        ];
        let slots = self.bindings.of(unit);
        Relocation { bounds: self.unit.bounds, shifts, slots, prefix_inputs, num_inputs }
    }

    /// The segment that starts at `row`, cut off at `end`.
    pub(crate) fn segment(&self, row: usize, end: usize) -> Segment<'_> {
        let (prefix, unit, constraints) = (self.prefix.rows(), self.unit.rows(), self.num_constraints());
        if row >= constraints {
            return Segment::Inputs(row - constraints..end - constraints);
        }
        let (block, first, copy) = match row.checked_sub(prefix) {
            None => (&self.prefix, 0, None),
            Some(beyond) => (&self.unit, prefix + beyond / unit * unit, Some(beyond / unit)),
        };
        let rows = row - first..(end - first).min(block.rows());
        Segment::Block { block, rows, relocation: self.relocation(copy) }
    }

    /// The segments of a range of rows, in order.
    pub(crate) fn segments(&self, rows: Range<usize>) -> impl Iterator<Item = Segment<'_>> {
        let mut next = rows.start;
        let end = rows.end.min(self.num_rows());
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let segment = self.segment(next, end);
                next += segment.len();
                segment
            })
        })
    }

    /// The rows of a range, expanded one at a time: constraints first, then a row for each input
    /// ([`num_rows`](Self::num_rows) in all). A range that ends beyond is cut.
    pub fn rows(&self, range: Range<usize>) -> Rows<'_> {
        let end = range.end.min(self.num_rows());
        Rows { circuit: self, segment: None, next: range.start, end, terms: Default::default() }
    }
}

impl CompiledCircuit {
    /// All rows in parallel, in pieces of `size` rows (at least one), as [`rows`](Self::rows) gives them.
    pub fn par_rows(&self, size: usize) -> impl IndexedParallelIterator<Item = Rows<'_>> {
        let size = size.max(1);
        let pieces = self.num_rows().div_ceil(size);
        (0..pieces)
            .into_par_iter()
            .map(move |i| self.rows(i * size..i.saturating_add(1).saturating_mul(size)))
    }
}

/// A cursor over expanded rows. Not an `Iterator`, as a row is only there until the next.
pub struct Rows<'a> {
    circuit: &'a CompiledCircuit,
    /// The segment that `next` is in, and the row that it ends before.
    segment: Option<(Segment<'a>, usize)>,
    next: usize,
    end: usize,
    terms: [Vec<Term>; 3],
}

impl Rows<'_> {
    /// The next row.
    #[allow(clippy::should_implement_trait, reason = "the row borrows the cursor")]
    pub fn next(&mut self) -> Option<Row<'_>> {
        if self.next >= self.end {
            return None;
        }
        let index = self.next;
        let (segment, segment_end) = match self.segment.take() {
            Some((segment, end)) if index < end => (segment, end),
            _ => {
                let segment = self.circuit.segment(index, self.end);
                let end = index + segment.len();
                (segment, end)
            }
        };
        match &segment {
            Segment::Block { block, rows, relocation } => {
                let row = rows.end - (segment_end - index);
                for (terms, matrix) in self.terms.iter_mut().zip(&block.matrices) {
                    expand(matrix, row, relocation, terms);
                }
            }
            Segment::Inputs(inputs) => {
                let input = inputs.end - (segment_end - index);
                self.terms.iter_mut().for_each(Vec::clear);
                self.terms[0].push(Term { column: input as u32, coefficient: 0 });
            }
        }
        self.segment = Some((segment, segment_end));
        self.next += 1;
        let [a, b, c] = &self.terms;
        Some(Row { index, a, b, c })
    }
}

/// The relocated terms of a row, ascending.
#[inline]
pub(crate) fn expand(matrix: &Matrix, row: usize, relocation: &Relocation<'_>, terms: &mut Vec<Term>) {
    let (columns, coefficients) = matrix.row(row);
    terms.clear();
    terms.extend(
        columns.iter().zip(coefficients).map(|(column, coefficient)| Term {
            column: relocation.apply(*column),
            coefficient: *coefficient,
        }),
    );
    // Slots come last in a stored row; the variables they stand for have their place further up.
    if columns.last().is_some_and(|last| *last >= relocation.bounds[3]) {
        terms.sort_unstable();
    }
}
