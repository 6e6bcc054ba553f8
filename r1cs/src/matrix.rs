//! Sparse rows, and the block of rows that repeats.

/// A sparse matrix in compressed rows: 6 bytes a term, 4 a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Matrix {
    /// Where each row's terms start; one more at the end.
    pub(crate) starts: Vec<u32>,
    /// Columns as [`Layout`] numbers them.
    pub(crate) columns: Vec<u32>,
    /// Indices into the circuit's coefficients.
    pub(crate) coefficients: Vec<u16>,
}

impl Matrix {
    pub(crate) fn new() -> Self {
        Self { starts: vec![0], columns: Vec::new(), coefficients: Vec::new() }
    }

    pub(crate) fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn nnz(&self) -> usize {
        self.columns.len()
    }

    /// The columns and coefficients of a row.
    #[inline]
    pub(crate) fn row(&self, row: usize) -> (&[u32], &[u16]) {
        let terms = self.starts[row] as usize..self.starts[row + 1] as usize;
        (&self.columns[terms.clone()], &self.coefficients[terms])
    }

    /// The lengths of all rows.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = u32> + '_ {
        self.starts.windows(2).map(|pair| pair[1] - pair[0])
    }
}

/// How a block numbers its columns, in this order: inputs of the prefix, the block's own inputs, auxiliary variables
/// of the prefix, the block's own, and slots, which stand for a variable of the prefix that each copy chooses.
///
/// The prefix is a block too. It shares nothing but has ONE and all its variables as its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) shared_inputs: u32,
    pub(crate) inputs: u32,
    pub(crate) shared_aux: u32,
    pub(crate) aux: u32,
    pub(crate) slots: u32,
}

impl Layout {
    /// Where the block's own inputs, the shared aux, the own aux and the slots start, and where the columns end.
    /// `None` if there are 2^32 or more.
    pub(crate) fn bounds(&self) -> Option<[u32; 5]> {
        let own_inputs = self.shared_inputs;
        let shared_aux = own_inputs.checked_add(self.inputs)?;
        let own_aux = shared_aux.checked_add(self.shared_aux)?;
        let slots = own_aux.checked_add(self.aux)?;
        Some([own_inputs, shared_aux, own_aux, slots, slots.checked_add(self.slots)?])
    }
}

/// The rows of the prefix or of one copy of the unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) layout: Layout,
    /// `layout.bounds()`.
    pub(crate) bounds: [u32; 5],
    /// A, B, C.
    pub(crate) matrices: [Matrix; 3],
}

impl Block {
    pub(crate) fn rows(&self) -> usize {
        self.matrices[0].rows()
    }

    /// The rows with more than `terms` terms in some matrix.
    pub(crate) fn longer_rows(&self, terms: u32) -> Vec<u32> {
        let [a, b, c] = &self.matrices;
        let lengths = a.lengths().zip(b.lengths()).zip(c.lengths()).zip(0..);
        lengths.filter(|(((a, b), c), _)| *a.max(b).max(c) > terms).map(|(_, row)| row).collect()
    }
}
