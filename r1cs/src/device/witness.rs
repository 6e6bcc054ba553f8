//! A packed witness in device memory.

use assignment::PackedWitness;
use blstrs::Scalar;
use bytemuck::Pod;
use bytemuck::TransparentWrapper;
use gpu::{Device, DeviceBuffer, Error, Fr, PinnedBuffer, Pool, Staging, Stream};
use rayon::prelude::*;

use crate::ffi;

/// A packed witness on the device beside the one on the host. The device's memory is wiped when it is released.
#[derive(Debug)]
pub struct DeviceWitness<'w> {
    host: &'w PackedWitness<Scalar>,
    inputs: DeviceBuffer<Fr>,
    ones: DeviceBuffer<u64>,
    is_dense: DeviceBuffer<u64>,
    rank: DeviceBuffer<u32>,
    dense: DeviceBuffer<Fr>,
}

impl<'w> DeviceWitness<'w> {
    /// Queues copies of a witness, which has been read when this returns.
    pub fn upload(
        host: &'w PackedWitness<Scalar>,
        staging: &Staging,
        pool: &Pool,
        stream: &Stream,
    ) -> Result<Self, Error> {
        let mut this = Self::allocate(host, pool, stream)?;
        staging.upload_at(stream, &mut this.inputs, 0, Fr::wrap_slice(host.inputs()))?;
        staging.upload_at(stream, &mut this.ones, 0, host.ones().words())?;
        staging.upload_at(stream, &mut this.is_dense, 0, host.is_dense().words())?;
        staging.upload_at(stream, &mut this.rank, 0, host.rank())?;
        staging.upload_at(stream, &mut this.dense, 0, Fr::wrap_slice(host.dense_values()))?;
        Ok(this)
    }

    /// Queues the same from the witness's copy in pinned memory, and returns at once.
    ///
    /// # Errors
    /// [`Error::Length`] when the copy is a shorter witness's. One of another witness that is as long is not noticed.
    pub fn upload_pinned(
        host: &'w PackedWitness<Scalar>,
        copy: &PinnedWitness,
        pool: &Pool,
        stream: &Stream,
    ) -> Result<Self, Error> {
        fn queue<T: Pod>(
            to: &mut DeviceBuffer<T>,
            from: &PinnedBuffer<T>,
            stream: &Stream,
        ) -> Result<(), Error> {
            to.copy_from_pinned(stream, 0, from, 0..to.len())
        }
        let mut this = Self::allocate(host, pool, stream)?;
        queue(&mut this.inputs, &copy.inputs, stream)?;
        queue(&mut this.ones, &copy.ones, stream)?;
        queue(&mut this.is_dense, &copy.is_dense, stream)?;
        queue(&mut this.rank, &copy.rank, stream)?;
        queue(&mut this.dense, &copy.dense, stream)?;
        Ok(this)
    }

    fn allocate(host: &'w PackedWitness<Scalar>, pool: &Pool, stream: &Stream) -> Result<Self, Error> {
        Ok(Self {
            host,
            inputs: pool.allocate(host.inputs().len(), stream)?.wipe_on_release(),
            ones: pool.allocate(host.ones().words().len(), stream)?.wipe_on_release(),
            is_dense: pool.allocate(host.is_dense().words().len(), stream)?,
            rank: pool.allocate(host.rank().len(), stream)?,
            dense: pool.allocate(host.dense_values().len(), stream)?.wipe_on_release(),
        })
    }

    /// The witness on the host.
    pub fn host(&self) -> &'w PackedWitness<Scalar> {
        self.host
    }

    /// The bitmap of auxiliary variables that are one.
    pub fn ones(&self) -> &DeviceBuffer<u64> {
        &self.ones
    }

    /// The bitmap of auxiliary variables that are field elements.
    pub fn is_dense(&self) -> &DeviceBuffer<u64> {
        &self.is_dense
    }

    /// The field elements, in order.
    pub fn dense(&self) -> &DeviceBuffer<Fr> {
        &self.dense
    }

    pub(super) fn inputs(&self) -> &DeviceBuffer<Fr> {
        &self.inputs
    }

    pub(super) fn read<'a>(&'a self, stream: &'a Stream) -> Result<ffi::Witness<'a>, Error> {
        Ok(ffi::Witness {
            inputs: self.inputs.read(stream)?,
            ones: self.ones.read(stream)?,
            is_dense: self.is_dense.read(stream)?,
            rank: self.rank.read(stream)?,
            dense: self.dense.read(stream)?,
        })
    }
}

/// A copy of a packed witness in pinned memory, for [`DeviceWitness::upload_pinned`]: made while the device works on something else, it
/// goes there later without the processor. The memory is kept for the next witness, and wiped in the end.
#[derive(Debug)]
pub struct PinnedWitness {
    device: Device,
    inputs: PinnedBuffer<Fr>,
    ones: PinnedBuffer<u64>,
    is_dense: PinnedBuffer<u64>,
    rank: PinnedBuffer<u32>,
    dense: PinnedBuffer<Fr>,
}

impl PinnedWitness {
    /// Of nothing, and without memory so far. Any device can be sent it.
    pub fn new(device: &Device) -> Result<Self, Error> {
        Ok(Self {
            device: device.clone(),
            inputs: PinnedBuffer::new(device, 0)?,
            ones: PinnedBuffer::new(device, 0)?,
            is_dense: PinnedBuffer::new(device, 0)?,
            rank: PinnedBuffer::new(device, 0)?,
            dense: PinnedBuffer::new(device, 0)?,
        })
    }

    /// Waits until uploads of it are done. Unless somebody has, [`copy`](Self::copy) does.
    pub fn wait(&mut self) -> Result<(), Error> {
        self.inputs.as_mut_slice()?;
        self.ones.as_mut_slice()?;
        self.is_dense.as_mut_slice()?;
        self.rank.as_mut_slice()?;
        self.dense.as_mut_slice().map(drop)
    }

    /// Takes a copy of a witness, on rayon's threads, as soon as uploads of the one before are done. Pins memory where that was shorter.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when the host cannot pin so much; those of the device that was sent the one before.
    pub fn copy(&mut self, witness: &PackedWitness<Scalar>) -> Result<(), Error> {
        let Self { device, inputs, ones, is_dense, rank, dense } = self;
        fill(inputs, Fr::wrap_slice(witness.inputs()), device)?;
        fill(ones, witness.ones().words(), device)?;
        fill(is_dense, witness.is_dense().words(), device)?;
        fill(rank, witness.rank(), device)?;
        fill(dense, Fr::wrap_slice(witness.dense_values()), device)
    }
}

/// Elements that one thread copies at a time.
const PART: usize = 1 << 15;

fn fill<T: Pod + Send + Sync>(to: &mut PinnedBuffer<T>, from: &[T], device: &Device) -> Result<(), Error> {
    if to.len() < from.len() {
        // The shorter one goes first: a budget has room for one.
        *to = PinnedBuffer::new(device, 0)?;
        *to = PinnedBuffer::new(device, from.len())?.wipe_on_release();
    }
    let to = to.as_mut_slice()?.par_chunks_mut(PART);
    to.zip(from.par_chunks(PART)).for_each(|(to, from)| {
        to.get_mut(..from.len()).unwrap_or_default().copy_from_slice(from);
    });
    Ok(())
}
