//! The constants of an instance, laid out for the native side: limbs in arrays of a width known to the compiler.

use std::array;

use blstrs::Scalar;
use ff::Field;

use super::Constants;
use super::limbs::{Limbs, LimbsOf52, limbs, limbs_of_52, sixteenfold_of_52};

/// The tables of an instance, by its width.
#[derive(Debug, Clone)]
pub(super) enum Tables {
    Width3(Box<BothTables<3>>),
    Width5(Box<BothTables<5>>),
    Width9(Box<BothTables<9>>),
    Width12(Box<BothTables<12>>),
}

impl Tables {
    pub fn new(constants: &Constants) -> Self {
        match constants.width() {
            3 => Self::Width3(Box::new(BothTables::new(constants))),
            5 => Self::Width5(Box::new(BothTables::new(constants))),
            9 => Self::Width9(Box::new(BothTables::new(constants))),
            12 => Self::Width12(Box::new(BothTables::new(constants))),
            width => unreachable!("no instance has width {width}"),
        }
    }
}

/// The constants of an instance of width `W`, for one permutation and for several at a time.
#[derive(Debug, Clone)]
pub(super) struct BothTables<const W: usize> {
    pub one: WidthTables<W, Limbs>,
    pub several: VectorTables<W>,
}

impl<const W: usize> BothTables<W> {
    fn new(constants: &Constants) -> Self {
        Self {
            one: WidthTables::new(constants, limbs, limbs),
            several: WidthTables::new(constants, limbs_of_52, sixteenfold_of_52),
        }
    }
}

/// The constants for the vector unit. Those that are factors of products are sixteen times themselves.
pub(crate) type VectorTables<const W: usize> = WidthTables<W, LimbsOf52>;

/// The constants of an instance of width `W`: keys, which are added, and matrices, whose entries are factors.
#[derive(Debug, Clone)]
pub(crate) struct WidthTables<const W: usize, T> {
    /// The first element after the first round's fifth power.
    pub first_power: T,
    /// The first round's keys, before and after its fifth powers.
    pub first_keys: [[T; W]; 2],
    /// The keys and the columns of the matrices of the other full rounds before the partial ones.
    pub initial_rounds: Vec<FullRound<W, T>>,
    pub partial_rounds: Vec<PartialRound<W, T>>,
    /// As `initial_rounds`, after the partial ones, without the last.
    pub final_rounds: Vec<FullRound<W, T>>,
    /// The columns of the matrix of the first and the last round.
    pub mds: [[T; W]; W],
}

#[derive(Debug, Clone)]
pub(crate) struct FullRound<const W: usize, T> {
    pub keys: [T; W],
    pub columns: [[T; W]; W],
}

#[derive(Debug, Clone)]
pub(crate) struct PartialRound<const W: usize, T> {
    pub key: T,
    pub first_column: [T; W],
    /// The first entry is not used: the first column has it.
    pub first_row: [T; W],
}

impl<const W: usize, T: Copy> WidthTables<W, T> {
    fn new(constants: &Constants, number: impl Fn(&Scalar) -> T, factor: impl Fn(&Scalar) -> T) -> Self {
        let zero = number(&Scalar::ZERO);
        let mut keys = constants.round_keys.iter();
        let mut next_keys = || array::from_fn(|_| keys.next().map_or(zero, &number));
        let columns = |matrix: &[Vec<Scalar>]| array::from_fn(|j| array::from_fn(|i| factor(&matrix[j][i])));
        let mds = columns(&constants.mds);
        let others = constants.half_full_rounds - 1;

        let first_keys = [next_keys(), next_keys()];
        let mut initial_rounds: Vec<_> =
            (0..others).map(|_| FullRound { keys: next_keys(), columns: mds }).collect();
        if let Some(last) = initial_rounds.last_mut() {
            last.columns = columns(&constants.pre_sparse);
        }
        let partial_rounds = constants.sparse.iter().map(|matrix| PartialRound {
            key: keys.next().map_or(zero, &number),
            first_column: array::from_fn(|i| factor(&matrix.first_column[i])),
            first_row: array::from_fn(|i| if i == 0 { zero } else { factor(&matrix.first_row[i - 1]) }),
        });
        let partial_rounds = partial_rounds.collect();
        let mut next_keys = || array::from_fn(|_| keys.next().map_or(zero, &number));
        let final_rounds = (0..others).map(|_| FullRound { keys: next_keys(), columns: mds }).collect();
        Self {
            first_power: number(&constants.first_power()),
            first_keys,
            initial_rounds,
            partial_rounds,
            final_rounds,
            mds,
        }
    }
}
