//! Many proofs: while some are proved, the next witness is made.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assignment::PackedWitness;
use blstrs::Scalar;
use rand_core::{CryptoRng, RngCore};
use thiserror::Error;

use crate::pipeline::Staged;
use crate::{ProveError, Proved, Randomness};

/// Why one of many proofs was not made.
#[derive(Debug, Error)]
pub enum ProveManyError<E> {
    /// The witness could not be made.
    #[error("witness {index}: {source}")]
    Witness {
        /// Its place, from 0.
        index: usize,
        /// Why.
        source: E,
    },
    /// The proof could not be made.
    #[error("proof {index}: {source}")]
    Prove {
        /// Its place, from 0.
        index: usize,
        /// Why.
        source: Box<ProveError>,
    },
}

/// One of many proofs, or why it is not there.
pub type Outcome<E> = Result<Proved, ProveManyError<E>>;

/// Ends a batch at its first error.
pub fn until_error<E>(outcome: &Outcome<E>) -> ControlFlow<()> {
    match outcome {
        Ok(_) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}

struct Made<E> {
    witness: Result<PackedWitness<Scalar>, E>,
    staged: Option<Staged>,
    elapsed: Duration,
}

/// Witnesses as they are made, and the randomness of their proofs, which follows their order whoever proves them.
struct Queue<'a, E, R> {
    made: Receiver<Made<E>>,
    rng: &'a mut R,
    taken: usize,
}

struct Job<E> {
    index: usize,
    made: Made<E>,
    randomness: Randomness,
}

impl<E, R: RngCore + CryptoRng> Queue<'_, E, R> {
    fn next(&mut self) -> Option<Job<E>> {
        let made = self.made.recv().ok()?;
        let (index, randomness) = (self.taken, Randomness::random(self.rng));
        self.taken += 1;
        Some(Job { index, made, randomness })
    }
}

/// Has everybody take no more work when the thread panics.
struct Guard<'a>(&'a AtomicBool);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::SeqCst);
        }
    }
}

/// Proves witnesses as they come, by `workers` callers of `prove` at a time, this thread among them, and hands the outcomes to `done` in
/// the witnesses' order. The next witness is made, and copied by `stage`, meanwhile on a thread of its own; no more than one for each
/// worker and that one are in memory. An error is the outcome of its own proof only. After `Break` no more proofs are begun and no
/// more outcomes handed over.
pub(crate) fn prove_each<E: Send, R: RngCore + CryptoRng + Send>(
    workers: usize,
    stage: impl Fn(&PackedWitness<Scalar>) -> Option<Staged> + Send,
    prove: impl Fn(&PackedWitness<Scalar>, Option<Staged>, Randomness) -> Result<Proved, ProveError> + Sync,
    witnesses: impl Iterator<Item = Result<PackedWitness<Scalar>, E>> + Send,
    rng: &mut R,
    mut done: impl FnMut(Outcome<E>) -> ControlFlow<()>,
) {
    let stopped = AtomicBool::new(false);
    let work = |queue: &Mutex<Queue<'_, E, R>>,
                deliver: &mut dyn FnMut(usize, Outcome<E>) -> ControlFlow<()>| {
        let _guard = Guard(&stopped);
        loop {
            let job = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(job) = job else { return ControlFlow::Continue(()) };
            // Only a `Break` or a panic leaves a witness unproved: that others find no more is no reason.
            if stopped.load(Ordering::SeqCst) {
                return ControlFlow::Break(());
            }
            let Job { index, made: Made { witness, staged, elapsed }, randomness } = job;
            let outcome = match witness {
                Ok(witness) => {
                    let proved = prove(&witness, staged, randomness);
                    assignment::reaper::defer(witness);
                    proved
                        .map(|mut proved| {
                            proved.times.witness = Some(elapsed);
                            proved
                        })
                        .map_err(|source| ProveManyError::Prove { index, source: source.into() })
                }
                Err(source) => Err(ProveManyError::Witness { index, source }),
            };
            if deliver(index, outcome).is_break() {
                stopped.store(true, Ordering::SeqCst);
                return ControlFlow::Break(());
            }
        }
    };
    std::thread::scope(|scope| {
        // Without room of its own: a witness that is ready waits in the hands of its maker.
        let (sender, made) = sync_channel(0);
        scope.spawn(move || {
            let mut witnesses = witnesses;
            loop {
                let start = Instant::now();
                let Some(witness) = witnesses.next() else { return };
                let staged = witness.as_ref().ok().and_then(&stage);
                // When the last worker has gone, so has the queue.
                if sender.send(Made { witness, staged, elapsed: start.elapsed() }).is_err() {
                    return;
                }
            }
        });
        let queue = Arc::new(Mutex::new(Queue { made, rng, taken: 0 }));
        let (finished, outcomes) = channel();
        for _ in 1..workers {
            let (queue, finished, work) = (queue.clone(), finished.clone(), &work);
            scope.spawn(move || {
                work(&queue, &mut |index, outcome| match finished.send((index, outcome)) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                })
            });
        }
        drop(finished);
        // Outcomes that came before their turn.
        let (mut early, mut next) = (BTreeMap::new(), 0);
        let mut deliver = |index: usize, outcome: Outcome<E>| {
            early.insert(index, outcome);
            while let Some(outcome) = early.remove(&next) {
                next += 1;
                done(outcome)?;
            }
            ControlFlow::Continue(())
        };
        let flow = work(&queue, &mut |index, outcome| {
            deliver(index, outcome)?;
            outcomes.try_iter().try_for_each(|(index, outcome)| deliver(index, outcome))
        });
        drop(queue);
        if flow.is_continue() {
            let _ = outcomes.into_iter().try_for_each(|(index, outcome)| deliver(index, outcome));
        }
    });
}
