//! Transforms on a CUDA device, by the same formulas and names as [`crate::cpu`].
//!
//! Vectors are [`Polynomial`]s in device memory; a transform works in place and flips the order, or goes from natural to natural
//! order by way of a second vector, at the same speed. Up to nine layers are done each time the vector is read and written. Twiddles come from
//! one table in bit-reversed order; a transform over the coset starts one block further in that table, so that
//! top down from coefficients, or bottom up to coefficients, it costs no more than one over the domain.

mod memory;
mod polynomial;
mod quotient;

pub mod bench;

use std::ops::Range;

use blstrs::Scalar;
use ff::Field;
use gpu::{DeviceBuffer, Fr, Pool, Stream};

use crate::ffi::{self, Layers, Load, Store, Twiddle};
use crate::poly::reverse;
use crate::{Basis, Coefficients, CosetEvaluations, Domain, Error, Evaluations, Order};

pub use memory::Memory;
pub use polynomial::Polynomial;

/// A domain with its twiddles on a device, ready to transform.
#[derive(Debug)]
pub struct Ntt {
    domain: Domain,
    memory: Memory,
    table: DeviceBuffer<Twiddle>,
    size_inverse: Scalar,
}

impl Ntt {
    /// The largest domain, `2^30`: 32 GiB for a vector.
    pub const MAX_LOG_SIZE: u32 = 30;

    /// Computes the twiddles of `domain` and of its coset, for [`Memory::Ample`].
    pub fn new(domain: Domain, pool: &Pool, stream: &Stream) -> Result<Self, Error> {
        Self::within(Memory::Ample, domain, pool, stream)
    }

    /// Computes the twiddles: [`Memory::twiddle_bytes`] of the pool.
    pub fn within(memory: Memory, domain: Domain, pool: &Pool, stream: &Stream) -> Result<Self, Error> {
        if domain.log_size() > Self::MAX_LOG_SIZE {
            return Err(Error::DeviceDomain { log_size: domain.log_size(), limit: Self::MAX_LOG_SIZE });
        }
        let shape = memory.table_shape(domain);
        let mut table = pool.allocate(shape.length(), stream)?;
        // rev over log2 n bits; g is a primitive 2n-th root of unity. The domain exists up to 2^31.
        let bits = domain.log_size();
        let generator = domain.coset_generator()?;
        let step = |k: u32| Fr(generator.pow_vartime([reverse(1 << k, bits) as u64]));
        let steps: Vec<Fr> = (0..bits).map(step).collect();
        ffi::fill_table(stream, &table.write(stream)?, shape, &steps)?;
        Ok(Self { domain, memory, table, size_inverse: domain.size_inverse() })
    }

    /// The domain.
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// How much device memory the transforms take.
    pub fn memory(&self) -> Memory {
        self.memory
    }

    /// Coefficients to values: `X_k = Σ_j x_j ω^(jk)`.
    pub fn forward<O: Order>(
        &self,
        stream: &Stream,
        poly: Polynomial<Coefficients, O>,
    ) -> Result<Polynomial<Evaluations, O::Flipped>, Error> {
        self.in_place(stream, &Transform::FORWARD, poly)
    }

    /// Values to coefficients: `x_j = (1/n) Σ_k X_k ω^(-jk)`.
    pub fn inverse<O: Order>(
        &self,
        stream: &Stream,
        poly: Polynomial<Evaluations, O>,
    ) -> Result<Polynomial<Coefficients, O::Flipped>, Error> {
        self.in_place(stream, &Transform { store: self.divide(), ..Transform::INVERSE }, poly)
    }

    /// Coefficients to values on the coset: `X_k = Σ_j x_j (g ω^k)^j`.
    pub fn coset_forward<O: Order>(
        &self,
        stream: &Stream,
        poly: Polynomial<Coefficients, O>,
    ) -> Result<Polynomial<CosetEvaluations, O::Flipped>, Error> {
        // Bottom up the table's second block would put the powers of g on the outputs, so they go on the inputs by hand.
        let by_hand = Transform { load: Load::Coset, ..Transform::FORWARD };
        self.in_place(stream, if O::REVERSED { &by_hand } else { &Transform::COSET_FORWARD }, poly)
    }

