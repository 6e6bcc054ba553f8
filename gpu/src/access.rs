//! Who is using a buffer: the events that later work on other streams has to wait for.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ffi::Handle;
use crate::{Error, Event, Stream};

/// The last write to a buffer and the reads since, one event for each stream.
#[derive(Debug, Default)]
pub(crate) struct Uses(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    write: Option<Use>,
    reads: Vec<Use>,
}

#[derive(Debug)]
struct Use {
    stream: u64,
    event: Event,
}

impl Uses {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // The state is a list of events; a panic elsewhere leaves it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the stream read: behind the last write.
    pub(crate) fn before_read(&self, stream: &Stream) -> Result<(), Error> {
        self.lock()
            .write
            .iter()
            .filter(|last| last.stream != stream.id())
            .try_for_each(|last| stream.wait(&last.event))
    }

    /// Lets the stream write: behind the last write and all reads since.
    pub(crate) fn before_write(&self, stream: &Stream) -> Result<(), Error> {
        let inner = self.lock();
        let others = inner.write.iter().chain(&inner.reads).filter(|last| last.stream != stream.id());
        others.into_iter().try_for_each(|last| stream.wait(&last.event))
    }

    /// Notes a read just queued.
    pub(crate) fn after_read(&self, stream: &Stream) {
        let mut inner = self.lock();
        let known = inner.reads.iter().position(|last| last.stream == stream.id());
        let noted = match known.and_then(|index| inner.reads.get(index)) {
            Some(last) => last.event.record(stream),
            None => mark(stream).map(|last| inner.reads.push(last)),
        };
        settle(noted, stream);
    }

    /// Notes a write just queued; it came behind all that was noted before.
    pub(crate) fn after_write(&self, stream: &Stream) {
        let mut inner = self.lock();
        inner.reads.clear();
        settle(mark(stream).map(|last| inner.write = Some(last)), stream);
    }

    /// Waits on the host for the last write.
    pub(crate) fn host_read(&self) -> Result<(), Error> {
        self.lock().write.iter().try_for_each(|last| last.event.synchronize())
    }

    /// Waits on the host for everything.
    pub(crate) fn host_write(&self) -> Result<(), Error> {
        let mut inner = self.lock();
        inner.write.iter().chain(&inner.reads).try_for_each(|last| last.event.synchronize())?;
        *inner = Inner::default();
        Ok(())
    }
}

fn mark(stream: &Stream) -> Result<Use, Error> {
    let event = Event::new(stream.device(), false)?;
    event.record(stream)?;
    Ok(Use { stream: stream.id(), event })
}

/// Work that cannot be marked is waited for.
fn settle(noted: Result<(), Error>, stream: &Stream) {
    if noted.is_err() {
        let _ = stream.synchronize();
    }
}

/// The right to queue reads of a device buffer on one stream, until dropped.
#[derive(Debug)]
pub struct Read<'a, T> {
    pub(crate) address: Handle,
    pub(crate) uses: &'a Uses,
    pub(crate) stream: &'a Stream,
    pub(crate) length: usize,
    pub(crate) element: PhantomData<&'a [T]>,
}

impl<T> Read<'_, T> {
    /// The device address for a kernel crate's entry point. Use it for work queued on this stream before the guard goes.
    pub fn pointer(&self) -> *const c_void {
        self.address.pointer()
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl<T> Drop for Read<'_, T> {
    fn drop(&mut self) {
        self.uses.after_read(self.stream);
    }
}

/// The right to queue reads and writes of a device buffer on one stream, until dropped.
#[derive(Debug)]
pub struct Write<'a, T> {
    pub(crate) address: Handle,
    pub(crate) uses: &'a Uses,
    pub(crate) stream: &'a Stream,
    pub(crate) length: usize,
    pub(crate) element: PhantomData<&'a mut [T]>,
}

impl<T> Write<'_, T> {
    /// The device address for a kernel crate's entry point. Use it for work queued on this stream before the guard goes.
    pub fn pointer(&self) -> *mut c_void {
        self.address.pointer()
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl<T> Drop for Write<'_, T> {
    fn drop(&mut self) {
        self.uses.after_write(self.stream);
    }
}
