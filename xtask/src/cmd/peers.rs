//! `peers`: comparisons with the reference crates, built in a workspace of their own.

use std::{env, process::Command};

use super::{Outcome, workspace};
use crate::{cli::Peers, console::Console, failure::Failure};

/// Builds and runs `xtask/peers` with the given arguments.
pub fn run(flags: &Peers, console: Console) -> Outcome {
    let manifest = workspace::root()?.join("xtask/peers/Cargo.toml");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--release", "--manifest-path"]).arg(manifest);
    command.arg("--").args(&flags.arguments);
    if console.json() {
        command.arg("--json");
    }
    let answer = workspace::delegate(&mut command, false)?;
    if answer == super::Answer::No(101) {
        return Err(Failure::input("the peers could not be built or failed").at("xtask/peers"));
    }
    Ok(answer)
}
