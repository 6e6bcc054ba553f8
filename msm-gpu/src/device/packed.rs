//! Packed scalars on the device.

use std::ops::Range;

use gpu::{DeviceBuffer, Fr, Stream};

use super::ffi::{self, Bitmaps, DeviceCurve};
use super::msm::DeviceMsm;
use super::source::Source;
use super::window_sums::WindowSums;
use crate::{Density, Error, PackedScalars};

/// Packed scalars whose bitmaps are on the device. Build it once for each witness and use it for every query.
#[derive(Debug)]
pub struct DevicePacked<'a> {
    len: usize,
    ones: Bits<'a>,
    is_dense: Bits<'a>,
    dense: Source<'a, Fr>,
}

/// A bitmap on the device, copied there for this purpose or not.
#[derive(Debug)]
enum Bits<'a> {
    Own(DeviceBuffer<u64>),
    Borrowed(&'a DeviceBuffer<u64>),
}

impl Bits<'_> {
    fn buffer(&self) -> &DeviceBuffer<u64> {
        match self {
            Bits::Own(buffer) => buffer,
            Bits::Borrowed(buffer) => buffer,
        }
    }
}

/// The bases that a query's packed scalars select, as lists on the device in rising order.
#[derive(Debug)]
pub(crate) struct Selection {
    /// Bases to be added once.
    pub(crate) ones: DeviceBuffer<u32>,
    /// Bases with a dense scalar.
    pub(crate) dense_bases: DeviceBuffer<u32>,
    /// Which dense scalar each of those has.
    pub(crate) dense_scalars: DeviceBuffer<u32>,
}

impl<'a> DevicePacked<'a> {
    /// Copies the bitmaps to the device. The dense scalars come from `dense`, wherever that is; they are `scalars.dense()`.
    ///
    /// # Errors
    /// [`Error::Dense`] unless `dense` has as many; [`Error::Device`].
    pub fn new(msm: &DeviceMsm, scalars: &PackedScalars<'_>, dense: Source<'a, Fr>) -> Result<Self, Error> {
        if dense.len() != scalars.dense().len() {
            return Err(Error::Dense { expected: scalars.dense().len(), got: dense.len() });
        }
        Ok(Self {
            len: scalars.len(),
            ones: Bits::Own(msm.pool.upload(scalars.ones(), &msm.work)?.wipe_on_release()),
            is_dense: Bits::Own(msm.pool.upload(scalars.is_dense(), &msm.work)?.wipe_on_release()),
            dense,
        })
    }

    /// Scalars whose parts are on the device already. They must fit as [`PackedScalars`] says: that is not looked into, and where
    /// they do not the sum is wrong.
    ///
    /// # Errors
    /// [`Error::Words`] unless both bitmaps have the words of `len` bits.
    pub fn on_device(
        len: usize,
        ones: &'a DeviceBuffer<u64>,
        is_dense: &'a DeviceBuffer<u64>,
        dense: &'a DeviceBuffer<Fr>,
    ) -> Result<Self, Error> {
        let expected = len.div_ceil(64);
        for (what, got) in [("ones", ones.len()), ("is_dense", is_dense.len())] {
            if got != expected {
                return Err(Error::Words { what, len, expected, got });
            }
        }
        let (ones, is_dense) = (Bits::Borrowed(ones), Bits::Borrowed(is_dense));
        Ok(Self { len, ones, is_dense, dense: Source::Device(dense) })
    }

