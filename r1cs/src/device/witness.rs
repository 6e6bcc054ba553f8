//! A packed witness in device memory.

use assignment::PackedWitness;
use blstrs::Scalar;
use bytemuck::Pod;
use bytemuck::TransparentWrapper;
use gpu::{DeviceBuffer, Error, Fr, Pool, Staging, Stream};

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
        fn secret<T: Pod + Sync>(
            from: &[T],
            staging: &Staging,
            pool: &Pool,
            stream: &Stream,
        ) -> Result<DeviceBuffer<T>, Error> {
            let mut buffer = pool.allocate(from.len(), stream)?.wipe_on_release();
            staging.upload_at(stream, &mut buffer, 0, from)?;
            Ok(buffer)
        }
        Ok(Self {
            host,
            inputs: secret(Fr::wrap_slice(host.inputs()), staging, pool, stream)?,
            ones: secret(host.ones().words(), staging, pool, stream)?,
            is_dense: staging.upload(pool, host.is_dense().words(), stream)?,
            rank: staging.upload(pool, host.rank(), stream)?,
            dense: secret(Fr::wrap_slice(host.dense_values()), staging, pool, stream)?,
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
