//! `bench`: medians, rates and shares of the floor.

use super::Outcome;
use crate::{
    bench::{msm, ntt, prove, synthesis},
    cli::{Bench, Subject},
    console::Console,
    failure::{Failure, Kind},
};

/// Runs the benchmark asked for. A flag that it has no use for is refused.
pub fn run(flags: &Bench, console: Console) -> Outcome {
    let refuse = |subject: &str, flag: &str| {
        let message = format_args!("bench {subject} has no use for {flag}");
        Err(Failure::new(Kind::Usage, message).at(flag))
    };
    match flags.subject {
        Subject::Prove if flags.svg.is_some() => refuse("prove", "--svg"),
        Subject::Prove => prove::run(flags, console),
        subject if !flags.circuit.is_empty() => refuse(subject.name(), "--circuit"),
        subject if flags.backend.is_some() => refuse(subject.name(), "--backend"),
        Subject::Ntt if flags.runs.is_some() => refuse("ntt", "--runs"),
        Subject::Ntt => ntt::run(flags, console),
        Subject::Msm => msm::run(flags, console),
        Subject::Synthesis if flags.svg.is_some() => refuse("synthesis", "--svg"),
        Subject::Synthesis if flags.log_n.is_some() => refuse("synthesis", "--log-n"),
        Subject::Synthesis => synthesis::run(flags.runs, console),
    }
}
