//! What can go wrong while a circuit is compiled or a witness is applied to it.

use bellpepper_core::SynthesisError;
use blstrs::Scalar;
use ff::PrimeField;

/// One of a constraint system's three matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatrixName {
    /// The left factors.
    A,
    /// The right factors.
    B,
    /// The products.
    C,
}

impl MatrixName {
    /// All three, in order.
    pub const ALL: [Self; 3] = [Self::A, Self::B, Self::C];
}

/// A circuit that cannot be compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The circuit's own synthesis failed.
    #[error("synthesis of {part} failed: {source}")]
    Synthesis {
        /// `the prefix` or `unit n`.
        part: String,
        /// What it said.
        source: SynthesisError,
    },
    /// A row refers to a variable that nobody allocated, or that belongs to another unit.
    #[error("row {row} of {matrix:?} refers to {variable}, which is not one of its block's variables")]
    UnknownVariable {
        /// The row within its block.
        row: usize,
        /// The matrix.
        matrix: MatrixName,
        /// `input i` or `aux i`.
        variable: String,
    },
    /// There are more than 65,536 distinct coefficients.
    #[error("row {row} of {matrix:?} has the 65,537th distinct coefficient; 65,536 can be told apart")]
    TooManyCoefficients {
        /// The row within its block.
        row: usize,
        /// The matrix.
        matrix: MatrixName,
    },
    /// There are more variables or terms than 32-bit numbers can name.
    #[error("{what}: {got}, but at most {limit} are supported")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        got: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A structured circuit has no unit.
    #[error("a structured circuit has at least one unit")]
    NoUnits,
    /// A copy has another number of bindings than the first.
    #[error("unit {unit} has {got} bindings, unit 0 has {expected}")]
    BindingLength {
        /// The copy.
        unit: usize,
        /// Bindings of unit 0.
        expected: usize,
        /// Bindings of this copy.
        got: usize,
    },
    /// A binding is not a variable of the prefix, or is one that the units also use unbound, or equals another binding of
    /// its copy where the first copy's differ.
    #[error("binding {slot} of unit {unit} is {variable}: {reason}")]
    Binding {
        /// The copy.
        unit: usize,
        /// The place among the copy's bindings.
        slot: usize,
        /// `input i` or `aux i`.
        variable: String,
        /// Why it cannot be.
        reason: &'static str,
    },
    /// A copy of the unit is not the first one shifted.
    #[error("unit {unit} is not a copy of unit 0: {difference}")]
    NotACopy {
        /// The copy.
        unit: usize,
        /// Where they differ.
        difference: String,
    },
}

/// A witness of another size than the circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: expected {expected}, got {got}")]
pub struct SizeError {
    /// What has the wrong size.
    pub what: &'static str,
    /// The circuit's number.
    pub expected: usize,
    /// The caller's.
    pub got: usize,
}

/// A witness that is not one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// The witness has another size than the circuit.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// A row does not hold; it is the first such.
    #[error("row {row} is not satisfied: a = {}, b = {}, c = {}", hex(.a), hex(.b), hex(.c))]
    Unsatisfied {
        /// The constraint, in order of `enforce`.
        row: usize,
        /// Its left factor's value.
        a: Scalar,
        /// Its right factor's value.
        b: Scalar,
        /// What should be their product.
        c: Scalar,
    },
}

/// Big-endian, without leading zeros, as numbers are read.
fn hex(value: &Scalar) -> String {
    let digits: String = value.to_repr().iter().rev().map(|byte| format!("{byte:02x}")).collect();
    let digits = digits.trim_start_matches('0');
    format!("0x{}", if digits.is_empty() { "0" } else { digits })
}
