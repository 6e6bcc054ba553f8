//! The stages of a proof by three clocks, with the gaps between them.

use std::{fmt, time::Duration};

use groth16::{Clocks, StageTimes};

use super::median;

/// A gap above this share of the outer clock is marked.
const SHARE: f64 = 0.02;
/// A gap below this, for each proof, is not: a host that waits for a device learns that it is done 10 to 20 µs later, and a stage
/// waits up to three times.
const NOISE_MS: f64 = 0.05;

/// One piece of work: medians over the runs, in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What it is.
    pub name: &'static str,
    /// The stage of the pipeline.
    pub pipeline: f64,
    /// The calls within.
    pub wrapper: f64,
    /// The device's work within these, where there is a device.
    pub device: Option<f64>,
    /// How many proofs the times are of.
    proofs: usize,
}

/// What an outer clock saw and an inner one did not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// The share of the outer clock's time; none where the inner one saw more, which overlapping work does.
    pub share: f64,
    /// Whether it is too large.
    pub marked: bool,
}

/// Every piece of work that happened in all of the runs, each of which made so many proofs.
pub fn lines(runs: &[StageTimes], proofs: usize) -> Vec<Line> {
    let Some(first) = runs.first() else { return vec![] };
    let names = first.clocks().map(|(name, _)| name);
    let line = |(place, name)| {
        let of_runs = runs.iter().map(|run| run.clocks().get(place).and_then(|(_, clocks)| *clocks));
        let of_runs = of_runs.collect::<Option<Vec<Clocks>>>()?;
        let ms =
            |pick: fn(&Clocks) -> Duration| median(of_runs.iter().map(|run| pick(run).as_secs_f64() * 1e3));
        let device = of_runs.iter().map(|run| run.device).collect::<Option<Vec<_>>>();
        Some(Line {
            name,
            pipeline: ms(|clocks| clocks.pipeline),
            wrapper: ms(|clocks| clocks.wrapper),
            device: device.map(|times| median(times.iter().map(|time| time.as_secs_f64() * 1e3))),
            proofs,
        })
    };
    names.into_iter().enumerate().filter_map(line).collect()
}

impl Line {
    /// Between the pipeline's clock and that of the calls.
    pub fn around_calls(&self) -> Gap {
        self.gap(self.pipeline, self.wrapper)
    }

    /// Between the clock of the calls and the device's.
    pub fn around_device(&self) -> Option<Gap> {
        self.device.map(|device| self.gap(self.wrapper, device))
    }

    /// Whether one of the gaps is too large.
    pub fn is_marked(&self) -> bool {
        self.around_calls().marked || self.around_device().is_some_and(|gap| gap.marked)
    }

    fn gap(&self, outer: f64, inner: f64) -> Gap {
        let gap = (outer - inner).max(0.0);
        let share = if gap > 0.0 { gap / outer } else { 0.0 };
        Gap { share, marked: share > SHARE && gap > NOISE_MS * self.proofs as f64 }
    }
}

/// Times and gaps in columns, as [`HEADER`] names them.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>12.2} {:>12.2} {}", self.pipeline, self.wrapper, self.around_calls())?;
        if let (Some(device), Some(gap)) = (self.device, self.around_device()) {
            write!(f, " {device:>12.2} {gap}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>6.2} %{}", self.share * 1e2, if self.marked { '!' } else { ' ' })
    }
}

/// The columns of a [`Line`].
pub const HEADER: &str = " pipeline ms   wrapper ms      gap     device ms      gap";

#[cfg(test)]
mod tests {
    use groth16::SumTimes;

    use super::*;

    fn clocks(pipeline: f64, wrapper: f64, device: Option<f64>) -> Option<Clocks> {
        let ms = |ms: f64| Duration::from_secs_f64(ms / 1e3);
        Some(Clocks { device: device.map(ms), wrapper: ms(wrapper), pipeline: ms(pipeline) })
    }

    fn run(products: Option<Clocks>) -> StageTimes {
        StageTimes { products, ..StageTimes::default() }
    }

    fn one(pipeline: f64, wrapper: f64, device: Option<f64>, proofs: usize) -> Line {
        let mut lines = lines(&[run(clocks(pipeline, wrapper, device))], proofs);
        assert_eq!(lines.len(), 1);
        lines.remove(0)
    }

    #[test]
    fn a_gap_is_marked_above_two_percent_and_above_noise() {
        let line = one(100.0, 99.0, Some(96.0), 1);
        assert!((line.around_calls().share - 0.01).abs() < 1e-9 && !line.around_calls().marked);
        let gap = line.around_device().unwrap();
        assert!((gap.share - 3.0 / 99.0).abs() < 1e-9 && gap.marked && line.is_marked());
        assert!(line.to_string().ends_with("96.00   3.03 %!"), "{line}");
        // A destructor between the calls.
        assert!(one(100.0, 97.0, Some(96.9), 1).around_calls().marked);
        // 40 µs of 1 ms are noise; the same a hundred times over in one call is not.
        assert!(!one(1.0, 1.0, Some(0.96), 1).is_marked());
        assert!(one(100.0, 100.0, Some(96.0), 1).is_marked());
        assert!(!one(100.0, 100.0, Some(96.0), 100).is_marked());
    }

    #[test]
    fn no_device_is_no_gap_and_overlap_is_none() {
        let line = one(10.0, 10.0, None, 1);
        assert!(line.around_device().is_none() && !line.is_marked());
        assert_eq!(line.to_string(), "       10.00        10.00   0.00 % ");
        let line = one(10.0, 4.0, Some(5.0), 1);
        assert_eq!(line.around_device(), Some(Gap { share: 0.0, marked: false }));
        assert_eq!(one(0.0, 0.0, Some(0.0), 1).around_calls().share, 0.0);
    }

    #[test]
    fn lines_are_medians_in_order_and_only_of_what_happened() {
        let sums = SumTimes { h: clocks(3.0, 2.0, Some(1.0)), ..SumTimes::default() };
        let runs = [5.0, 1.0, 3.0].map(|ms| StageTimes { sums, ..run(clocks(2.0 * ms, ms, Some(ms / 2.0))) });
        let lines = lines(&runs, 1);
        assert_eq!(lines.iter().map(|line| line.name).collect::<Vec<_>>(), ["products", "h"]);
        assert_eq!((lines[0].pipeline, lines[0].wrapper, lines[0].device), (6.0, 3.0, Some(1.5)));
        assert!(super::lines(&[], 1).is_empty());
        // A stage that one run lacks has no median.
        assert!(super::lines(&[runs[0], StageTimes::default()], 1).is_empty());
    }

    #[test]
    fn proofs_add_up() {
        let mut sum = StageTimes::default();
        for _ in 0..3 {
            sum.add(&StageTimes {
                witness: Some(Duration::from_millis(4)),
                ..run(clocks(3.0, 2.0, Some(1.0)))
            });
        }
        assert_eq!(sum.products, clocks(9.0, 6.0, Some(3.0)));
        assert_eq!((sum.witness, sum.quotient), (Some(Duration::from_millis(12)), None));
    }
}
