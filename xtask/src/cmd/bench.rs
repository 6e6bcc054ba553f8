//! `bench`: what is measured comes with the crates it measures.

use clap::ValueEnum;

use super::Outcome;
use crate::{cli::Bench, failure::Failure};

/// Refuses: no benchmark is built in yet.
pub fn run(flags: &Bench) -> Outcome {
    let subject = flags.subject.to_possible_value();
    let subject = subject.as_ref().map_or("this", |value| value.get_name());
    Err(Failure::unavailable("bench", format_args!("no benchmark of {subject} is built in yet")))
}
