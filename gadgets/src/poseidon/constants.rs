//! Round keys and matrices.

use std::sync::{LazyLock, OnceLock};

use blstrs::Scalar;
use ff::Field;
use neptune::Strength;
use neptune::hash_type::{CType, HashType};
use neptune::poseidon::{Arity, PoseidonConstants};
use typenum::{U2, U4, U8, U11};

use super::tables::Tables;

/// An instance of Poseidon: its width, domain tag, round numbers, round keys and matrices.
#[derive(Debug, Clone)]
pub struct Constants {
    pub(super) arity: usize,
    pub(super) domain_tag: Scalar,
    pub(super) half_full_rounds: usize,
    pub(super) partial_rounds: usize,
    /// In the order of use: twice the width for the first round (before and after its fifth powers), the width for a further full
    /// round except the last, which has none, and one for a partial round.
    pub(super) round_keys: Vec<Scalar>,
    /// The matrix of a full round. `mds[j]` is column `j`, of which output `j` is the product with the state.
    pub(super) mds: Vec<Vec<Scalar>>,
    /// The columns of the matrix of the last full round before the partial ones.
    pub(super) pre_sparse: Vec<Vec<Scalar>>,
    /// The matrices of the partial rounds.
    pub(super) sparse: Vec<SparseMatrix>,
    /// The same numbers as the native side wants them.
    native: OnceLock<Tables>,
}

/// A matrix that is the identity but for its first column and first row.
#[derive(Debug, Clone)]
pub(super) struct SparseMatrix {
    pub first_column: Vec<Scalar>,
    /// The first row without its first entry.
    pub first_row: Vec<Scalar>,
}

static ARITY_2: LazyLock<Constants> = LazyLock::new(|| Constants::from_neptune::<U2>(HashType::MerkleTree));
static ARITY_4: LazyLock<Constants> = LazyLock::new(|| Constants::from_neptune::<U4>(HashType::MerkleTree));
static ARITY_8: LazyLock<Constants> = LazyLock::new(|| Constants::from_neptune::<U8>(HashType::MerkleTree));
static ARITY_11: LazyLock<Constants> = LazyLock::new(|| Constants::from_neptune::<U11>(HashType::MerkleTree));
static UPDATE: LazyLock<Constants> =
    LazyLock::new(|| Constants::from_neptune::<U2>(HashType::Custom(CType::Arbitrary(1))));

impl Constants {
    /// Two inputs, domain tag 3: `comm_r`, binary levels, columns of two layers.
    pub fn arity_2() -> &'static Self {
        &ARITY_2
    }

    /// Four inputs, domain tag 15.
    pub fn arity_4() -> &'static Self {
        &ARITY_4
    }

    /// Eight inputs, domain tag 255: tree levels.
    pub fn arity_8() -> &'static Self {
        &ARITY_8
    }

    /// Eleven inputs, domain tag 2047: columns of eleven layers.
    pub fn arity_11() -> &'static Self {
        &ARITY_11
    }

    /// The instance of trees and columns with `arity` inputs, if there is one: 2, 4, 8 or 11.
    pub fn merkle(arity: usize) -> Option<&'static Self> {
        match arity {
            2 => Some(Self::arity_2()),
            4 => Some(Self::arity_4()),
            8 => Some(Self::arity_8()),
            11 => Some(Self::arity_11()),
            _ => None,
        }
    }

    /// SnapDeals' instance for phi, rho and challenges: two inputs, domain tag 2^40.
    pub fn update() -> &'static Self {
        &UPDATE
    }

    /// The number of inputs.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// The number of elements of the state.
    pub fn width(&self) -> usize {
        self.arity + 1
    }

    /// The number of full rounds.
    pub fn full_rounds(&self) -> usize {
        2 * self.half_full_rounds
    }

    /// The number of partial rounds.
    pub fn partial_rounds(&self) -> usize {
        self.partial_rounds
    }

    /// The first element of the state before the permutation.
    pub fn domain_tag(&self) -> Scalar {
        self.domain_tag
    }

    /// The number of auxiliary variables, and of rows, of one hash: three a fifth power, one for each
    /// power's input (preimages in the first round are variables already) and one for the result.
    pub fn variables(&self) -> usize {
        3 * self.arity + 4 * (self.width() * (self.full_rounds() - 1) + self.partial_rounds) + 1
    }

    /// The first element after the first round's fifth power: a constant, since it starts as one.
    pub(super) fn first_power(&self) -> Scalar {
        let base = self.domain_tag + self.round_keys[0];
        base.square().square() * base + self.round_keys[self.width()]
    }

    pub(super) fn tables(&self) -> &Tables {
        self.native.get_or_init(|| Tables::new(self))
    }

    fn from_neptune<A: Arity<Scalar>>(hash_type: HashType<Scalar, A>) -> Self {
        let constants =
            PoseidonConstants::<Scalar, A>::new_with_strength_and_type(Strength::Standard, hash_type);
        let columns = |rows: &[Vec<Scalar>]| -> Vec<Vec<Scalar>> {
            (0..rows.len()).map(|j| rows.iter().map(|row| row[j]).collect()).collect()
        };
        let sparse = constants.sparse_matrixes.iter().map(|matrix| SparseMatrix {
            first_column: matrix.w_hat.clone(),
            first_row: matrix.v_rest.clone(),
        });
        Self {
            arity: constants.mds_matrices.m.len() - 1,
            domain_tag: constants.domain_tag,
            half_full_rounds: constants.half_full_rounds,
            partial_rounds: constants.partial_rounds,
            round_keys: constants.compressed_round_constants.clone(),
            mds: columns(&constants.mds_matrices.m),
            pre_sparse: columns(&constants.pre_sparse_matrix),
            sparse: sparse.collect(),
            native: OnceLock::new(),
        }
    }
}
