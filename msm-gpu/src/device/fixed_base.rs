//! Many multiples of one point.

use gpu::{DeviceBuffer, Fr, Pool};
use group::Group;
use group::{Curve as _, prime::PrimeCurveAffine};

use super::ffi::{self, DeviceCurve, Windows, table_length};
use super::msm::DeviceMsm;
use super::plan::{Layout, Shape};
use super::source::{Feed, Source};
use super::windows::MAX_WINDOWS;
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

    /// Bytes of device memory that a table for `multiples` multiplications takes, and the most while it is made or used for that many
    /// scalars which are on the device already; their points do not count. `multiprocessors` is [`gpu::DeviceInfo::multiprocessors`].
    pub fn memory(multiples: usize, multiprocessors: u32) -> (u64, u64) {
        let length = table_length(&Windows::for_multiples(multiples as u64));
        let table = Pool::bytes_for::<C::Words>(length);
        let workspace = |descriptors: usize| {
            layout(Shape::of::<C>(), multiprocessors, descriptors as u64).bytes()
                + Pool::bytes_for::<C::Words>(MAX_WINDOWS as usize)
        };
        (table, table + workspace((length / 2 + 1).max(AT_ONCE.min(multiples))))
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
        let work = &self.msm.work;
        let count = scalars.len();
        match out.len().checked_sub(first) {
            Some(room) if count <= room => {}
            room => return Err(Error::Bases { expected: count, got: room.unwrap_or(0) }),
        }
        let chunks: Vec<_> = (0..count).step_by(AT_ONCE).map(|at| at..count.min(at + AT_ONCE)).collect();
        let mut workspace = workspace::<C>(self.msm, AT_ONCE.min(count))?;
        let mut feed = Feed::scalars(scalars, &chunks, self.msm)?;
        for (number, range) in chunks.iter().enumerate() {
            let (words, at, coming) = feed.turn(range, work)?;
            let table = self.table.read(work)?;
            let written = out.write(work)?;
            coming.bring_while(chunks.get(number + 1), || {
                let mut bound = workspace.bind(work)?;
                let (count, to) = (range.len(), first + range.start);
                Ok(bound.multiply(&self.windows, &table, &words, at, count, &written, to)?)
            })?;
            drop(words);
            feed.advance();
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
    let multiprocessors = msm.pool.device().info().multiprocessors;
    let layout = layout(ffi::shape::<C>()?, multiprocessors, descriptors as u64);
    Workspace::new(&layout, &msm.pool, &msm.work)
}

fn layout(shape: Shape, multiprocessors: u32, descriptors: u64) -> Layout {
    let blocks = multiprocessors * shape.blocks;
    let lanes = u64::from(blocks * shape.threads).max(1);
    let per_lane = (descriptors / lanes).next_power_of_two().clamp(32, 256);
    Layout {
        descriptors,
        scratch_bytes: lanes * per_lane * u64::from(shape.coordinate_bytes),
        blocks,
        per_lane: per_lane as u32,
        slot_bytes: 2 * u64::from(shape.coordinate_bytes),
        ..Layout::default()
    }
}
