//! Devices: which there are, and opening one.

use std::sync::Arc;

use crate::{Error, Stream, ffi, selftest};

/// What is known of a device without using it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// CUDA's number for the device, from 0. `CUDA_VISIBLE_DEVICES` changes it.
    pub ordinal: u32,
    /// The name, for instance `NVIDIA H200`.
    pub name: String,
    /// (major, minor), for instance (9, 0).
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of device memory.
    pub memory_bytes: u64,
    /// Bytes of level-2 cache.
    pub l2_bytes: u64,
}

/// All devices, in CUDA's order.
///
/// # Errors
/// [`Error::NoDevice`] when the list would be empty, with the reason.
pub fn devices() -> Result<Vec<DeviceInfo>, Error> {
    (0..count()?).map(describe).collect()
}

fn count() -> Result<u32, Error> {
    match ffi::device_count()? {
        count if count > 0 => Ok(count as u32),
        _ => Err(Error::NoDevice(crate::Absence::NoneFound)),
    }
}

fn describe(ordinal: u32) -> Result<DeviceInfo, Error> {
    let raw = ffi::device_describe(ordinal as i32)?;
    if raw.memory_pools == 0 {
        return Err(Error::Unsupported { ordinal, reason: "it has no stream-ordered memory pools" });
    }
    let length = raw.name.iter().position(|&byte| byte == 0).unwrap_or(raw.name.len());
    Ok(DeviceInfo {
        ordinal,
        name: String::from_utf8_lossy(&raw.name[..length]).into_owned(),
        compute_capability: (raw.major as u32, raw.minor as u32),
        multiprocessors: raw.multiprocessors as u32,
        memory_bytes: raw.memory_bytes,
        l2_bytes: raw.l2_bytes,
    })
}

/// A device that has passed the known-answer test. Clones are the same device.
#[derive(Clone, Debug)]
pub struct Device(Arc<DeviceInfo>);

impl Device {
    /// Opens a device by number and runs [`selftest`] on it.
    ///
    /// # Errors
    /// [`Error::NoDevice`], [`Error::NoSuchDevice`], [`Error::SelfTest`], or what CUDA reports.
    pub fn open(ordinal: u32) -> Result<Self, Error> {
        let count = count()?;
        if ordinal >= count {
            return Err(Error::NoSuchDevice { ordinal, count });
        }
        let device = Self(Arc::new(describe(ordinal)?));
        selftest::run(&device)?;
        tracing::debug!(ordinal, name = %device.0.name, "opened CUDA device");
        Ok(device)
    }

    /// What is known of it.
    pub fn info(&self) -> &DeviceInfo {
        &self.0
    }

    /// CUDA's number for it.
    pub fn ordinal(&self) -> u32 {
        self.0.ordinal
    }

    /// A new stream.
    pub fn stream(&self) -> Result<Stream, Error> {
        Stream::new(self)
    }

    /// (free, total) bytes of device memory, all processes counted. What a pool has cached counts as used.
    pub fn memory(&self) -> Result<(u64, u64), Error> {
        self.select()?;
        ffi::device_memory()
    }

    /// Waits for everything queued on the device.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.select()?;
        ffi::device_synchronize()
    }

    /// Makes it the calling thread's current device, as kernel launches need.
    pub(crate) fn select(&self) -> Result<(), Error> {
        ffi::device_select(self.0.ordinal as i32)
    }
}
