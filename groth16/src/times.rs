//! How long the stages of a proof took, by three clocks.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tracing::Span;

/// One piece of work by three clocks, each with its own view. What one clock sees and the one below does not is time that nobody
/// asked for: allocations, waits, destructors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// How long the device was busy with what the calls queued, by its own events. `None` without a device.
    pub device: Option<Duration>,
    /// The calls of `r1cs`, `ntt-gpu` and `msm-gpu`, by the host's clock.
    pub wrapper: Duration,
    /// The stage of the pipeline around those calls, by the host's clock.
    pub pipeline: Duration,
}

impl Clocks {
    pub(crate) fn add(&mut self, other: &Self) {
        add(&mut self.device, other.device);
        self.wrapper += other.wrapper;
        self.pipeline += other.pipeline;
    }
}

/// How long each stage of a proof took. A stage that did not happen is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageTimes {
    /// Making the witness: set by callers that make it.
    pub witness: Option<Duration>,
    /// Copying the witness to the device, a part of `products`.
    pub upload: Option<Clocks>,
    /// `A·w`, `B·w`, `C·w` and their comparison.
    pub products: Option<Clocks>,
    /// The quotient's six transforms.
    pub quotient: Option<Clocks>,
    /// The five multi-scalar multiplications.
    pub msm: Option<Clocks>,
    /// Each of them.
    pub sums: SumTimes,
    /// From the witness to the sums: products, quotient, multiplications, and whatever lies between and behind them.
    pub whole: Option<Clocks>,
    /// Verifying the finished proof.
    pub verify: Option<Duration>,
}

/// How long each multi-scalar multiplication took, by query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SumTimes {
    /// The quotient's coefficients.
    pub h: Option<Clocks>,
    /// The auxiliary variables.
    pub l: Option<Clocks>,
    /// The variables of A.
    pub a: Option<Clocks>,
    /// The variables of B, in G1.
    pub b_g1: Option<Clocks>,
    /// The same in G2.
    pub b_g2: Option<Clocks>,
}

impl StageTimes {
    /// Adds the times of another proof, stage by stage.
    pub fn add(&mut self, other: &Self) {
        add(&mut self.witness, other.witness);
        add(&mut self.verify, other.verify);
        for (clocks, (_, other)) in self.all_clocks_mut().into_iter().zip(other.clocks()) {
            if let Some(other) = other {
                clocks.get_or_insert_default().add(&other);
            }
        }
    }

    /// Every piece of work that has clocks, by name, parts behind what they are parts of.
    pub fn clocks(&self) -> [(&'static str, Option<Clocks>); 10] {
        let Self { upload, products, quotient, msm, sums, whole, .. } = *self;
        let SumTimes { h, l, a, b_g1, b_g2 } = sums;
        [
            ("products", products),
            ("upload", upload),
            ("quotient", quotient),
            ("msm", msm),
            ("h", h),
            ("l", l),
            ("a", a),
            ("b_g1", b_g1),
            ("b_g2", b_g2),
            ("whole", whole),
        ]
    }

    fn all_clocks_mut(&mut self) -> [&mut Option<Clocks>; 10] {
        let Self { upload, products, quotient, msm, sums, whole, .. } = self;
        let SumTimes { h, l, a, b_g1, b_g2 } = sums;
        [products, upload, quotient, msm, h, l, a, b_g1, b_g2, whole]
    }

    /// Fills in the device's clock. The spans' stages have the names of [`clocks`](Self::clocks), and are the parts where a piece of
    /// work has any.
    pub(crate) fn set_device(&mut self, spans: &[gpu::clock::DeviceSpan]) {
        let names = self.clocks().map(|(name, _)| name);
        for (name, clocks) in names.into_iter().zip(self.all_clocks_mut()) {
            let belongs = |stage| match name {
                "products" => matches!(stage, "upload" | "products"),
                "msm" => matches!(stage, "h" | "l" | "a" | "b_g1" | "b_g2"),
                "whole" => true,
                name => stage == name,
            };
            if let Some(clocks) = clocks {
                clocks.device = Some(gpu::clock::busy(spans.iter().filter(|span| belongs(span.stage))));
            }
        }
    }
}

fn add(sum: &mut Option<Duration>, time: Option<Duration>) {
    if let Some(time) = time {
        *sum.get_or_insert_default() += time;
    }
}

/// Runs a piece of work and notes how long it took.
pub(crate) fn timed<T>(slot: &mut Option<Duration>, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let out = work();
    *slot = Some(start.elapsed());
    out
}

/// The calls of other crates within a stage.
#[derive(Debug, Default)]
pub(crate) struct Calls(Duration);

/// Runs a stage within its `tracing` span and notes how long it and its calls took.
pub(crate) fn stage<T>(slot: &mut Option<Clocks>, span: Span, stage: impl FnOnce(&mut Calls) -> T) -> T {
    let start = Instant::now();
    let mut calls = Calls::default();
    let out = span.in_scope(|| stage(&mut calls));
    drop(span);
    *slot = Some(Clocks { device: None, wrapper: calls.0, pipeline: start.elapsed() });
    out
}

impl Calls {
    /// A call of another crate, within its span.
    pub(crate) fn call<T>(&mut self, span: Span, call: impl FnOnce() -> T) -> T {
        let _span = span.entered();
        let start = Instant::now();
        let out = call();
        self.0 += start.elapsed();
        out
    }

    /// Counts the calls of parts that were timed as stages of their own.
    pub(crate) fn include(&mut self, parts: impl IntoIterator<Item = Option<Clocks>>) {
        self.0 += parts.into_iter().flatten().map(|part| part.wrapper).sum::<Duration>();
    }
}
