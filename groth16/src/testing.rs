//! For tests of what happens when a device fails: provers that fail on purpose.

use std::fmt;

use assignment::PackedWitness;
use blstrs::Scalar;

use crate::pipeline::{Cores, Pipeline, Sums};
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
    fn sums(&self, witness: &PackedWitness<Scalar>, cores: Cores) -> Result<(Sums, StageTimes), ProveError> {
        // What comes before may wait for another proof, whose witness is begun only when the cores are free.
        drop(cores);
        (self.before)()?;
        self.pipeline.sums(witness, Cores::default())
    }

    fn plan(&self) -> Option<&Plan> {
        self.pipeline.plan()
    }

    fn device_peak(&self) -> Option<u64> {
        self.pipeline.device_peak()
    }
}
