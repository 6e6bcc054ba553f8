//! What a vector of field elements means, as a type: coefficients or values, natural or bit-reversed.

use std::marker::PhantomData;

use blstrs::Scalar;

use crate::{Domain, Error};

mod sealed {
    pub trait Sealed {}
}

/// What the elements of a [`Polynomial`] are.
pub trait Basis: sealed::Sealed + Copy + Send + Sync + 'static {
    /// Whether the elements belong to the coset `g·H`.
    const COSET: bool;
}

/// The order in which the elements of a [`Polynomial`] stand.
pub trait Order: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The other order.
    type Flipped: Order<Flipped = Self>;
    /// Whether element `i` stands at the position whose `log_size` bits are those of `i` reversed.
    const REVERSED: bool;
}

/// Element `i` is the coefficient of `x^i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coefficients;
/// Element `i` is the value at `ω^i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evaluations;
/// Element `i` is the value at `g·ω^i`, with `g` the domain's [coset generator](Domain::coset_generator).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CosetEvaluations;

/// Element `i` stands at position `i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Natural;
/// Element `i` stands at position `reverse_bits(i)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitReversed;

impl sealed::Sealed for Coefficients {}
impl sealed::Sealed for Evaluations {}
impl sealed::Sealed for CosetEvaluations {}
impl sealed::Sealed for Natural {}
impl sealed::Sealed for BitReversed {}

impl Basis for Coefficients {
    const COSET: bool = false;
}
impl Basis for Evaluations {
    const COSET: bool = false;
}
impl Basis for CosetEvaluations {
    const COSET: bool = true;
}
impl Order for Natural {
    type Flipped = BitReversed;
    const REVERSED: bool = false;
}
impl Order for BitReversed {
    type Flipped = Natural;
    const REVERSED: bool = true;
}

/// A polynomial of degree below `n`, as `n` field elements whose meaning is `B` and whose order is `O`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Polynomial<B: Basis, O: Order = Natural> {
    values: Vec<Scalar>,
    domain: Domain,
    meaning: PhantomData<(B, O)>,
}

impl<B: Basis, O: Order> Polynomial<B, O> {
    /// Takes `values` as what the types say; there must be as many as the domain has elements.
    pub fn new(domain: Domain, values: Vec<Scalar>) -> Result<Self, Error> {
        if values.len() != domain.size() {
            return Err(Error::Length { what: "polynomial", expected: domain.size(), got: values.len() });
        }
        Ok(Self { values, domain, meaning: PhantomData })
    }

    /// The domain.
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// The elements.
    pub fn values(&self) -> &[Scalar] {
        &self.values
    }

    /// The elements, to be changed in place.
    pub fn values_mut(&mut self) -> &mut [Scalar] {
        &mut self.values
    }

    /// The elements, without their meaning.
    pub fn into_values(self) -> Vec<Scalar> {
        self.values
    }

    /// The same elements in the other order: the bit-reversal permutation, in place.
    pub fn reorder(mut self) -> Polynomial<B, O::Flipped> {
        bit_reverse(&mut self.values);
        self.relabel()
    }

    /// The same memory with another meaning: what a transform returns.
    pub(crate) fn relabel<C: Basis, P: Order>(self) -> Polynomial<C, P> {
        Polynomial { values: self.values, domain: self.domain, meaning: PhantomData }
    }
}

/// Swaps every element with the one at the position of reversed bits. The length is a power of two.
fn bit_reverse(values: &mut [Scalar]) {
    let log_size = values.len().trailing_zeros();
    for i in 0..values.len() {
        let j = reverse(i, log_size);
        if i < j {
            values.swap(i, j);
        }
    }
}

/// The `bits` low bits of `i` in reversed order.
pub(crate) fn reverse(i: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) }
}
