//! Devices: which there are, and opening one.

use std::sync::Arc;

use crate::context::Context;
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

/// A device that has passed the known-answer test. Clones are the same device, and so are devices of the same number.
///
/// # Lost devices
/// A kernel that traps or uses a wrong address costs the process the device, and every other one that it has: CUDA answers every later
/// call with the same error, on whichever device, and opens none that was not open before. So who wants to keep one device when
/// another fails gives each a process of its own.
///
/// The first caller who meets it gets [`Error::DeviceLost`], and so does from then on everybody who uses the device, its streams, pools
/// or buffers, without any call to CUDA. Dropping them is safe; with the last of them the device's memory is given back to
/// other processes. [`Device::open`] tries again once all are gone, and answers `DeviceLost` as long as CUDA refuses,
/// which drivers as of 580 do until the process ends. A new process can use the device at once.
#[derive(Clone, Debug)]
pub struct Device(Arc<Context>);

impl Device {
    /// Opens a device by number and runs [`selftest`] on it.
    ///
    /// # Errors
    /// [`Error::NoDevice`], [`Error::NoSuchDevice`], [`Error::SelfTest`], [`Error::DeviceLost`], or what CUDA reports.
    pub fn open(ordinal: u32) -> Result<Self, Error> {
        let count = count()?;
        if ordinal >= count {
            return Err(Error::NoSuchDevice { ordinal, count });
        }
        let device =
            Context::open(describe(ordinal)?, |context| selftest::run(&Self(context.clone()))).map(Self)?;
        tracing::debug!(ordinal, name = %device.info().name, "opened CUDA device");
        Ok(device)
    }

    /// What is known of it.
    pub fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    /// CUDA's number for it.
    pub fn ordinal(&self) -> u32 {
        self.0.info.ordinal
    }

    /// Whether it can still be used; asks nobody.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn check(&self) -> Result<(), Error> {
        self.0.alive()
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

    /// Makes it the calling thread's current device, as every call on it needs: launches, and errors that name no device.
    pub(crate) fn select(&self) -> Result<(), Error> {
        self.0.alive()?;
        ffi::device_select(self.ordinal() as i32)
    }

    pub(crate) fn context(&self) -> &Context {
        &self.0
    }
}
