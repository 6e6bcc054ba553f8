//! Records a circuit's constraints as sparse rows.

use std::collections::HashMap;

use assignment::{Assembly, Combination};
use blstrs::Scalar;
use ff::Field;

use crate::coefficient::Dictionary;
use crate::error::{CompileError, MatrixName};
use crate::matrix::{Block, Layout, Matrix};

/// A variable: whether it is an input, and its index.
pub(crate) type Key = (bool, usize);

pub(crate) fn describe((is_input, index): Key) -> String {
    format!("{} {index}", if is_input { "input" } else { "aux" })
}

/// Where a variable stands within its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    SharedInput(u32),
    OwnInput(u32),
    SharedAux(u32),
    OwnAux(u32),
    Slot(u32),
}

/// Which variables a block can see: those of the prefix, some of them bound, and its own, which start at an
/// offset.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// Numbers of the prefix's inputs (with ONE) and aux.
    pub(crate) shared: [usize; 2],
    /// The first own input and aux.
    pub(crate) offset: [usize; 2],
    /// The number of own inputs and aux so far.
    pub(crate) own: [usize; 2],
    /// The slot of each bound variable.
    pub(crate) slots: HashMap<Key, u32>,
}

impl Scope {
    /// Allocates an own variable and returns its index.
    #[inline]
    pub(crate) fn allocate(&mut self, is_input: bool) -> usize {
        let kind = usize::from(!is_input);
        self.own[kind] += 1;
        self.offset[kind] + self.own[kind] - 1
    }

    #[inline]
    pub(crate) fn place(&self, is_input: bool, index: usize) -> Option<Place> {
        let kind = usize::from(!is_input);
        let own = index.wrapping_sub(self.offset[kind]);
        if own < self.own[kind] {
            let own = u32::try_from(own).ok()?;
            return Some(if is_input { Place::OwnInput(own) } else { Place::OwnAux(own) });
        }
        if index >= self.shared[kind] {
            return None;
        }
        if let Some(slot) = self.slots.get(&(is_input, index)) {
            return Some(Place::Slot(*slot));
        }
        let index = u32::try_from(index).ok()?;
        Some(if is_input { Place::SharedInput(index) } else { Place::SharedAux(index) })
    }
}

/// A constraint system that keeps the constraints and no values: closures that compute values are not called.
///
/// Implements bellpepper-core's `ConstraintSystem`; it is not extensible. Zero coefficients are dropped. Faults, such as a
/// variable that was never allocated, are reported when recording ends.
pub struct Recorder {
    scope: Scope,
    dictionary: Dictionary,
    matrices: [Matrix; 3],
    fault: Option<CompileError>,
}

/// Own aux have their index as provisional column; this bit marks all others, which are numbered: shared
/// inputs, shared aux, slots, own inputs. The number of own inputs is not known before the end, so that every column
/// is renumbered then.
const OTHER: u32 = 1 << 31;

impl Recorder {
    /// Records a whole circuit: its own variables are the input ONE and all that it allocates.
    pub fn new() -> Self {
        let scope = Scope { own: [1, 0], ..Scope::default() };
        Self::with_scope(scope, Dictionary::new())
    }

    pub(crate) fn with_scope(scope: Scope, dictionary: Dictionary) -> Self {
        let matrices = [Matrix::new(), Matrix::new(), Matrix::new()];
        Self { scope, dictionary, matrices, fault: None }
    }

    /// The number of constraints so far.
    pub fn num_constraints(&self) -> usize {
        self.matrices[0].rows()
    }

    #[inline]
    fn provisional(&self, place: Place) -> u32 {
        let [shared_inputs, shared_aux] = self.scope.shared.map(|n| n as u32);
        match place {
            Place::OwnAux(own) => own,
            Place::SharedInput(i) => OTHER | i,
            Place::SharedAux(i) => OTHER | (shared_inputs + i),
            Place::Slot(slot) => OTHER | (shared_inputs + shared_aux + slot),
            Place::OwnInput(own) => {
                OTHER | (shared_inputs + shared_aux + self.scope.slots.len() as u32 + own)
            }
        }
    }

    fn record<L: Combination<Scalar>>(&mut self, which: usize, combination: &L) -> Result<(), CompileError> {
        let row = self.num_constraints();
        let terms = combination.input_terms().map(|(index, coefficient)| (true, index, coefficient));
        let terms =
            terms.chain(combination.aux_terms().map(|(index, coefficient)| (false, index, coefficient)));
        for (is_input, index, coefficient) in terms {
            if *coefficient == Scalar::ZERO {
                continue;
            }
            let matrix = MatrixName::ALL[which];
            let place = self.scope.place(is_input, index).ok_or_else(|| CompileError::UnknownVariable {
                row,
                matrix,
                variable: describe((is_input, index)),
            })?;
            let column = self.provisional(place);
            let coefficient = self
                .dictionary
                .intern(coefficient)
                .ok_or(CompileError::TooManyCoefficients { row, matrix })?;
            self.matrices[which].columns.push(column);
            self.matrices[which].coefficients.push(coefficient);
        }
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), CompileError> {
        for matrix in &mut self.matrices {
            let got = matrix.columns.len();
            let too_large =
                CompileError::TooLarge { what: "terms of a matrix", got, limit: u32::MAX as usize };
            matrix.starts.push(u32::try_from(got).map_err(|_| too_large)?);
        }
        Ok(())
    }

