//! Points as files have them, decoded on the device.

use std::ops::Range;

use bytemuck::Pod;
use gpu::{DeviceBuffer, Pool, Stream, Write};

use super::{DeviceCurve, Reader, ffi};
use crate::Error;

/// An entry point that decodes points of this type.
pub(super) type Kernel<T> =
    fn(&Write<'_, T>, Range<usize>, usize, &Write<'_, u32>, &Stream) -> Result<(), gpu::Error>;

/// Points in Zcash's uncompressed encoding, as bases of a multiplication ([`Source::Encoded`](super::Source::Encoded)).
///
/// A point is `x` and then `y`, each coordinate 48 bytes, big-endian, with `c1` before `c0` in G2. So it has as many bytes as a point in
/// memory, and the reader gives those bytes as they are in place of the words of [`DeviceCurve::Words`]. The flags in the three top bits of
/// the first byte must be zero: no point is at infinity, and none compressed. Every coordinate must be below the field's modulus and
/// every point on the curve; whether it is in the subgroup of prime order is not looked at, except that `(0, ±2)` on G1's curve, which are
/// not, are refused.
#[derive(Debug)]
pub struct Encoded<'a, T> {
    pub(super) reader: &'a dyn Reader<T>,
    pub(super) points: usize,
    pub(super) kernel: Kernel<T>,
}

impl<T> Clone for Encoded<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Encoded<'_, T> {}

impl<'a, T: Pod> Encoded<'a, T> {
    /// The first elements of the reader, so many, are encoded points. What it has behind them is taken as it is, in memory's form: all zero
    /// is infinity.
    ///
    /// A multiplication answers [`Error::Encoding`] where one of them is bad.
    pub fn new<C: DeviceCurve<Words = T>>(reader: &'a dyn Reader<T>, points: usize) -> Self {
        Self { reader, points, kernel: ffi::decode::<C> }
    }
}

/// Decodes points in device memory where they lie, from the encoding that [`Encoded`] describes to [`DeviceCurve::Words`].
#[derive(Debug)]
pub struct Decoder {
    /// The least index of a bad point.
    bad: DeviceBuffer<u32>,
}

impl Decoder {
    /// Has seen no bad point.
    pub fn new(pool: &Pool, stream: &Stream) -> Result<Self, gpu::Error> {
        let mut bad = pool.allocate(1, stream)?;
        // No index at all, without waiting.
        const _: () = assert!(ffi::NO_BAD_POINT == u32::from_ne_bytes([0xff; 4]));
        bad.fill_bytes(stream, 0xff)?;
        Ok(Self { bad })
    }

    /// Queues decoding some points of a buffer, and does not wait; an error counts the first of them as point `index`. A bad one becomes
    /// infinity.
    pub fn decode<C: DeviceCurve>(
        &mut self,
        points: &mut DeviceBuffer<C::Words>,
        range: Range<usize>,
        index: usize,
        stream: &Stream,
    ) -> Result<(), Error> {
        self.run(ffi::decode::<C>, points, range, index, stream)
    }

    pub(super) fn run<T: Pod>(
        &mut self,
        kernel: Kernel<T>,
        points: &mut DeviceBuffer<T>,
        range: Range<usize>,
        index: usize,
        stream: &Stream,
    ) -> Result<(), Error> {
        Ok(kernel(&points.write(stream)?, range, index, &self.bad.write(stream)?, stream)?)
    }

    /// That all points were good. Waits for their decoding.
    ///
    /// # Errors
    /// [`Error::Encoding`] names the bad point of the least index; [`Error::Device`].
    pub fn finish(self, stream: &Stream) -> Result<(), Error> {
        let mut bad = [0];
        self.bad.download_into(stream, 0, &mut bad)?;
        match bad {
            [ffi::NO_BAD_POINT] => Ok(()),
            [index] => Err(Error::Encoding { index: index as usize }),
        }
    }
}

#[cfg(all(test, feature = "host-arithmetic"))]
mod tests;
