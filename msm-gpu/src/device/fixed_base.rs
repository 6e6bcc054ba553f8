//! Many multiples of one point.

use gpu::{DeviceBuffer, Fr};
use group::Group;
use group::{Curve as _, prime::PrimeCurveAffine};

use super::ffi::{self, DeviceCurve, Windows, table_length};
use super::msm::DeviceMsm;
use super::plan::Layout;
use super::source::{Feed, Source};
use super::workspace::Workspace;
use crate::Error;

/// Scalars that one round of additions takes; their descriptors need 12 bytes each.
const AT_ONCE: usize = 1 << 24;

/// A table of multiples of one point on the device, and multiplication by it.
#[derive(Debug)]
pub struct FixedBase<'a, C: DeviceCurve> {
    msm: &'a DeviceMsm,
    windows: Windows,
    table: DeviceBuffer<C::Words>,
}

impl<'a, C: DeviceCurve> FixedBase<'a, C> {
    /// A table of multiples of `base`, of the size that suits `multiples` multiplications.
    pub fn new(msm: &'a DeviceMsm, base: &C::Affine, multiples: usize) -> Result<Self, Error> {
        let windows = Windows::for_multiples(multiples as u64);
        let mut power: C::Projective = base.to_curve();
        let mut powers = Vec::new();
        for (_, width) in windows.extents() {
            powers.push(power.to_affine());
            (0..width).for_each(|_| power = power.double());
        }
        let powers = msm.pool.upload(C::words(&powers), &msm.work)?;
        let length = table_length(&windows);
        let mut table = msm.pool.allocate(length, &msm.work)?;
        let mut workspace = workspace::<C>(msm, length / 2 + 1)?;
        let written = table.write(&msm.work)?;
        workspace.bind(&msm.work)?.table(&windows, &powers.read(&msm.work)?, &written)?;
        drop(written);
        Ok(Self { msm, windows, table })
    }

    /// `scalars[i]·base` for each scalar, as affine points on the device. Does not wait.
    pub fn multiply(&self, scalars: Source<'_, Fr>) -> Result<DeviceBuffer<C::Words>, Error> {
        let mut out = self.msm.pool.allocate(scalars.len(), &self.msm.work)?;
        self.multiply_into(scalars, &mut out, 0)?;
        Ok(out)
    }

    /// The same over the points of a buffer from `first` on.
    ///
    /// # Errors
    /// [`Error::Bases`] when the buffer ends before the scalars do; [`Error::Device`].
    pub fn multiply_into(
        &self,
        scalars: Source<'_, Fr>,
        out: &mut DeviceBuffer<C::Words>,
        first: usize,
    ) -> Result<(), Error> {
        let (pool, work, copies) = (&self.msm.pool, &self.msm.work, &self.msm.copies);
        let count = scalars.len();
        match out.len().checked_sub(first) {
            Some(room) if count <= room => {}
            room => return Err(Error::Bases { expected: count, got: room.unwrap_or(0) }),
        }
        let chunks: Vec<_> = (0..count).step_by(AT_ONCE).map(|at| at..count.min(at + AT_ONCE)).collect();
        let mut workspace = workspace::<C>(self.msm, AT_ONCE.min(count))?;
        let mut feed = Feed::new(scalars, AT_ONCE.min(count), chunks.len(), pool, copies)?;
        for (number, range) in chunks.iter().enumerate() {
            if number == 0 {
                feed.start(0, range)?;
            }
            if let Some(next) = chunks.get(number + 1) {
                feed.start(number + 1, next)?;
            }
            let (words, at) = feed.chunk(number, range, work)?;
            let table = self.table.read(work)?;
            let written = out.write(work)?;
            workspace.bind(work)?.multiply(
                &self.windows,
                &table,
                &words,
                at,
                range.len(),
                &written,
                first + range.start,
            )?;
        }
        Ok(())
    }

    /// `scalars[i]·base` for each scalar, in host memory. Waits.
    pub fn multiply_to_host(&self, scalars: &[Fr]) -> Result<Vec<C::Affine>, Error> {
        let points = self.multiply(Source::Host(scalars))?.download(&self.msm.work)?;
        Ok(C::affine(&points).to_vec())
    }
}

/// A workspace that has only descriptors and the scratch of the additions.
fn workspace<C: DeviceCurve>(msm: &DeviceMsm, descriptors: usize) -> Result<Workspace<C>, Error> {
    let shape = ffi::shape::<C>()?;
    let blocks = msm.pool.device().info().multiprocessors * shape.blocks;
    let lanes = u64::from(blocks * shape.threads).max(1);
    let per_lane = (descriptors as u64 / lanes).next_power_of_two().clamp(32, 256);
    let layout = Layout {
        descriptors: descriptors as u64,
        scratch_bytes: lanes * per_lane * u64::from(shape.coordinate_bytes),
        blocks,
        per_lane: per_lane as u32,
        slot_bytes: 2 * u64::from(shape.coordinate_bytes),
        ..Layout::default()
    };
    Workspace::new(&layout, &msm.pool, &msm.work)
}
