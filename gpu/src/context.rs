//! What becomes of a device in this process: all who open it share one context of CUDA's, and lose it together.
//!
//! After a kernel that faults, CUDA answers every call of the process with the same error, for good: measured with driver 580 on
//! H200s, neither resetting the device nor a context of one's own brings it back, and the other devices of the process fail with it,
//! while another process can use the device at once. So the first such error of a device is kept here, and everything that still
//! belongs to the device answers with it without calling CUDA. Nothing of the dead context is touched when it is dropped; with the
//! last of it goes the context itself. Whether its memory is free for others then, or when the process ends, is the driver's affair.
//! What the fault of one device means for others is left to the driver too: each is lost when CUDA says so there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use crate::ffi::{self, HostMemory};
use crate::{DeviceInfo, Error};

/// The devices that this process has opened, by number.
static KNOWN: Mutex<BTreeMap<u32, State>> = Mutex::new(BTreeMap::new());

enum State {
    /// In use, or not any more.
    Open(Weak<Context>),
    /// Lost, and why; its context is destroyed once nothing belongs to it.
    Lost { error: Error, destroyed: bool },
}

impl State {
    /// The error of a lost device as that of another one.
    fn lost_as(&self, ordinal: u32) -> Option<Error> {
        match self {
            Self::Lost { error: Error::DeviceLost { code, message, call, .. }, .. } => {
                let (message, call) = (message.clone(), call.clone());
                Some(Error::DeviceLost { ordinal, code: *code, message, call })
            }
            _ => None,
        }
    }
}

fn known() -> MutexGuard<'static, BTreeMap<u32, State>> {
    // The map is whole between any two of its changes.
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A device's context, shared by everything that lives in it.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) info: DeviceInfo,
    lost: OnceLock<Error>,
    /// Pinned memory that could not be unregistered: it is released when the context no longer knows it.
    pinned: Mutex<Vec<HostMemory>>,
}

impl Context {
    /// The context in use, or a new one, to which `check` is put.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] while something still belongs to a lost one, and where the device cannot be had after that.
    pub(crate) fn open(
        info: DeviceInfo,
        check: impl FnOnce(&Arc<Self>) -> Result<(), Error>,
    ) -> Result<Arc<Self>, Error> {
        let ordinal = info.ordinal;
        let mut devices = known();
        let lost = match devices.get(&ordinal) {
            Some(State::Open(context)) => {
                if let Some(context) = context.upgrade() {
                    // What is dropped under the lock must not be the last of a lost context.
                    drop(devices);
                    return check(&context).map(|()| context);
                }
                None
            }
            Some(State::Lost { error, destroyed: false }) => return Err(error.clone()),
            Some(State::Lost { error, .. }) => Some(error.clone()),
            None => None,
        };
        // Another device's fault is why CUDA refuses this one, if it does.
        let lost = lost.or_else(|| devices.values().find_map(|state| state.lost_as(ordinal)));
        let context = Arc::new(Self { info, lost: OnceLock::new(), pinned: Mutex::default() });
        devices.insert(ordinal, State::Open(Arc::downgrade(&context)));
        drop(devices);
        match (check(&context), lost) {
            (Ok(()), _) => Ok(context),
            (Err(refused @ (Error::Cuda { .. } | Error::DeviceLost { .. })), Some(error)) => {
                tracing::debug!(%refused, "a device cannot be had after a fault");
                drop(context);
                known().insert(ordinal, State::Lost { error: error.clone(), destroyed: true });
                Err(error)
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Whether it can be used.
    ///
    /// # Errors
    /// The [`Error::DeviceLost`] by which it ended.
    pub(crate) fn alive(&self) -> Result<(), Error> {
        self.lost.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Keeps memory that a lost context may still have pinned.
    pub(crate) fn keep(&self, memory: HostMemory) {
        self.pinned.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let Some(error) = self.lost.take() else { return };
        // Nobody opens the device in the meantime.
        let mut devices = known();
        let reset = ffi::device_select(self.info.ordinal as i32).and_then(|()| ffi::device_reset());
        if let Err(error) = reset {
            tracing::debug!(%error, "the context of a lost device could not be destroyed");
        }
        devices.insert(self.info.ordinal, State::Lost { error, destroyed: true });
    }
}

/// Notes that a device is lost, unless it was already; answers the error of the first time.
pub(crate) fn lose(error: Error) -> Error {
    let Error::DeviceLost { ordinal, .. } = error else { return error };
    let mut devices = known();
    let context = match devices.get(&ordinal) {
        Some(State::Open(context)) => context.upgrade(),
        Some(State::Lost { error, .. }) => return error.clone(),
        None => None,
    };
    let Some(context) = context else { return error };
    tracing::error!(%error, "device lost");
    devices.insert(ordinal, State::Lost { error: error.clone(), destroyed: false });
    drop(devices);
    // The first: only one caller finds the device open.
    let _ = context.lost.set(error.clone());
    error
}
