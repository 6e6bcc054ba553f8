//! Variants of one thing, run in turn so that whatever disturbs the machine disturbs all of them.

use super::stopwatch::{Cost, Stopwatch};
use crate::{cmd::median, failure::Failure, progress::Progress};

/// One run of a variant: it prepares what it needs, has the stopwatch time what is compared, and cleans up.
pub type Run<'a> = Box<dyn FnMut(&mut Stopwatch) -> Result<Cost, Failure> + 'a>;

/// Variants of one thing; the first is what the others are compared with.
pub struct Comparison<'a> {
    /// What the variants do.
    pub what: &'static str,
    /// Each one's name and how to run it.
    pub variants: Vec<(&'static str, Run<'a>)>,
}

/// The medians of a variant's runs.
pub struct Medians {
    pub name: &'static str,
    pub cpu_ms: f64,
    pub wall_ms: f64,
    pub instructions: Option<f64>,
}

impl Comparison<'_> {
    /// Runs every variant `runs` times. Each round begins with another variant.
    pub fn run(&mut self, runs: usize, stopwatch: &mut Stopwatch) -> Result<Vec<Medians>, Failure> {
        let variants = self.variants.len();
        let progress = Progress::start(self.what, Some((runs * variants) as u64));
        let mut costs: Vec<Vec<Cost>> = vec![Vec::with_capacity(runs); variants];
        for round in 0..runs {
            for turn in 0..variants {
                let k = (round + turn) % variants;
                costs[k].push((self.variants[k].1)(stopwatch)?);
                progress.advance(1);
            }
        }
        let names = self.variants.iter().map(|(name, _)| *name);
        Ok(names.zip(&costs).map(|(name, costs)| Medians::of(name, costs)).collect())
    }
}

impl Medians {
    fn of(name: &'static str, costs: &[Cost]) -> Self {
        let counted: Option<Vec<f64>> =
            costs.iter().map(|cost| cost.instructions.map(|count| count as f64)).collect();
        Self {
            name,
            cpu_ms: median(costs.iter().map(|cost| cost.cpu_ms)),
            wall_ms: median(costs.iter().map(|cost| cost.wall_ms)),
            instructions: counted.map(|counts| median(counts.into_iter())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn every_round_begins_with_another_variant() {
        let order = RefCell::new(String::new());
        let seen = &order;
        let variant = |name: &'static str, cpu_ms: f64| -> (&'static str, Run<'_>) {
            let run = move |_: &mut Stopwatch| {
                seen.borrow_mut().push_str(name);
                Ok(Cost { cpu_ms, wall_ms: 2.0 * cpu_ms, instructions: None })
            };
            (name, Box::new(run))
        };
        let mut comparison =
            Comparison { what: "a test", variants: vec![variant("a", 1.0), variant("b", 3.0)] };
        let medians = comparison.run(3, &mut Stopwatch::new()).unwrap();
        drop(comparison);
        assert_eq!(order.into_inner(), "abbaab");
        let got: Vec<_> = medians.iter().map(|m| (m.name, m.cpu_ms, m.wall_ms, m.instructions)).collect();
        assert_eq!(got, [("a", 1.0, 2.0, None), ("b", 3.0, 6.0, None)]);
    }
}
