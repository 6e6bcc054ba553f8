//! From a witness to the five sums of a proof: what a backend does.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assignment::PackedWitness;
use blstrs::{G1Projective, G2Projective, Scalar};
use gpu::Device;
use group::Group as _;
use r1cs::device::PinnedWitness;

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

/// A witness's copy in memory from which it goes to the device without the processor. That is for the next witness when this is dropped.
#[derive(Debug)]
pub(crate) struct Staged {
    copy: Option<PinnedWitness>,
    home: Stage,
}

/// Where a copy can be made while the device works on another witness: one at a time.
#[derive(Debug, Clone)]
pub(crate) struct Stage(Arc<Mutex<Option<PinnedWitness>>>);

impl Stage {
    /// On a device's machine.
    pub(crate) fn new(device: &Device) -> Result<Self, gpu::Error> {
        Ok(Self(Arc::new(Mutex::new(Some(PinnedWitness::new(device)?)))))
    }

    fn lock(&self) -> MutexGuard<'_, Option<PinnedWitness>> {
        // Each change is one assignment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies a witness, unless there is a copy that has not been sent yet, or no memory for it.
    pub(crate) fn copy(&self, witness: &PackedWitness<Scalar>) -> Option<Staged> {
        let mut copy = self.lock().take()?;
        let _span = tracing::debug_span!("pinned copy", bytes = witness.memory()).entered();
        match copy.copy(witness) {
            Ok(()) => Some(Staged { copy: Some(copy), home: self.clone() }),
            Err(error) => {
                tracing::debug!(%error, "a witness is sent without a copy");
                *self.lock() = Some(copy);
                None
            }
        }
    }
}

impl Staged {
    pub(crate) fn copy(&self) -> Option<&PinnedWitness> {
        self.copy.as_ref()
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Whoever makes the next copy does not have to ask CUDA whether this one has been sent, which may not answer while
        // another thread waits for a sum. Where it says that the device is lost there are no more copies.
        let sent = self.copy.take().and_then(|mut copy| copy.wait().is_ok().then_some(copy));
        *self.home.lock() = sent;
    }
}

/// A circuit and its parameters on some hardware, ready for witness after witness.
///
/// Implementations differ in where matrices and points live, so that the whole way from witness to sums is theirs: a
/// device backend never moves the vectors in between.
pub(crate) trait Pipeline: fmt::Debug + Send + Sync {
    /// Products with the check that the witness satisfies the circuit, quotient, sums. All of [`StageTimes`] is set but
    /// what its callers do. A copy that this or another pipeline has made of the witness is sent in its stead.
    fn sums(
        &self,
        witness: &PackedWitness<Scalar>,
        staged: Option<Staged>,
    ) -> Result<(Sums, StageTimes), ProveError>;

    /// Copies a witness to where it can be sent from without the processor, if there is such a place and it is free: for whoever makes
    /// witnesses while others are proved.
    fn stage(&self, _witness: &PackedWitness<Scalar>) -> Option<Staged> {
        None
    }

    /// Whether the next proof may succeed although the device has failed: another process will use it then.
    fn recovers(&self) -> bool {
        false
    }

    /// Where things are, where there is a device.
    fn plan(&self) -> Option<&Plan> {
        None
    }

    /// The most device memory that was in use at a time, where there is a device.
    fn device_peak(&self) -> Option<u64> {
        None
    }
}
