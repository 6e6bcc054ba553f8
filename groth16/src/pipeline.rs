//! From a witness to the five sums of a proof: what a backend does.

use std::convert::Infallible;
use std::fmt;
use std::sync::mpsc::{Receiver, Sender, channel};

use assignment::PackedWitness;
use blstrs::{G1Projective, G2Projective, Scalar};
use group::Group as _;

use crate::{Plan, ProveError, StageTimes};

/// The sums of products of which a proof consists, over the witness `w` and the quotient `h`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sums {
    /// `Σ w_i·a_i` over the A query.
    pub(crate) a: G1Projective,
    /// `Σ w_i·b_i` over the B query in G1.
    pub(crate) b_g1: G1Projective,
    /// The same in G2.
    pub(crate) b_g2: G2Projective,
    /// `Σ w_i·l_i` over the auxiliary variables.
    pub(crate) l: G1Projective,
    /// `Σ h_i·H_i`.
    pub(crate) h: G1Projective,
}

impl Sums {
    /// Of nothing.
    pub(crate) fn zero() -> Self {
        let (g1, g2) = (G1Projective::identity(), G2Projective::identity());
        Self { a: g1, b_g1: g1, b_g2: g2, l: g1, h: g1 }
    }
}

/// The processor's cores, which a proof has for itself until it drops this: on a device while the witness is sent there. Who makes
/// the next witness on all cores waits for that, since otherwise the device would wait for them. The witness before is released no
/// sooner either: threads that help to send cannot start while its memory goes back to the system.
#[derive(Debug, Default)]
#[allow(dead_code, reason = "owned to be dropped")]
pub(crate) struct Cores {
    before: Spent,
    awaited: Option<Sender<Infallible>>,
}

/// A witness that is not needed any more; the reaper takes it.
#[derive(Debug, Default)]
pub(crate) struct Spent(Option<PackedWitness<Scalar>>);

impl From<PackedWitness<Scalar>> for Spent {
    fn from(witness: PackedWitness<Scalar>) -> Self {
        Self(Some(witness))
    }
}

impl Drop for Spent {
    fn drop(&mut self) {
        if let Some(witness) = self.0.take() {
            assignment::reaper::defer(witness);
        }
    }
}

/// The other end: waits until the cores are free.
pub(crate) struct Freed(Receiver<Infallible>);

impl Cores {
    /// Cores that somebody waits for.
    pub(crate) fn awaited() -> (Self, Freed) {
        let (cores, freed) = channel();
        (Self { before: Spent::default(), awaited: Some(cores) }, Freed(freed))
    }

    /// Releases a witness too when they are free.
    pub(crate) fn then_release(self, before: Spent) -> Self {
        Self { before, ..self }
    }
}

impl Freed {
    pub(crate) fn wait(self) {
        // Nothing is ever sent: the answer is that the sender has been dropped.
        let Err(_) = self.0.recv();
    }
}

/// A circuit and its parameters on some hardware, ready for witness after witness.
///
/// Implementations differ in where matrices and points live, so that the whole way from witness to sums is theirs: a
/// device backend never moves the vectors in between.
pub(crate) trait Pipeline: fmt::Debug + Send + Sync {
    /// Products with the check that the witness satisfies the circuit, quotient, sums. All of [`StageTimes`] is set but
    /// what its callers do. `cores` is dropped when the device does the work from there on, and at once where there is none.
    fn sums(&self, witness: &PackedWitness<Scalar>, cores: Cores) -> Result<(Sums, StageTimes), ProveError>;

    /// Where things are, where there is a device.
    fn plan(&self) -> Option<&Plan> {
        None
    }

    /// The most device memory that was in use at a time, where there is a device.
    fn device_peak(&self) -> Option<u64> {
        None
    }
}
