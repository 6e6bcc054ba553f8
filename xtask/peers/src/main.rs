//! Comparisons with bellperson and storage-proofs. The last line of standard output is one JSON object.

mod accept;
mod compare;
mod compat;
mod fixtures;
mod interop;
mod measure;
mod ours;
mod random;
mod reference;
mod theirs;

use std::{error::Error, path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};
use compare::Side;
use serde_json::{Value, json};

/// This project beside bellperson 0.27 and storage-proofs 19, on the CPU. Without a command: all comparisons.
#[derive(Parser)]
#[command(name = "peers")]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print the results as one JSON object on standard output.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Random circuits: files and proofs must be the same bytes, and each side accepts the other's.
    Interop {
        /// Circuits of each kind.
        #[arg(long, default_value_t = 4)]
        cases: u32,
        /// The seed of the circuits. Default: a fresh one.
        #[arg(long)]
        seed: Option<u64>,
    },
    /// storage-proofs' verifiers on our WindowPoSt and WinningPoSt.
    Accept,
    /// storage-proofs' WindowPoSt circuit, compiled and proved through feature `bellperson-compat`.
    Compat,
    /// Time and memory of both provers on porep-2KiB.
    Prove {
        /// Alternating rounds.
        #[arg(long, default_value_t = 3)]
        rounds: usize,
        /// A parameter file of porep-2KiB. Default: made for the run.
        #[arg(long)]
        params: Option<PathBuf>,
    },
    /// One proof by one side, in this process; `prove` runs this.
    #[command(hide = true)]
    Sample {
        side: Side,
        #[arg(long)]
        params: PathBuf,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli.command) {
        Ok(Outcome::Report(report)) => {
            if cli.json {
                println!("{report}");
            }
            ExitCode::SUCCESS
        }
        Ok(Outcome::Sample(sample)) => {
            println!("{sample}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            if cli.json {
                println!(
                    "{}",
                    json!({ "error": { "kind": "mismatch", "message": error.to_string(), "where": null } })
                );
            }
            ExitCode::FAILURE
        }
    }
}

enum Outcome {
    Report(Value),
    Sample(String),
}

fn run(command: Option<Command>) -> Result<Outcome, Box<dyn Error>> {
    let report = match command {
        Some(Command::Interop { cases, seed }) => interop::run(cases, seed)?,
        Some(Command::Accept) => accept::run()?,
        Some(Command::Compat) => compat::run()?,
        Some(Command::Prove { rounds, params }) => compare::run(rounds, params)?,
        Some(Command::Sample { side, params }) => {
            return Ok(Outcome::Sample(serde_json::to_string(&compare::one(side, &params)?)?));
        }
        None => json!({
            "interop": interop::run(4, None)?,
            "accept": accept::run()?,
            "compat": compat::run()?,
            "prove": compare::run(3, None)?,
        }),
    };
    Ok(Outcome::Report(report))
}
