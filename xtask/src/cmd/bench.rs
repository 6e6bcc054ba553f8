//! `bench`: medians, rates and shares of the floor.

use clap::ValueEnum;

use super::Outcome;
use crate::{
    bench::synthesis,
    cli::{Bench, Subject},
    console::Console,
    failure::{Failure, Kind},
};

/// Runs the benchmark asked for. A flag that it has no use for is refused.
pub fn run(flags: &Bench, console: Console) -> Outcome {
    match flags.subject {
        Subject::Synthesis => {
            let refuse = |flag| {
                let message = format_args!("bench synthesis has no use for {flag}");
                Err(Failure::new(Kind::Usage, message).at(flag))
            };
            match flags {
                Bench { svg: Some(_), .. } => refuse("--svg"),
                Bench { log_n, .. } if !log_n.is_empty() => refuse("--log-n"),
                Bench { runs, .. } => synthesis::run(*runs as usize, console),
            }
        }
        subject => {
            let subject = subject.to_possible_value();
            let subject = subject.as_ref().map_or("this", |value| value.get_name());
            Err(Failure::unavailable("bench", format_args!("no benchmark of {subject} is built in yet")))
        }
    }
}
