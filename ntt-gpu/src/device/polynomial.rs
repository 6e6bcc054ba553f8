//! Vectors in device memory, with their meaning in the type.

use std::marker::PhantomData;

use blstrs::Scalar;
use bytemuck::TransparentWrapper;
use gpu::{DeviceBuffer, Fr, Pool, Stream};

use crate::{Basis, Domain, Error, Natural, Order};

/// [`crate::Polynomial`] in device memory: `n` field elements in Montgomery form, whose meaning is `B` and whose order is `O`.
#[derive(Debug)]
pub struct Polynomial<B: Basis, O: Order = Natural> {
    buffer: DeviceBuffer<Fr>,
    domain: Domain,
    meaning: PhantomData<(B, O)>,
}

impl<B: Basis, O: Order> Polynomial<B, O> {
    /// Takes a buffer as what the types say. Its elements must be canonical: Montgomery forms below r.
    pub fn new(domain: Domain, buffer: DeviceBuffer<Fr>) -> Result<Self, Error> {
        if buffer.len() != domain.size() {
            return Err(Error::Length { what: "polynomial", expected: domain.size(), got: buffer.len() });
        }
        Ok(Self { buffer, domain, meaning: PhantomData })
    }

    /// Copies a polynomial to the device and waits for it.
    pub fn upload(poly: &crate::Polynomial<B, O>, pool: &Pool, stream: &Stream) -> Result<Self, Error> {
        Self::from_slice(poly.domain(), poly.values(), pool, stream)
    }

    /// Copies elements to the device, to be taken as what the types say, and waits for it.
    pub fn from_slice(
        domain: Domain,
        values: &[Scalar],
        pool: &Pool,
        stream: &Stream,
    ) -> Result<Self, Error> {
        Self::new(domain, pool.upload(Fr::wrap_slice(values), stream)?)
    }

    /// Waits for the polynomial and copies it to the host.
    pub fn download(&self, stream: &Stream) -> Result<crate::Polynomial<B, O>, Error> {
        let mut values = vec![Scalar::default(); self.domain.size()];
        self.copy_to_slice(stream, &mut values)?;
        crate::Polynomial::new(self.domain, values)
    }

    /// Waits for the polynomial and copies its elements over a slice of as many.
    pub fn copy_to_slice(&self, stream: &Stream, values: &mut [Scalar]) -> Result<(), Error> {
        if values.len() != self.domain.size() {
            let (expected, got) = (self.domain.size(), values.len());
            return Err(Error::Length { what: "the slice to copy to", expected, got });
        }
        Ok(self.buffer.download_into(stream, 0, Fr::wrap_slice_mut(values))?)
    }

    /// The domain.
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// The elements.
    pub fn buffer(&self) -> &DeviceBuffer<Fr> {
        &self.buffer
    }

    /// The elements, to be changed in place.
    pub fn buffer_mut(&mut self) -> &mut DeviceBuffer<Fr> {
        &mut self.buffer
    }

    /// The elements, without their meaning.
    pub fn into_buffer(self) -> DeviceBuffer<Fr> {
        self.buffer
    }

    /// The same memory with another meaning: what a transform returns.
    pub(super) fn relabel<C: Basis, P: Order>(self) -> Polynomial<C, P> {
        Polynomial { buffer: self.buffer, domain: self.domain, meaning: PhantomData }
    }
}
