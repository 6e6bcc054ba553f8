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

use crate::pipeline::{Cores, Spent};
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
    elapsed: Duration,
    cores: Cores,
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
/// the witnesses' order. The next witness is made meanwhile on a thread of its own, from when the proof leaves it the [`Cores`]; no
/// more than one for each worker and that one are in memory. An error is the outcome of its own proof only. After `Break` no more
/// proofs are begun and no more outcomes handed over.
pub(crate) fn prove_each<E: Send, R: RngCore + CryptoRng + Send>(
    workers: usize,
    prove: impl Fn(Cores, &PackedWitness<Scalar>, Randomness) -> Result<Proved, ProveError> + Sync,
    witnesses: impl Iterator<Item = Result<PackedWitness<Scalar>, E>> + Send,
    rng: &mut R,
    mut done: impl FnMut(Outcome<E>) -> ControlFlow<()>,
) {
    let stopped = AtomicBool::new(false);
    let work = |queue: &Mutex<Queue<'_, E, R>>,
                deliver: &mut dyn FnMut(usize, Outcome<E>) -> ControlFlow<()>| {
        let _guard = Guard(&stopped);
        let mut before = Spent::default();
        loop {
            let job = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(job) = job else { return ControlFlow::Continue(()) };
            // Only a `Break` or a panic leaves a witness unproved: that others find no more is no reason.
            if stopped.load(Ordering::SeqCst) {
                return ControlFlow::Break(());
            }
            let Job { index, made: Made { witness, elapsed, cores }, randomness } = job;
            let outcome = match witness {
                Ok(witness) => {
                    let proved = prove(cores.then_release(std::mem::take(&mut before)), &witness, randomness);
                    before = witness.into();
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
                let (cores, freed) = Cores::awaited();
                // When the last worker has gone, so has the queue.
                if sender.send(Made { witness, elapsed: start.elapsed(), cores }).is_err() {
                    return;
                }
                freed.wait();
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

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::mpsc::RecvTimeoutError;

    use ff::Field;
    use rand_core::SeedableRng;

    use super::*;

    /// While a proof holds the cores no witness is begun; when it has dropped them one is, although the proof goes on.
    #[test]
    fn the_next_witness_is_begun_when_the_proof_has_dropped_the_cores() {
        const WITNESSES: usize = 4;
        let (begin, begun) = channel();
        let begun = Mutex::new(begun);
        let witnesses = (0..WITNESSES).map(move |number| {
            begin.send(number).unwrap();
            Ok::<_, Infallible>(PackedWitness::from_assignment(vec![Scalar::ONE], &[]).unwrap())
        });
        let proved = Mutex::new(0);
        let prove = |cores: Cores, _: &_, _| {
            let begun = begun.lock().unwrap();
            let mut number = proved.lock().unwrap();
            if *number == 0 {
                assert_eq!(begun.recv_timeout(Duration::from_secs(60)), Ok(0));
            }
            let held = begun.recv_timeout(Duration::from_millis(20));
            assert!(matches!(held, Err(RecvTimeoutError::Timeout)), "{held:?}");
            drop(cores);
            *number += 1;
            if *number < WITNESSES {
                assert_eq!(begun.recv_timeout(Duration::from_secs(60)), Ok(*number));
            }
            Err(ProveError::NoProverLeft(None))
        };
        let mut outcomes = 0;
        prove_each(1, prove, witnesses, &mut rand_chacha::ChaCha20Rng::seed_from_u64(1), |_| {
            outcomes += 1;
            ControlFlow::Continue(())
        });
        assert_eq!((outcomes, *proved.lock().unwrap()), (WITNESSES, WITNESSES));
    }
}