    /// The block with its columns renumbered, and the coefficients so far.
    pub(crate) fn into_block(self) -> Result<(Block, Dictionary), CompileError> {
        let Self { scope, dictionary, mut matrices, fault } = self;
        if let Some(fault) = fault {
            return Err(fault);
        }
        let count = |what, got: usize| {
            let limit = (OTHER - 1) as usize;
            u32::try_from(got).ok().filter(|n| *n < OTHER).ok_or(CompileError::TooLarge { what, got, limit })
        };
        let layout = Layout {
            shared_inputs: count("inputs", scope.shared[0])?,
            inputs: count("inputs", scope.own[0])?,
            shared_aux: count("auxiliary variables", scope.shared[1])?,
            aux: count("auxiliary variables", scope.own[1])?,
            slots: count("bindings", scope.slots.len())?,
        };
        let others = scope.shared[0] + scope.shared[1] + scope.slots.len() + scope.own[0];
        count("inputs, shared variables and bindings", others)?;
        let got = [scope.shared, scope.own].iter().flatten().sum::<usize>() + scope.slots.len();
        let bounds = layout.bounds().ok_or(CompileError::TooLarge {
            what: "columns of a block",
            got,
            limit: u32::MAX as usize,
        })?;
        let [own_inputs, shared_aux, own_aux, slots, _] = bounds;
        let renumber = |column: &mut u32| {
            if *column & OTHER == 0 {
                *column += own_aux;
                return;
            }
            let other = *column & !OTHER;
            let aux_end = layout.shared_inputs + layout.shared_aux;
            *column = if other < layout.shared_inputs {
                other
            } else if other < aux_end {
                other - layout.shared_inputs + shared_aux
            } else if other < aux_end + layout.slots {
                other - aux_end + slots
            } else {
                other - aux_end - layout.slots + own_inputs
            };
        };
        for matrix in &mut matrices {
            matrix.columns.iter_mut().for_each(renumber);
            if layout.slots != 0 {
                sort_bound_rows(matrix, slots);
            }
            matrix.columns.shrink_to_fit();
            matrix.coefficients.shrink_to_fit();
            matrix.starts.shrink_to_fit();
        }
        Ok((Block { layout, bounds, matrices }, dictionary))
    }
}

/// Puts slots last in their row: a copy's order of prefix variables is its own affair.
fn sort_bound_rows(matrix: &mut Matrix, slots: u32) {
    for row in 0..matrix.rows() {
        let terms = matrix.starts[row] as usize..matrix.starts[row + 1] as usize;
        let (columns, coefficients) = (&mut matrix.columns[terms.clone()], &mut matrix.coefficients[terms]);
        if columns.iter().any(|column| *column >= slots) {
            sort_terms(columns, coefficients);
        }
    }
}

/// Sorts the terms of a row by column.
pub(crate) fn sort_terms(columns: &mut [u32], coefficients: &mut [u16]) {
    let mut terms: Vec<_> = columns.iter().copied().zip(coefficients.iter().copied()).collect();
    terms.sort_unstable();
    for (i, (column, coefficient)) in terms.into_iter().enumerate() {
        (columns[i], coefficients[i]) = (column, coefficient);
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

impl Assembly<Scalar> for Recorder {
    #[inline]
    fn new_aux<E>(&mut self, _: impl FnOnce() -> Result<Scalar, E>) -> Result<usize, E> {
        Ok(self.scope.allocate(false))
    }

    #[inline]
    fn new_input<E>(&mut self, _: impl FnOnce() -> Result<Scalar, E>) -> Result<usize, E> {
        Ok(self.scope.allocate(true))
    }

    fn constrain<L: Combination<Scalar>>(&mut self, a: &L, b: &L, c: &L) {
        if self.fault.is_some() {
            return;
        }
        let recorded = self
            .record(0, a)
            .and_then(|()| self.record(1, b))
            .and_then(|()| self.record(2, c))
            .and_then(|()| self.end_row());
        self.fault = recorded.err();
    }
}

assignment::constraint_system!(bellpepper_core, [], Scalar, Recorder);
#[cfg(feature = "bellperson-compat")]
assignment::constraint_system!(bellpepper_core_02, [], Scalar, Recorder);
