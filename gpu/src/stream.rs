//! Streams, events and timers.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::Recorder;
use crate::ffi::{self, Handle};
use crate::{Device, Error};

/// A queue of work for one device, run in order. Clones are the same queue.
#[derive(Clone, Debug)]
pub struct Stream(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    handle: Handle,
    device: Device,
    id: u64,
    recorder: Recorder,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // CUDA finishes the queued work first; a failure here has no one left to be told.
        let _ = self.device.select().and_then(|()| ffi::stream_destroy(self.handle));
    }
}

impl Stream {
    pub(crate) fn new(device: &Device) -> Result<Self, Error> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        device.select()?;
        let handle = ffi::stream_create()?;
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self(Arc::new(Inner { handle, device: device.clone(), id, recorder: Recorder::default() })))
    }

    /// The device it works for.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Waits until all queued work is done. Reports an error of that work.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.0.device.select()?;
        ffi::stream_synchronize(self.0.handle)
    }

    /// Marks this point of the queue.
    pub fn record(&self) -> Result<Event, Error> {
        let event = Event::new(&self.0.device, true)?;
        event.record(self)?;
        Ok(event)
    }

    /// Work queued from now on starts only after the event.
    pub fn wait(&self, event: &Event) -> Result<(), Error> {
        self.0.device.select()?;
        ffi::stream_wait(self.0.handle, event.handle)
    }

    /// `cudaStream_t` for a kernel crate's entry point; makes its device the current one of this thread, as a launch needs.
    pub fn raw(&self) -> Result<*mut c_void, Error> {
        self.0.device.select()?;
        Ok(self.0.handle.pointer())
    }

    pub(crate) fn handle(&self) -> Handle {
        self.0.handle
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.0.recorder
    }

    pub(crate) fn id(&self) -> u64 {
        self.0.id
    }
}

/// A point in a stream's queue.
#[derive(Debug)]
pub struct Event {
    handle: Handle,
    device: Device,
}

impl Event {
    pub(crate) fn new(device: &Device, timing: bool) -> Result<Self, Error> {
        device.select()?;
        Ok(Self { handle: ffi::event_create(timing)?, device: device.clone() })
    }

    pub(crate) fn record(&self, stream: &Stream) -> Result<(), Error> {
        stream.0.device.select()?;
        ffi::event_record(self.handle, stream.0.handle)
    }

    /// Waits on the host until the queue has passed this point.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.device.select()?;
        ffi::event_synchronize(self.handle)
    }

    /// Device time from `start` to this event; waits for it. Both must come from [`Stream::record`].
    pub fn since(&self, start: &Event) -> Result<Duration, Error> {
        self.synchronize()?;
        let milliseconds = ffi::event_elapsed(start.handle, self.handle)?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1e3))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let _ = self.device.select().and_then(|()| ffi::event_destroy(self.handle));
    }
}

/// Device time of a stretch of work on one stream.
#[derive(Debug)]
pub struct Timer {
    stream: Stream,
    start: Event,
}

impl Timer {
    /// Starts at this point of the queue.
    pub fn start(stream: &Stream) -> Result<Self, Error> {
        Ok(Self { stream: stream.clone(), start: stream.record()? })
    }

    /// Ends at this point of the queue and waits for it.
    pub fn stop(self) -> Result<Duration, Error> {
        self.stream.record()?.since(&self.start)
    }
}
