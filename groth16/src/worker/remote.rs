//! The side of a worker's caller.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use assignment::PackedWitness;
use blstrs::Scalar;

use super::WorkerError;
use super::wire::{self, Answer, Done, Hello};
use crate::pipeline::{Pipeline, Staged, Sums};
use crate::turns::Turns;
use crate::{Plan, ProveError, StageTimes, VerifyingKey};

/// How long a worker that is not needed any more may take to end by itself, which lets it wipe what it holds.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often a worker that says nothing, or does not listen, is looked after.
const INTERVAL: Duration = Duration::from_secs(1);

/// A worker, or the means to start one.
pub(super) struct Remote {
    command: Box<dyn Fn() -> Command + Send + Sync>,
    key: VerifyingKey,
    plan: Option<Plan>,
    /// The greatest of all workers so far.
    device_peak: Mutex<Option<u64>>,
    turns: Turns,
    worker: Mutex<Option<Worker>>,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("plan", &self.plan)
            .field("worker", &self.worker)
            .finish_non_exhaustive()
    }
}

/// A process and the socket to it.
#[derive(Debug)]
struct Worker {
    process: Child,
    socket: UnixStream,
}

impl Remote {
    pub(super) fn start(
        command: impl Fn() -> Command + Send + Sync + 'static,
    ) -> Result<(VerifyingKey, Self), WorkerError> {
        let (worker, hello, key) = Worker::start(command())?;
        let remote = Self {
            command: Box::new(command),
            key: key.clone(),
            plan: hello.plan,
            device_peak: Mutex::default(),
            turns: Turns::new(1),
            worker: Mutex::new(Some(worker)),
        };
        Ok((key, remote))
    }

    fn lock_peak(&self) -> MutexGuard<'_, Option<u64>> {
        // One assignment happens under the lock.
        self.device_peak.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The worker that there is, or a new one.
    fn worker(&self, current: Option<Worker>) -> Result<Worker, WorkerError> {
        if let Some(worker) = current {
            return Ok(worker);
        }
        tracing::warn!("starting a new worker");
        let started = Worker::start((self.command)()).and_then(|(worker, _, key)| match key == self.key {
            true => Ok(worker),
            false => Err(WorkerError::OtherKey),
        });
        started.map_err(|error| WorkerError::NoneLeft(error.into()))
    }
}

impl Pipeline for Remote {
    fn sums(
        &self,
        witness: &PackedWitness<Scalar>,
        staged: Option<Staged>,
    ) -> Result<(Sums, StageTimes), ProveError> {
        drop(staged);
        let _turn = self.turns.take();
        // A panic under the lock leaves no worker behind, which is one of its states.
        let mut place = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        let mut worker = self.worker(place.take())?;
        // A worker that did not answer, or lost its device, is not put back, so that it ends here.
        match worker.ask(witness)? {
            Ok((sums, Done { times, device_peak })) => {
                *place = Some(worker);
                let mut peak = self.lock_peak();
                *peak = (*peak).max(device_peak);
                Ok((sums, times))
            }
            Err(error) => {
                if error.failed_device().is_none() {
                    *place = Some(worker);
                }
                Err(error)
            }
        }
    }

    fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    fn device_peak(&self) -> Option<u64> {
        *self.lock_peak()
    }

    fn recovers(&self) -> bool {
        true
    }
}

impl Worker {
    fn start(mut command: Command) -> Result<(Self, Hello, VerifyingKey), WorkerError> {
        let (ours, theirs) = UnixStream::pair().map_err(WorkerError::Start)?;
        let process = command.stdin(Stdio::from(OwnedFd::from(theirs))).spawn();
        // The command holds the worker's end, which must have no other owner: its end is the end of the connection.
        drop(command);
        let mut worker = Self { process: process.map_err(WorkerError::Start)?, socket: ours };
        worker.greet().map_err(|error| worker.diagnose(error)).map(|(hello, key)| (worker, hello, key))
    }

    fn greet(&mut self) -> Result<(Hello, VerifyingKey), WorkerError> {
        self.socket.set_read_timeout(Some(INTERVAL)).map_err(WorkerError::Connection)?;
        self.socket.set_write_timeout(Some(INTERVAL)).map_err(WorkerError::Connection)?;
        let hello = wire::receive::<Hello>(self)?.ok_or_else(WorkerError::hung_up)?.check()?;
        Ok((hello, wire::receive_key(self)?))
    }

    /// The worker's answer, or why there is none.
    fn ask(
        &mut self,
        witness: &PackedWitness<Scalar>,
    ) -> Result<Result<(Sums, Done), ProveError>, WorkerError> {
        self.exchange(witness).map_err(|error| self.diagnose(error))
    }

    fn exchange(
        &mut self,
        witness: &PackedWitness<Scalar>,
    ) -> Result<Result<(Sums, Done), ProveError>, WorkerError> {
        wire::send_witness(self, witness)?;
        match wire::receive::<Answer>(self)?.ok_or_else(WorkerError::hung_up)? {
            Ok(done) => Ok(Ok((wire::receive_sums(self)?, done))),
            Err(failure) => Ok(Err(failure.into())),
        }
    }

    /// Calls the socket until it does something, or the worker has ended: its end of the connection may be open for longer, in the hands
    /// of a process that it has started.
    fn attend<T>(&mut self, mut call: impl FnMut(&UnixStream) -> io::Result<T>) -> io::Result<T> {
        loop {
            // Before the call, which finds whatever was said until then.
            let ended = self.process.try_wait()?.is_some();
            match call(&self.socket) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && !ended => {}
                outcome => return outcome,
            }
        }
    }

    /// An error of the connection is that of a worker that has ended, where it has.
    fn diagnose(&mut self, error: WorkerError) -> WorkerError {
        let _ = self.socket.shutdown(Shutdown::Both);
        match (error, self.end()) {
            (WorkerError::Ended { .. } | WorkerError::Connection(_), Ok(status)) => {
                WorkerError::Ended { status }
            }
            (error, _) => error,
        }
    }

    /// Waits for its end, but not for ever.
    fn end(&mut self) -> io::Result<String> {
        let since = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait()? {
                return Ok(status.to_string());
            }
            if since.elapsed() > PATIENCE {
                self.process.kill()?;
                return Ok(format!("{} after {PATIENCE:?}", self.process.wait()?));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Read for Worker {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.attend(|mut socket| socket.read(bytes))
    }
}

impl Write for Worker {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.attend(|mut socket| socket.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It reads the end of the connection, and ends.
        let _ = self.socket.shutdown(Shutdown::Both);
        if let Err(error) = self.end() {
            tracing::error!(%error, "a worker was not waited for");
        }
    }
}
