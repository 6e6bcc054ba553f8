//! A witness kept as bits where it is bits, and as field elements where it is not.

use std::fmt;

use ff::PrimeField;
use sha2::{Digest, Sha256};

use crate::Bitmap;

/// The values of all variables of a circuit.
///
/// Inputs are field elements, ONE first. Of each auxiliary variable one bitmap says whether it is *dense*, that is, kept
/// as a field element in [`dense_values`](Self::dense_values) (in order of the variables); where it is not, another
/// bitmap holds its value, 0 or 1. That is 2 bits for a bit and 256 for an element. A dense value may be 0 or 1: which
/// variables are dense usually belongs to the circuit, not to the values, so two witnesses with the same values may be
/// packed differently (compare with [`first_difference`](Self::first_difference)).
#[derive(Clone, Debug)]
pub struct PackedWitness<F> {
    inputs: Vec<F>,
    /// Zero where the variable is dense.
    ones: Bitmap,
    is_dense: Bitmap,
    dense: Vec<F>,
    /// For each word of `is_dense`, the number of dense variables before it.
    rank: Vec<u32>,
}

/// The value of an auxiliary variable as a [`PackedWitness`] keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuxValue<'a, F> {
    /// 0 or 1.
    Bit(bool),
    /// A field element, which may also be 0 or 1.
    Element(&'a F),
}

impl<F: PrimeField> AuxValue<'_, F> {
    /// The value as a field element.
    #[inline]
    pub fn to_field(self) -> F {
        match self {
            Self::Bit(false) => F::ZERO,
            Self::Bit(true) => F::ONE,
            Self::Element(value) => *value,
        }
    }
}

/// Parts that do not make a packed witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackedError {
    /// Input 0 is the constant ONE.
    #[error("the first input of a witness is ONE")]
    FirstInput,
    /// The two bitmaps speak of different numbers of variables.
    #[error("the value bitmap has {ones} bits, the dense bitmap {is_dense}")]
    Bitmaps {
        /// Bits in the value bitmap.
        ones: usize,
        /// Bits in the dense bitmap.
        is_dense: usize,
    },
    /// A variable is both a bit that is one and dense.
    #[error("auxiliary variable {0} is dense and has a one in the value bitmap")]
    Overlap(usize),
    /// The number of elements is not the number of dense variables.
    #[error("expected {expected} dense values, got {got}")]
    Dense {
        /// Ones in the dense bitmap.
        expected: usize,
        /// Elements given.
        got: usize,
    },
    /// More variables than 32-bit columns can name.
    #[error("{0} auxiliary variables, but at most 2^32 - 1 are supported")]
    TooMany(usize),
}

/// Where two witnesses first differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference<F> {
    /// In the number of inputs or auxiliary variables.
    Length {
        /// Inputs with ONE, and auxiliary variables, of the first witness.
        ours: (usize, usize),
        /// The same of the second.
        theirs: (usize, usize),
    },
    /// In an input.
    Input(usize, F, F),
    /// In an auxiliary variable.
    Aux(usize, F, F),
}

impl<F: fmt::Debug> fmt::Display for Difference<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { ours, theirs } => {
                write!(f, "{} inputs and {} aux, against {} and {}", ours.0, ours.1, theirs.0, theirs.1)
            }
            Self::Input(i, ours, theirs) => write!(f, "input {i}: {ours:?} against {theirs:?}"),
            Self::Aux(i, ours, theirs) => write!(f, "aux {i}: {ours:?} against {theirs:?}"),
        }
    }
}

impl<F: PrimeField> PackedWitness<F> {
    /// A witness from its parts: `inputs` with ONE first; for each auxiliary variable a bit of `ones` (its value,
    /// if it is a bit) and of `is_dense`; and the values of the dense ones.
    pub fn new(inputs: Vec<F>, ones: Bitmap, is_dense: Bitmap, dense: Vec<F>) -> Result<Self, PackedError> {
        if inputs.first() != Some(&F::ONE) {
            return Err(PackedError::FirstInput);
        }
        if ones.len() != is_dense.len() {
            return Err(PackedError::Bitmaps { ones: ones.len(), is_dense: is_dense.len() });
        }
        if u32::try_from(ones.len()).is_err() {
            return Err(PackedError::TooMany(ones.len()));
        }
        let overlap = ones.words().iter().zip(is_dense.words()).position(|(ones, dense)| ones & dense != 0);
        if let Some(word) = overlap {
            let bit = (ones.words()[word] & is_dense.words()[word]).trailing_zeros();
            return Err(PackedError::Overlap(64 * word + bit as usize));
        }
        let expected = is_dense.count_ones();
        if expected != dense.len() {
            return Err(PackedError::Dense { expected, got: dense.len() });
        }
        Ok(Self::assemble(inputs, ones, is_dense, dense))
    }

    /// [`new`](Self::new) of parts that are known to fit.
    pub(crate) fn assemble(inputs: Vec<F>, ones: Bitmap, is_dense: Bitmap, dense: Vec<F>) -> Self {
        let mut before = 0;
        let rank = is_dense
            .words()
            .iter()
            .map(|word| {
                let rank = before;
                before += word.count_ones();
                rank
            })
            .collect();
        Self { inputs, ones, is_dense, dense, rank }
    }

