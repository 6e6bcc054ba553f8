//! The constants of an instance, laid out for the native side: limbs in arrays of a width known to the compiler.

use std::array;

use blstrs::Scalar;

use super::Constants;
use super::limbs::{Limbs, limbs};

/// The tables of an instance, by its width.
#[derive(Debug, Clone)]
pub(super) enum Tables {
    Width3(Box<WidthTables<3>>),
    Width5(Box<WidthTables<5>>),
    Width9(Box<WidthTables<9>>),
    Width12(Box<WidthTables<12>>),
}

impl Tables {
    pub fn new(constants: &Constants) -> Self {
        match constants.width() {
            3 => Self::Width3(Box::new(WidthTables::new(constants))),
            5 => Self::Width5(Box::new(WidthTables::new(constants))),
            9 => Self::Width9(Box::new(WidthTables::new(constants))),
            12 => Self::Width12(Box::new(WidthTables::new(constants))),
            width => unreachable!("no instance has width {width}"),
        }
    }
}

/// The constants of an instance of width `W`.
#[derive(Debug, Clone)]
pub(super) struct WidthTables<const W: usize> {
    /// The first element after the first round's fifth power.
    pub first_power: Limbs,
    /// The first round's keys, before and after its fifth powers.
    pub first_keys: [[Limbs; W]; 2],
    /// The keys and the columns of the matrices of the other full rounds before the partial ones.
    pub initial_rounds: Vec<FullRound<W>>,
    pub partial_rounds: Vec<PartialRound<W>>,
    /// As `initial_rounds`, after the partial ones, without the last.
    pub final_rounds: Vec<FullRound<W>>,
    /// The columns of the matrix of the first and the last round.
    pub mds: [[Limbs; W]; W],
}

#[derive(Debug, Clone)]
pub(super) struct FullRound<const W: usize> {
    pub keys: [Limbs; W],
    pub columns: [[Limbs; W]; W],
}

#[derive(Debug, Clone)]
pub(super) struct PartialRound<const W: usize> {
    pub key: Limbs,
    pub first_column: [Limbs; W],
    /// The first entry is not used: the first column has it.
    pub first_row: [Limbs; W],
}

impl<const W: usize> WidthTables<W> {
    fn new(constants: &Constants) -> Self {
        let mut keys = constants.round_keys.iter();
        let mut next_keys = || array::from_fn(|_| keys.next().map_or([0; 4], limbs));
        let columns = |matrix: &[Vec<Scalar>]| array::from_fn(|j| array::from_fn(|i| limbs(&matrix[j][i])));
        let mds = columns(&constants.mds);
        let others = constants.half_full_rounds - 1;

        let first_keys = [next_keys(), next_keys()];
        let mut initial_rounds: Vec<_> =
            (0..others).map(|_| FullRound { keys: next_keys(), columns: mds }).collect();
        if let Some(last) = initial_rounds.last_mut() {
            last.columns = columns(&constants.pre_sparse);
        }
        let partial_rounds = constants.sparse.iter().map(|matrix| PartialRound {
            key: keys.next().map_or([0; 4], limbs),
            first_column: array::from_fn(|i| limbs(&matrix.first_column[i])),
            first_row: array::from_fn(|i| if i == 0 { [0; 4] } else { limbs(&matrix.first_row[i - 1]) }),
        });
        let partial_rounds = partial_rounds.collect();
        let mut next_keys = || array::from_fn(|_| keys.next().map_or([0; 4], limbs));
        let final_rounds = (0..others).map(|_| FullRound { keys: next_keys(), columns: mds }).collect();
        Self {
            first_power: limbs(&constants.first_power()),
            first_keys,
            initial_rounds,
            partial_rounds,
            final_rounds,
            mds,
        }
    }
}
