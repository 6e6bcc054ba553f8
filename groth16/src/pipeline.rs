//! From a witness to the five sums of a proof: what a backend does.

use std::fmt;
use std::time::{Duration, Instant};

use assignment::PackedWitness;
use blstrs::{G1Projective, G2Projective, Scalar};

use crate::ProveError;

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

/// A circuit and its parameters on some hardware, ready for witness after witness.
///
/// Implementations differ in where matrices and points live, so that the whole way from witness to sums is theirs: a
/// device backend never moves the vectors in between.
pub(crate) trait Pipeline: fmt::Debug + Send + Sync {
    /// Products with the check that the witness satisfies the circuit, quotient, sums.
    fn sums(&self, witness: &PackedWitness<Scalar>) -> Result<(Sums, StageTimes), ProveError>;
}

/// How long each stage of a proof took, by this crate's clock. A stage that did not happen is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StageTimes {
    /// Making the witness: set by callers that make it.
    pub witness: Option<Duration>,
    /// `A·w`, `B·w`, `C·w` and their comparison.
    pub products: Option<Duration>,
    /// The quotient's six transforms.
    pub quotient: Option<Duration>,
    /// The five multi-scalar multiplications.
    pub msm: Option<Duration>,
    /// What the device's own clock counted of the last three, where there is a device.
    pub device: Option<Duration>,
    /// Verifying the finished proof.
    pub verify: Option<Duration>,
}

/// Runs a stage and notes how long it took.
pub(crate) fn timed<T>(slot: &mut Option<Duration>, stage: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let out = stage();
    *slot = Some(start.elapsed());
    out
}
