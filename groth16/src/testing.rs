//! For tests of what happens when a device fails: provers that fail on purpose.

use std::fmt;

use assignment::PackedWitness;
use blstrs::Scalar;

use crate::pipeline::{Pipeline, Staged, Sums};
use crate::{Plan, ProveError, Prover, StageTimes};

/// The prover, with `before` called ahead of each proof, which fails with what that answers.
pub fn faulty(
    mut prover: Prover,
    before: impl Fn() -> Result<(), ProveError> + Send + Sync + 'static,
) -> Prover {
    prover.pipeline = Box::new(Faulty { pipeline: prover.pipeline, before: Box::new(before) });
    prover
}

struct Faulty {
    pipeline: Box<dyn Pipeline>,
    before: Box<dyn Fn() -> Result<(), ProveError> + Send + Sync>,
}

impl fmt::Debug for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Faulty").field(&self.pipeline).finish()
    }
}

impl Pipeline for Faulty {
    fn sums(
        &self,
        witness: &PackedWitness<Scalar>,
        staged: Option<Staged>,
    ) -> Result<(Sums, StageTimes), ProveError> {
        (self.before)()?;
        self.pipeline.sums(witness, staged)
    }

    fn stage(&self, witness: &PackedWitness<Scalar>) -> Option<Staged> {
        self.pipeline.stage(witness)
    }

    fn recovers(&self) -> bool {
        self.pipeline.recovers()
    }

    fn plan(&self) -> Option<&Plan> {
        self.pipeline.plan()
    }

    fn device_peak(&self) -> Option<u64> {
        self.pipeline.device_peak()
    }
}
