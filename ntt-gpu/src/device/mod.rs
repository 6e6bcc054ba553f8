//! Transforms on a CUDA device, by the same formulas and names as [`crate::cpu`].
//!
//! Vectors are [`Polynomial`]s in device memory; every transform works in place and flips the order, and
//! [`Ntt::reorder`] restores one. Up to nine layers are done each time the vector is read and written. Twiddles come from
//! one table in bit-reversed order ([`Ntt::new`]); a transform over the coset starts one block further in that table, so that
//! top down from coefficients, or bottom up to coefficients, it costs no more than one over the domain.

mod polynomial;
mod quotient;

pub mod bench;

use blstrs::Scalar;
use ff::Field;
use gpu::{DeviceBuffer, Fr, Pool, Stream};

use crate::ffi::{self, Layers, Load, Store};
use crate::poly::reverse;
use crate::{Coefficients, CosetEvaluations, Domain, Error, Evaluations, Order};

pub use polynomial::Polynomial;

/// A domain with its twiddles on a device, ready to transform.
#[derive(Debug)]
pub struct Ntt {
    domain: Domain,
    table: DeviceBuffer<Fr>,
    size_inverse: Scalar,
}

impl Ntt {
    /// The largest domain, `2^30`: 32 GiB for a vector.
    pub const MAX_LOG_SIZE: u32 = 30;

    /// Computes the twiddles of `domain` and of its coset: `n` elements of device memory.
    pub fn new(domain: Domain, pool: &Pool, stream: &Stream) -> Result<Self, Error> {
        domain.coset_generator()?;
        Self::with_table(domain, domain.log_size(), pool, stream)
    }

    /// Computes the twiddles of `domain` alone: `n/2` elements of device memory. Transforms that involve the coset answer
    /// an error.
    pub fn without_coset(domain: Domain, pool: &Pool, stream: &Stream) -> Result<Self, Error> {
        Self::with_table(domain, domain.log_size().saturating_sub(1), pool, stream)
    }

    fn with_table(domain: Domain, log_entries: u32, pool: &Pool, stream: &Stream) -> Result<Self, Error> {
        if domain.log_size() > Self::MAX_LOG_SIZE {
            return Err(Error::DeviceDomain { log_size: domain.log_size(), limit: Self::MAX_LOG_SIZE });
        }
        let mut table = pool.allocate(1 << log_entries, stream)?;
        // rev over log2 n bits; g is a primitive 2n-th root of unity. The domain exists up to 2^31.
        let bits = domain.log_size();
        let generator = domain.coset_generator()?;
        let steps: Vec<Fr> =
            (0..log_entries).map(|k| Fr(generator.pow_vartime([reverse(1 << k, bits) as u64]))).collect();
        ffi::fill_table(stream, &table.write(stream)?, &steps)?;
        Ok(Self { domain, table, size_inverse: domain.size_inverse() })
    }

    /// The domain.
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// Coefficients to values: `X_k = Σ_j x_j ω^(jk)`.
    pub fn forward<O: Order>(
        &self,
        stream: &Stream,
        mut poly: Polynomial<Coefficients, O>,
    ) -> Result<Polynomial<Evaluations, O::Flipped>, Error> {
        self.in_place::<O>(
            stream,
            &mut poly,
            Direction { inverse: false, coset: false },
            Load::Plain,
            Store::Plain,
        )?;
        Ok(poly.relabel())
    }

    /// Values to coefficients: `x_j = (1/n) Σ_k X_k ω^(-jk)`.
    pub fn inverse<O: Order>(
        &self,
        stream: &Stream,
        mut poly: Polynomial<Evaluations, O>,
    ) -> Result<Polynomial<Coefficients, O::Flipped>, Error> {
        let store = Store::Scaled(Fr(self.size_inverse));
        self.in_place::<O>(stream, &mut poly, Direction { inverse: true, coset: false }, Load::Plain, store)?;
        Ok(poly.relabel())
    }

