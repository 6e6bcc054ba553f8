//! Checks that a synthesis gives the rows that were recorded.

use assignment::{Assembly, Combination};
use blstrs::Scalar;
use ff::Field;

use crate::error::MatrixName;
use crate::matrix::Block;
use crate::recorder::{Place, Scope, describe, sort_terms};

/// A constraint system that compares each constraint with a recorded block's.
pub(crate) struct Comparer<'a> {
    scope: Scope,
    block: &'a Block,
    coefficients: &'a [Scalar],
    row: usize,
    columns: Vec<u32>,
    numbers: Vec<u16>,
    difference: Option<String>,
}

impl<'a> Comparer<'a> {
    pub(crate) fn new(scope: Scope, block: &'a Block, coefficients: &'a [Scalar]) -> Self {
        Self { scope, block, coefficients, row: 0, columns: vec![], numbers: vec![], difference: None }
    }

    /// The first difference, if there is one.
    pub(crate) fn finish(self) -> Option<String> {
        let Self { scope, block, row, difference, .. } = self;
        let counts = |what, expected: usize, got: usize| {
            (expected != got).then(|| format!("{what}: expected {expected}, got {got}"))
        };
        difference
            .or_else(|| counts("constraints", block.rows(), row))
            .or_else(|| counts("inputs", block.layout.inputs as usize, scope.own[0]))
            .or_else(|| counts("auxiliary variables", block.layout.aux as usize, scope.own[1]))
    }

    fn compare<L: Combination<Scalar>>(&mut self, which: usize, combination: &L) -> Result<(), String> {
        let at = |row| format!("row {row} of {:?}", MatrixName::ALL[which]);
        let (columns, numbers) = self.block.matrices[which].row(self.row);
        let [own_inputs, shared_aux, own_aux, slots, _] = self.block.bounds;
        self.columns.clear();
        self.numbers.clear();
        let mut bound = false;
        let terms = combination.input_terms().map(|(index, coefficient)| (true, index, coefficient));
        let terms =
            terms.chain(combination.aux_terms().map(|(index, coefficient)| (false, index, coefficient)));
        for (is_input, index, coefficient) in terms.filter(|(_, _, c)| **c != Scalar::ZERO) {
            let column = match self.scope.place(is_input, index) {
                Some(Place::SharedInput(i)) => i,
                Some(Place::OwnInput(i)) => own_inputs + i,
                Some(Place::SharedAux(i)) => shared_aux + i,
                Some(Place::OwnAux(i)) => own_aux + i,
                Some(Place::Slot(i)) => {
                    bound = true;
                    slots + i
                }
                None => {
                    let variable = describe((is_input, index));
                    return Err(format!("{} refers to {variable}, which is not its own", at(self.row)));
                }
            };
            // Without bindings the terms come in the recorded order, so the number is nearly always right there.
            let there = numbers.get(self.columns.len()).copied();
            let number = match there {
                Some(number) if self.coefficients.get(number as usize) == Some(coefficient) => number,
                _ => self
                    .coefficients
                    .iter()
                    .position(|known| known == coefficient)
                    .ok_or_else(|| format!("{} has another coefficient", at(self.row)))?
                    as u16,
            };
            self.columns.push(column);
            self.numbers.push(number);
        }
        if bound {
            sort_terms(&mut self.columns, &mut self.numbers);
        }
        if self.columns != columns {
            return Err(format!("{} has other variables", at(self.row)));
        }
        if self.numbers != numbers {
            return Err(format!("{} has other coefficients", at(self.row)));
        }
        Ok(())
    }
}

impl Assembly<Scalar> for Comparer<'_> {
    #[inline]
    fn new_aux<E>(&mut self, _: impl FnOnce() -> Result<Scalar, E>) -> Result<usize, E> {
        Ok(self.scope.allocate(false))
    }

    #[inline]
    fn new_input<E>(&mut self, _: impl FnOnce() -> Result<Scalar, E>) -> Result<usize, E> {
        Ok(self.scope.allocate(true))
    }

    fn constrain<L: Combination<Scalar>>(&mut self, a: &L, b: &L, c: &L) {
        if self.difference.is_none() && self.row < self.block.rows() {
            let compared =
                self.compare(0, a).and_then(|()| self.compare(1, b)).and_then(|()| self.compare(2, c));
            self.difference = compared.err();
        }
        self.row += 1;
    }
}

assignment::constraint_system!(bellpepper_core, ['a], Scalar, Comparer<'a>);
