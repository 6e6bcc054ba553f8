//! Provers whose sums are made by a process of their own.
//!
//! After a kernel that faults CUDA answers the process with the same error on every device that it has, for good (measured with driver
//! 580). So who wants to lose a proof by that, and not all of them, has the device used by another process, a *worker*: when it
//! loses the device, or dies of something else, the proof under way has the error for its outcome and the next one starts a new worker.
//!
//! A worker is a program of the caller's, most simply the same one with other arguments. It makes a [`Prover`] in whatever way and
//! then calls [`serve`], which speaks to the other side over its standard input, a socket; [`Prover::in_worker`] is the other side.
//! Witnesses go there and five points come back. Randomness stays with the caller, and so does the verification of the proof.
//!
//! A worker that has ended is noticed within seconds, whoever else may have the connection. One that hangs is not told from one that
//! works: its caller waits until somebody ends it. What a terminal sends to all of its processes, workers get too, unless the
//! command has a [group](std::os::unix::process::CommandExt::process_group) of its own.
//!
//! ```no_run
//! # use std::process::Command;
//! # use groth16::{Prover, ProveError};
//! # fn own_prover() -> Result<Prover, ProveError> { unimplemented!() }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! if std::env::args().nth(1).as_deref() == Some("worker") {
//!     return Ok(groth16::worker::serve(&own_prover()?)?);
//! }
//! let program = std::env::current_exe()?;
//! let prover = Prover::in_worker(move || {
//!     let mut command = Command::new(&program);
//!     command.arg("worker");
//!     command
//! })?;
//! # Ok(())
//! # }
//! ```

mod remote;
mod wire;

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::process::Command;

use thiserror::Error;

use crate::{PreparedVerifyingKey, ProveError, Prover};
use remote::Remote;
use wire::{Answer, Done, Failure, Hello};

/// What goes wrong between a prover and its worker.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// It could not be started.
    #[error("the worker could not be started: {0}")]
    Start(io::Error),
    /// It ended, or closed the connection. Its own messages say why.
    #[error("the worker ended: {status}")]
    Ended {
        /// How, as the system tells it.
        status: String,
    },
    /// Writing to it or reading from it failed, although it lives.
    #[error("the connection to the worker: {0}")]
    Connection(io::Error),
    /// It said something that is no message, or not the one whose turn it was.
    #[error("the worker's message is malformed: {0}")]
    Message(String),
    /// A worker that was started later has another verifying key than the first.
    #[error("the new worker has another verifying key than the first")]
    OtherKey,
    /// It has ended before, and a new one could not be started.
    #[error("no new worker: {0}")]
    NoneLeft(Box<WorkerError>),
    /// It could not make the sums, for a reason that has no type here.
    #[error("the worker: {0}")]
    Failed(String),
}

impl WorkerError {
    /// The other side has closed the connection; why, is not known yet.
    fn hung_up() -> Self {
        Self::Ended { status: String::new() }
    }
}

impl Prover {
    /// A prover whose sums are made by a worker; see [the module](self). `command` starts it, now and again when it has ended; its
    /// standard input is set here. Waits until the worker has its own prover: for several, [`Fleet::on`](crate::Fleet::on) does so side by
    /// side.
    ///
    /// Witnesses are sent over a socket, which costs 65 ms for the 87 MB of a PoRep partition. [`Prover::plan`] is that of the first worker.
    ///
    /// # Errors
    /// [`ProveError::Worker`], and those of the worker's verifying key.
    pub fn in_worker(command: impl Fn() -> Command + Send + Sync + 'static) -> Result<Self, ProveError> {
        let (key, remote) = Remote::start(command)?;
        let verifying_key = PreparedVerifyingKey::new(&key)?;
        Ok(Self::of(key, verifying_key, Box::new(remote)))
    }
}

/// Makes sums for the process at the other end of the standard input, until that hangs up. [`Prover::in_worker`] is there.
///
/// # Errors
/// Those of the connection. What goes wrong with a sum is the other side's to deal with.
pub fn serve(prover: &Prover) -> Result<(), WorkerError> {
    let socket = io::stdin().as_fd().try_clone_to_owned().map_err(WorkerError::Connection)?;
    serve_on(prover, &UnixStream::from(socket))
}

fn serve_on(prover: &Prover, socket: &UnixStream) -> Result<(), WorkerError> {
    // Messages are few and witnesses long: buffers would only copy.
    let (mut from, mut to) = (socket, socket);
    wire::send(&mut to, &Hello::of(prover))?;
    wire::send_key(&mut to, prover.key())?;
    while let Some(request) = wire::receive(&mut from)? {
        let witness = wire::receive_witness(&mut from, &request)?;
        let sums: Result<_, ProveError> = match witness {
            Ok(witness) => {
                let sums = prover.pipeline.sums(&witness, None);
                assignment::reaper::defer(witness);
                sums
            }
            Err(error) => Err(error.into()),
        };
        match sums {
            Ok((sums, times)) => {
                wire::send(&mut to, &Answer::Ok(Done { times, device_peak: prover.device_peak() }))?;
                wire::send_sums(&mut to, &sums)?;
            }
            Err(error) => wire::send(&mut to, &Answer::Err(Failure::from(error)))?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