    /// Values on the coset to coefficients: `x_j = (g^-j / n) Σ_k X_k ω^(-jk)`.
    pub fn coset_inverse<O: Order>(
        &self,
        stream: &Stream,
        poly: Polynomial<CosetEvaluations, O>,
    ) -> Result<Polynomial<Coefficients, O::Flipped>, Error> {
        let transform = if O::REVERSED {
            Transform { store: self.divide(), ..Transform::COSET_INVERSE }
        } else {
            Transform { store: Store::Coset(Fr(self.size_inverse)), ..Transform::INVERSE }
        };
        self.in_place(stream, &transform, poly)
    }

    /// [`forward`](Self::forward) from natural to natural order, into another vector of the pool.
    pub fn forward_in_order(
        &self,
        stream: &Stream,
        poly: Polynomial<Coefficients>,
    ) -> Result<Polynomial<Evaluations>, Error> {
        self.in_order(stream, &Transform::FORWARD, false, poly)
    }

    /// [`inverse`](Self::inverse) from natural to natural order, into another vector of the pool.
    pub fn inverse_in_order(
        &self,
        stream: &Stream,
        poly: Polynomial<Evaluations>,
    ) -> Result<Polynomial<Coefficients>, Error> {
        self.in_order(stream, &Transform { store: self.divide(), ..Transform::INVERSE }, false, poly)
    }

    /// [`coset_forward`](Self::coset_forward) from natural to natural order, into another vector of the pool.
    pub fn coset_forward_in_order(
        &self,
        stream: &Stream,
        poly: Polynomial<Coefficients>,
    ) -> Result<Polynomial<CosetEvaluations>, Error> {
        self.in_order(stream, &Transform::COSET_FORWARD, false, poly)
    }

    /// [`coset_inverse`](Self::coset_inverse) from natural to natural order, into another vector of the pool.
    pub fn coset_inverse_in_order(
        &self,
        stream: &Stream,
        poly: Polynomial<CosetEvaluations>,
    ) -> Result<Polynomial<Coefficients>, Error> {
        self.in_order(stream, &Transform { store: self.divide(), ..Transform::COSET_INVERSE }, true, poly)
    }

    /// The same elements in the other order: the bit-reversal permutation, in place.
    pub fn reorder<B: Basis, O: Order>(
        &self,
        stream: &Stream,
        mut poly: Polynomial<B, O>,
    ) -> Result<Polynomial<B, O::Flipped>, Error> {
        self.check(poly.domain())?;
        let log_size = self.domain.log_size();
        ffi::reverse(stream, &poly.buffer_mut().write(stream)?, log_size)?;
        Ok(poly.relabel())
    }

