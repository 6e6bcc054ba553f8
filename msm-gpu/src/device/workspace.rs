//! The device memory of one multiplication.

use gpu::{DeviceBuffer, Pool, Stream};

use super::ffi::{Bound, DeviceCurve};
use super::plan::Layout;
use crate::Error;

/// Buffers of the sizes of a layout.
#[derive(Debug)]
pub(crate) struct Workspace<C: DeviceCurve> {
    layout: Layout,
    slots: DeviceBuffer<C::Words>,
    words: DeviceBuffer<u32>,
    scratch: DeviceBuffer<u8>,
}

impl<C: DeviceCurve> Workspace<C> {
    pub(crate) fn new(layout: &Layout, pool: &Pool, stream: &Stream) -> Result<Self, Error> {
        Ok(Self {
            layout: *layout,
            slots: pool.allocate(layout.slots()[4] as usize, stream)?,
            words: pool.allocate(layout.words().iter().sum::<u64>() as usize, stream)?,
            scratch: pool.allocate(layout.scratch_bytes as usize, stream)?,
        })
    }

    /// Has the words overwritten with zeros when they are released: what is planned in them shows the scalars.
    pub(crate) fn wipe_on_release(self) -> Self {
        Self { words: self.words.wipe_on_release(), ..self }
    }

    /// For work on this stream.
    pub(crate) fn bind<'a>(&'a mut self, stream: &'a Stream) -> Result<Bound<'a, C>, Error> {
        let Self { layout, slots, words, scratch } = self;
        Ok(Bound::new(layout, slots, words, scratch, stream)?)
    }
}
