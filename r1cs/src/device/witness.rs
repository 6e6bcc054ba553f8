//! A packed witness in device memory.

use assignment::PackedWitness;
use blstrs::Scalar;
use bytemuck::TransparentWrapper;
use gpu::{DeviceBuffer, Error, Fr, Pool, Stream};

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
    /// Copies a witness to the device and waits for it.
    pub fn upload(host: &'w PackedWitness<Scalar>, pool: &Pool, stream: &Stream) -> Result<Self, Error> {
        Ok(Self {
            host,
            inputs: pool.upload(Fr::wrap_slice(host.inputs()), stream)?.wipe_on_release(),
            ones: pool.upload(host.ones().words(), stream)?.wipe_on_release(),
            is_dense: pool.upload(host.is_dense().words(), stream)?,
            rank: pool.upload(host.rank(), stream)?,
            dense: pool.upload(Fr::wrap_slice(host.dense_values()), stream)?.wipe_on_release(),
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