    /// The number of scalars.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn select(&self, density: Option<&DeviceBuffer<u64>>, msm: &DeviceMsm) -> Result<Selection, Error> {
        let (pool, stream) = (&msm.pool, &msm.work);
        let words = self.ones.buffer().len();
        let maps = Bitmaps {
            ones: self.ones.buffer().read(stream)?,
            is_dense: self.is_dense.buffer().read(stream)?,
            density: density.map(|density| density.read(stream)).transpose()?,
        };
        // Counts and lists are the bitmaps of the witness in other words.
        let mut counts = pool.allocate::<u32>(4 * (words + 1), stream)?.wipe_on_release();
        let scratch_bytes = u32::try_from(words).map_or(Ok(0), ffi::select_bytes)?;
        let mut scratch = pool.allocate::<u8>(scratch_bytes as usize, stream)?.wipe_on_release();
        maps.count(&counts.write(stream)?, &scratch.write(stream)?, stream)?;
        let mut totals = [0u32; 4];
        counts.download_into(stream, 4 * words, &mut totals)?;
        let [_, _, ones, dense] = totals.map(|total| total as usize);
        let mut selection = Selection {
            ones: pool.allocate(ones, stream)?.wipe_on_release(),
            dense_bases: pool.allocate(dense, stream)?.wipe_on_release(),
            dense_scalars: pool.allocate(dense, stream)?.wipe_on_release(),
        };
        maps.list(
            &counts.read(stream)?,
            (ones, dense),
            &selection.ones.write(stream)?,
            &selection.dense_bases.write(stream)?,
            &selection.dense_scalars.write(stream)?,
            stream,
        )?;
        Ok(selection)
    }
}

impl Selection {
    /// Where each chunk of bases begins in the lists of ones and of dense bases, and where the last one ends.
    pub(crate) fn bounds(
        &self,
        chunks: &[Range<usize>],
        msm: &DeviceMsm,
    ) -> Result<(Vec<usize>, Vec<usize>), Error> {
        if chunks.len() <= 1 {
            return Ok((vec![0, self.ones.len()], vec![0, self.dense_bases.len()]));
        }
        let starts: Vec<u32> = chunks.iter().map(|range| range.start as u32).collect();
        let bounds = msm.pool.upload(&starts, &msm.work)?;
        let find = |list: &DeviceBuffer<u32>, stream: &Stream| -> Result<Vec<usize>, Error> {
            let mut found = msm.pool.allocate::<u32>(starts.len(), stream)?;
            ffi::find_bounds(&list.read(stream)?, &bounds.read(stream)?, &found.write(stream)?, stream)?;
            let starts = found.download(stream)?.into_iter().map(|start| start as usize);
            Ok(starts.chain([list.len()]).collect())
        };
        Ok((find(&self.ones, &msm.work)?, find(&self.dense_bases, &msm.work)?))
    }
}

impl DeviceMsm {
    /// Copies a density to the device, for [`msm_packed`](Self::msm_packed). It is the same for every witness of a circuit.
    pub fn upload_density(&self, density: &Density<'_>) -> Result<DeviceDensity, Error> {
        Ok(DeviceDensity {
            len: density.len(),
            count: density.count(),
            words: self.pool.upload(density.words(), &self.work)?,
        })
    }

    /// The sum of `scalars[i]·base(i)` over the scalars that have a base: all of them, or those in the density. Waits for it.
    ///
    /// # Errors
    /// [`Error::DensityLength`], [`Error::Bases`] when lengths do not fit; [`Error::Device`].
    pub fn msm_packed<C: DeviceCurve>(
        &self,
        bases: Source<'_, C::Words>,
        scalars: &DevicePacked<'_>,
        density: Option<&DeviceDensity>,
    ) -> Result<C::Projective, Error> {
        Ok(self.window_sums_packed::<C>(bases, scalars, density)?.join())
    }

    /// [`msm_packed`](Self::msm_packed) without the last additions, which the host makes. Waits for the device.
    ///
    /// # Errors
    /// As of [`msm_packed`](Self::msm_packed).
    pub fn window_sums_packed<C: DeviceCurve>(
        &self,
        bases: Source<'_, C::Words>,
        scalars: &DevicePacked<'_>,
        density: Option<&DeviceDensity>,
    ) -> Result<WindowSums<C>, Error> {
        if let Some(density) = density
            && density.len != scalars.len
        {
            return Err(Error::DensityLength { expected: scalars.len, got: density.len });
        }
        let expected = density.map_or(scalars.len, |density| density.count);
        if bases.len() != expected {
            return Err(Error::Bases { expected, got: bases.len() });
        }
        let selection = scalars.select(density.map(|density| &density.words), self)?;
        self.selected::<C>(bases, &selection, scalars.dense)
    }
}

/// A [`Density`] whose bitmap is on the device.
#[derive(Debug)]
pub struct DeviceDensity {
    len: usize,
    count: usize,
    words: DeviceBuffer<u64>,
}