    /// Coefficients to values on the coset: `X_k = Σ_j x_j (g ω^k)^j`.
    pub fn coset_forward<O: Order>(
        &self,
        stream: &Stream,
        mut poly: Polynomial<Coefficients, O>,
    ) -> Result<Polynomial<CosetEvaluations, O::Flipped>, Error> {
        // Bottom up the table's second block would put the powers of g on the outputs, so they go on the inputs by hand.
        let (coset, load) = if O::REVERSED { (false, Load::Coset) } else { (true, Load::Plain) };
        self.in_place::<O>(stream, &mut poly, Direction { inverse: false, coset }, load, Store::Plain)?;
        Ok(poly.relabel())
    }

    /// Values on the coset to coefficients: `x_j = (g^-j / n) Σ_k X_k ω^(-jk)`.
    pub fn coset_inverse<O: Order>(
        &self,
        stream: &Stream,
        mut poly: Polynomial<CosetEvaluations, O>,
    ) -> Result<Polynomial<Coefficients, O::Flipped>, Error> {
        let scale = Fr(self.size_inverse);
        let (coset, store) =
            if O::REVERSED { (true, Store::Scaled(scale)) } else { (false, Store::Coset(scale)) };
        self.in_place::<O>(stream, &mut poly, Direction { inverse: true, coset }, Load::Plain, store)?;
        Ok(poly.relabel())
    }

    /// The same elements in the other order: the bit-reversal permutation, in place.
    pub fn reorder<B: crate::Basis, O: Order>(
        &self,
        stream: &Stream,
        mut poly: Polynomial<B, O>,
    ) -> Result<Polynomial<B, O::Flipped>, Error> {
        self.check(poly.domain())?;
        let log_size = self.domain.log_size();
        ffi::reverse(stream, &poly.buffer_mut().write(stream)?, log_size)?;
        Ok(poly.relabel())
    }

    fn check(&self, domain: Domain) -> Result<(), Error> {
        if domain == self.domain {
            return Ok(());
        }
        Err(Error::Length { what: "polynomial", expected: self.domain.size(), got: domain.size() })
    }

    fn in_place<O: Order>(
        &self,
        stream: &Stream,
        poly: &mut Polynomial<impl crate::Basis, O>,
        direction: Direction,
        load: Load<'_>,
        store: Store<'_>,
    ) -> Result<(), Error> {
        self.check(poly.domain())?;
        self.transform(stream, O::REVERSED, direction, load, store, None, poly.buffer_mut())
    }

    /// Queues all passes of one transform: from `from`, or in place, to `to`.
    #[allow(clippy::too_many_arguments)] // one for each thing that a transform can be asked
    fn transform(
        &self,
        stream: &Stream,
        bottom_up: bool,
        direction: Direction,
        load: Load<'_>,
        store: Store<'_>,
        from: Option<&DeviceBuffer<Fr>>,
        to: &mut DeviceBuffer<Fr>,
    ) -> Result<(), Error> {
        let table = self.table.read(stream)?;
        let source = from.map(|from| from.read(stream)).transpose()?;
        let target = to.write(stream)?;
        let log_size = self.domain.log_size();
        let mut counts = passes(log_size);
        if bottom_up {
            counts.reverse();
        }
        let mut done = 0;
        for (index, &count) in counts.iter().enumerate() {
            let above = if bottom_up { log_size - done - count } else { done };
            let Direction { inverse, coset } = direction;
            let layers = Layers { log_size, above, count, bottom_up, inverse, coset };
            let (first, last) = (index == 0, index + 1 == counts.len());
            let load = if first { load } else { Load::Plain };
            let store = if last { store } else { Store::Plain };
            let source = if first { source.as_ref() } else { None };
            ffi::run_pass(stream, &layers, load, store, source, &target, &table)?;
            done += count;
        }
        Ok(())
    }
}

/// Which matrix a transform multiplies by: `ω^(jk)` or its inverse, on the domain or from the table's coset block.
#[derive(Clone, Copy)]
struct Direction {
    inverse: bool,
    coset: bool,
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
