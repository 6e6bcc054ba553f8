//! One module a command.

mod bench;
mod ci;
mod compile;
mod inspect;
mod peers;
mod prove;
mod prove_clocks;
mod prove_report;
mod setup;
mod synth_only;
mod verify;
mod workspace;

use std::{
    ffi::OsString,
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    time::Instant,
};

use clap::Parser;
use r1cs::CompileError;

use crate::{
    cli::{Cli, Command},
    console::{self, Console},
    failure::{Failure, Kind},
    interrupt, timeline,
};

/// What a command answers: done, a negative result that was already reported, or a failure.
pub type Outcome = Result<Answer, Failure>;

/// The answer of a command that did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Exit code 0.
    Yes,
    /// The work was done and the answer is no: this exit code.
    No(u8),
}

/// Parses the command line, runs its command and reports.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, arguments.iter().any(|argument| argument == "--json")),
    };
    let console = Console::new(cli.json);
    let timeline = match &cli.command {
        Command::Prove(flags) => prove::timeline(flags),
        _ => Ok(None),
    };
    // The timeline's file is begun with the logging, which says what signals were not served.
    let unserved = interrupt::install(console);
    let ready = timeline.and_then(|path| console.install_logging(path));
    unserved.iter().for_each(|what| tracing::warn!("{what}"));
    // A panic is a fault of ours; its message is on standard error already, and `--json` still gets its object.
    let outcome = catch_unwind(AssertUnwindSafe(|| ready.and_then(|()| dispatch(cli.command, console))))
        .unwrap_or_else(|_| Err(Failure::new(Kind::Internal, "a fault of this program, described above")));
    // A run that failed leaves what was recorded until then.
    if let Err(failure) = timeline::publish() {
        tracing::warn!(%failure, "the timeline was not written");
    }
    // Whoever asked for an object and got none must not read success from the exit code.
    let outcome = outcome.and_then(|answer| console::lost().map_or(Ok(answer), |lost| Err(lost.clone())));
    match outcome {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No(code)) => ExitCode::from(code),
        Err(failure) => {
            console.fail(&failure);
            ExitCode::from(failure.kind.exit_code())
        }
    }
}

fn dispatch(command: Command, console: Console) -> Outcome {
    match command {
        Command::Prove(flags) => prove::run(&flags, console),
        Command::Verify(flags) => verify::run(&flags, console),
        Command::Setup(flags) => setup::run(&flags, console),
        Command::Compile(flags) => compile::run(&flags, console),
        Command::Inspect(flags) => inspect::run(&flags, console),
        Command::SynthOnly(flags) => synth_only::run(&flags, console),
        Command::Bench(flags) => bench::run(&flags, console),
        Command::Peers(flags) => peers::run(&flags, console),
        Command::Ci(flags) => ci::run(&flags, console),
    }
}

/// Help and version are no failures; everything else that clap refuses is one of usage.
fn refuse(error: &clap::Error, json: bool) -> ExitCode {
    if !error.use_stderr() || !json {
        // A closed pipe is the reader's choice.
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    }
    let rendered = error.to_string();
    // The first paragraph; usage and hints follow.
    let lines = rendered.lines().take_while(|line| !line.trim().is_empty()).map(str::trim);
    let message = lines.collect::<Vec<_>>().join(" ");
    let message = message.trim_start_matches("error: ");
    let failure = Failure::new(Kind::Usage, message);
    let failure = match error.get(clap::error::ContextKind::InvalidArg) {
        Some(argument) => failure.at(argument),
        None => failure,
    };
    Console::new(true).fail(&failure);
    ExitCode::from(Kind::Usage.exit_code())
}

/// A circuit of ours that does not compile is a fault of ours.
fn compile_failure(error: &CompileError) -> Failure {
    Failure::new(Kind::Internal, error)
}

/// Milliseconds since `started`.
fn millis(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e3
}

/// The middle value; of an even number, the mean of the two in the middle; 0 of none.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}