    /// Packs plain values: dense where a value is neither 0 nor 1. `inputs` has ONE first.
    pub fn from_assignment(inputs: Vec<F>, aux: &[F]) -> Result<Self, PackedError> {
        let mut ones = Bitmap::with_capacity(aux.len());
        let mut is_dense = Bitmap::with_capacity(aux.len());
        let mut dense = Vec::new();
        for value in aux {
            let bit = *value == F::ONE;
            let full = !bit && *value != F::ZERO;
            ones.push(bit);
            is_dense.push(full);
            if full {
                dense.push(*value);
            }
        }
        Self::new(inputs, ones, is_dense, dense)
    }

    /// The plain values: inputs with ONE first, and aux.
    pub fn to_assignment(&self) -> (Vec<F>, Vec<F>) {
        (self.inputs.clone(), self.aux_values().collect())
    }

    /// The inputs, ONE first.
    #[inline]
    pub fn inputs(&self) -> &[F] {
        &self.inputs
    }

    /// The number of auxiliary variables.
    #[inline]
    pub fn num_aux(&self) -> usize {
        self.ones.len()
    }

    /// For each auxiliary variable, whether it is a bit that is one.
    #[inline]
    pub fn ones(&self) -> &Bitmap {
        &self.ones
    }

    /// For each auxiliary variable, whether it is kept as a field element.
    #[inline]
    pub fn is_dense(&self) -> &Bitmap {
        &self.is_dense
    }

    /// The values of the dense variables, in order.
    #[inline]
    pub fn dense_values(&self) -> &[F] {
        &self.dense
    }

    /// The rank directory: for each 64-bit word of [`is_dense`](Self::is_dense), the number of dense variables before it.
    #[inline]
    pub fn rank(&self) -> &[u32] {
        &self.rank
    }

    /// Auxiliary variable `i`, in constant time.
    ///
    /// # Panics
    /// If there are not more than `i`.
    #[inline]
    pub fn aux(&self, i: usize) -> AuxValue<'_, F> {
        let (word, bit) = (i / 64, i % 64);
        let flags = self.is_dense.words()[word];
        if flags >> bit & 1 == 0 {
            return AuxValue::Bit(self.ones.words()[word] >> bit & 1 == 1);
        }
        let before = (flags & ((1 << bit) - 1)).count_ones();
        AuxValue::Element(&self.dense[(self.rank[word] + before) as usize])
    }

    /// The auxiliary values as field elements, in order.
    pub fn aux_values(&self) -> impl Iterator<Item = F> + '_ {
        let mut dense = self.dense.iter();
        (0..self.num_aux()).map(move |i| match self.is_dense.get(i) {
            // There are as many elements as dense variables.
            true => dense.next().copied().unwrap_or(F::ZERO),
            false => AuxValue::Bit(self.ones.get(i)).to_field(),
        })
    }

    /// The first difference in values, however either is packed.
    pub fn first_difference(&self, other: &Self) -> Option<Difference<F>> {
        let lengths = |witness: &Self| (witness.inputs.len(), witness.num_aux());
        if lengths(self) != lengths(other) {
            return Some(Difference::Length { ours: lengths(self), theirs: lengths(other) });
        }
        let inputs = self.inputs.iter().zip(&other.inputs).enumerate();
        let input = inputs.map(|(i, (a, b))| (i, *a, *b)).find(|(_, a, b)| a != b);
        if let Some((i, a, b)) = input {
            return Some(Difference::Input(i, a, b));
        }
        let aux = self.aux_values().zip(other.aux_values()).enumerate();
        aux.map(|(i, (a, b))| (i, a, b)).find(|(_, a, b)| a != b).map(|(i, a, b)| Difference::Aux(i, a, b))
    }

    /// SHA-256 over the whole assignment: the numbers of inputs (with ONE) and of auxiliary variables as 64-bit
    /// little-endian integers, then every input, ONE first, then every auxiliary value, each in the field's canonical
    /// representation (32 bytes little-endian for BLS12-381).
    pub fn sha256(&self) -> [u8; 32] {
        let mut hasher = Sha256::new();
        hasher.update((self.inputs.len() as u64).to_le_bytes());
        hasher.update((self.num_aux() as u64).to_le_bytes());
        let (zero, one) = (F::ZERO.to_repr(), F::ONE.to_repr());
        let mut buffer = Vec::with_capacity(1 << 16);
        let mut push = |bytes: &[u8]| {
            buffer.extend_from_slice(bytes);
            if buffer.len() >= 1 << 15 {
                hasher.update(&buffer);
                buffer.clear();
            }
        };
        self.inputs.iter().for_each(|value| push(value.to_repr().as_ref()));
        let mut dense = self.dense.iter();
        for i in 0..self.num_aux() {
            match (self.is_dense.get(i), self.ones.get(i)) {
                (true, _) => {
                    if let Some(value) = dense.next() {
                        push(value.to_repr().as_ref());
                    }
                }
                (false, false) => push(zero.as_ref()),
                (false, true) => push(one.as_ref()),
            }
        }
        hasher.update(&buffer);
        hasher.finalize().into()
    }

    /// Bytes of memory that this witness holds.
    pub fn memory(&self) -> usize {
        size_of_val(self.inputs.as_slice())
            + size_of_val(self.ones.words())
            + size_of_val(self.is_dense.words())
            + size_of_val(self.rank.as_slice())
            + size_of_val(self.dense.as_slice())
    }
}