    fn divide(&self) -> Store<'static> {
        Store::Scaled(Fr(self.size_inverse))
    }

    fn check(&self, domain: Domain) -> Result<(), Error> {
        if domain == self.domain {
            return Ok(());
        }
        Err(Error::Length { what: "polynomial", expected: self.domain.size(), got: domain.size() })
    }

    fn in_place<B: Basis, C: Basis, O: Order>(
        &self,
        stream: &Stream,
        transform: &Transform<'_>,
        mut poly: Polynomial<B, O>,
    ) -> Result<Polynomial<C, O::Flipped>, Error> {
        self.check(poly.domain())?;
        let way = if O::REVERSED { Way::BOTTOM_UP } else { Way::TOP_DOWN };
        self.run(stream, transform, way, 0..self.passes(), None, poly.buffer_mut())?;
        Ok(poly.relabel())
    }

    fn in_order<B: Basis, C: Basis>(
        &self,
        stream: &Stream,
        transform: &Transform<'_>,
        bottom_up: bool,
        mut poly: Polynomial<B>,
    ) -> Result<Polynomial<C>, Error> {
        self.check(poly.domain())?;
        let mut to = self.like(stream, poly.buffer())?;
        let (way, count) = (Way { bottom_up, reorder: true }, self.passes());
        if bottom_up {
            self.run(stream, transform, way, 0..count, Some(poly.buffer()), &mut to)?;
        } else {
            self.run(stream, transform, way, 0..count - 1, None, poly.buffer_mut())?;
            self.run(stream, transform, way, count - 1..count, Some(poly.buffer()), &mut to)?;
        }
        Polynomial::new(self.domain, to)
    }

    /// A vector from the pool of another, as secret as that one.
    fn like(&self, stream: &Stream, other: &DeviceBuffer<Fr>) -> Result<DeviceBuffer<Fr>, Error> {
        let buffer = other.pool().allocate(self.domain.size(), stream)?;
        Ok(if other.is_wiped_on_release() { buffer.wipe_on_release() } else { buffer })
    }

    /// How many passes a transform has.
    fn passes(&self) -> usize {
        passes(self.domain.log_size()).len()
    }

    /// Queues some passes of a transform: the first of them from `from`, or in place, to `to`; the others in place.
    fn run(
        &self,
        stream: &Stream,
        transform: &Transform<'_>,
        way: Way,
        range: Range<usize>,
        from: Option<&DeviceBuffer<Fr>>,
        to: &mut DeviceBuffer<Fr>,
    ) -> Result<(), Error> {
        let (table, shape) = (self.table.read(stream)?, self.memory.table_shape(self.domain));
        let source = from.map(|from| from.read(stream)).transpose()?;
        let target = to.write(stream)?;
        let log_size = self.domain.log_size();
        let mut steps = Vec::new();
        for count in passes(log_size) {
            let above = steps.last().map_or(0, |(above, count)| above + count);
            steps.push((above, count));
        }
        if way.bottom_up {
            steps.reverse();
        }
        for (index, &(above, count)) in steps.iter().enumerate().filter(|(index, _)| range.contains(index)) {
            let (first, last) = (index == 0, index + 1 == steps.len());
            let layers = Layers {
                log_size,
                above,
                count,
                bottom_up: way.bottom_up,
                inverse: transform.inverse,
                coset: transform.coset,
                reorder: way.reorder && if way.bottom_up { first } else { last },
            };
            let load = if first { transform.load } else { Load::Plain };
            let store = if last { transform.store } else { Store::Plain };
            let source = if index == range.start { source.as_ref() } else { None };
            ffi::run_pass(stream, &layers, load, store, source, &target, (&table, shape))?;
        }
        Ok(())
    }
}

/// Which matrix a transform multiplies by, `ω^(jk)` or its inverse, on the domain or from the table's coset block, and what
/// else it does on the way in and out.
#[derive(Clone, Copy)]
struct Transform<'a> {
    inverse: bool,
    coset: bool,
    load: Load<'a>,
    store: Store<'a>,
}

impl Transform<'_> {
    const FORWARD: Self = Self { inverse: false, coset: false, load: Load::Plain, store: Store::Plain };
    const COSET_FORWARD: Self = Self { coset: true, ..Self::FORWARD };
    /// Not divided by n.
    const INVERSE: Self = Self { inverse: true, ..Self::FORWARD };
    /// Not divided by n.
    const COSET_INVERSE: Self = Self { inverse: true, ..Self::COSET_FORWARD };
}

/// Top down from natural to bit-reversed order, bottom up the other way, or either from natural to natural order.
#[derive(Clone, Copy)]
struct Way {
    bottom_up: bool,
    reorder: bool,
}

impl Way {
    const TOP_DOWN: Self = Self { bottom_up: false, reorder: false };
    const BOTTOM_UP: Self = Self { bottom_up: true, reorder: false };
}

/// The layers of each pass, from the top: as few passes as nine layers each allow, none of fewer than three unless it is the
/// only one, and multiples of three first, which the kernels like best.
fn passes(log_size: u32) -> Vec<u32> {
    const MOST: u32 = 9;
    const LEAST: u32 = 3;
    let mut rest = log_size;
    let mut counts = Vec::new();
    while rest > MOST {
        let count = if rest - MOST >= LEAST { MOST } else { MOST - LEAST };
        counts.push(count);
        rest -= count;
    }
    counts.push(rest);
    counts
}

#[cfg(test)]
mod tests {
    #[test]
    fn passes_add_up_and_are_few() {
        for log_size in 0..=30 {
            let passes = super::passes(log_size);
            assert_eq!(passes.iter().sum::<u32>(), log_size);
            assert_eq!(passes.len() as u32, log_size.div_ceil(9).max(1), "{log_size}: {passes:?}");
            assert!(
                passes.len() == 1 || passes.iter().all(|count| (3..=9).contains(count)),
                "{log_size}: {passes:?}"
            );
        }
    }
}
