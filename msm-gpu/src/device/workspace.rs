//! The device memory of one multiplication.

use gpu::{DeviceBuffer, Pool, Stream};

use super::ffi::{Bound, DeviceCurve};
use super::plan::Layout;
use crate::Error;

/// Buffers of the sizes of a layout.
///
/// Wiped in the end is whatever spells out scalars, in their digits or as lists of the points of a bucket: all words, and the beginning
/// of the slots, where the sort leaves such a list. Together that is 12 bytes for each point and window of a pass. Sums of points are not
/// wiped, nor is the scratch of the additions: they follow from the digits too, and a sum of few points could be found by search, but they
/// are three quarters of the workspace and more, and clearing all of it would delay the next work by several milliseconds.
#[derive(Debug)]
pub(crate) struct Workspace<C: DeviceCurve> {
    layout: Layout,
    slots: DeviceBuffer<C::Words>,
    words: DeviceBuffer<u32>,
    scratch: DeviceBuffer<u8>,
}

impl<C: DeviceCurve> Workspace<C> {
    pub(crate) fn new(layout: &Layout, pool: &Pool, stream: &Stream) -> Result<Self, Error> {
        let [.., slots] = layout.slots();
        let slots = pool.allocate(slots as usize, stream)?;
        let words = pool.allocate(layout.words().iter().sum::<u64>() as usize, stream)?;
        Ok(Self {
            layout: *layout,
            slots: slots.wipe_first_on_release(layout.sort_slots() as usize),
            words: words.wipe_on_release(),
            scratch: pool.allocate(layout.scratch_bytes as usize, stream)?,
        })
    }

    /// For work on this stream.
    pub(crate) fn bind<'a>(&'a mut self, stream: &'a Stream) -> Result<Bound<'a, C>, Error> {
        let Self { layout, slots, words, scratch } = self;
        Ok(Bound::new(layout, slots, words, scratch, stream)?)
    }
}
