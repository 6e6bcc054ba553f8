//! The sources, for the two commands that need them.

use std::{
    env, io,
    path::PathBuf,
    process::{Command, Stdio},
};

use super::{Answer, Outcome};
use crate::failure::Failure;

/// The workspace's root: where cargo says the running package is, or above the current folder.
pub fn root() -> Result<PathBuf, Failure> {
    let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let current = env::current_dir().map_err(Failure::input)?;
    let starts = package.iter().chain([&current]);
    starts
        .flat_map(|start| start.ancestors())
        .find(|folder| folder.join("xtask/peers/Cargo.toml").is_file())
        .map(PathBuf::from)
        .ok_or_else(|| Failure::input("the sources are needed: run this within the repository"))
}

/// Runs `command`; its exit code is ours. With `to_stderr` its standard output goes to standard error.
pub fn delegate(command: &mut Command, to_stderr: bool) -> Outcome {
    if to_stderr {
        command.stdout(Stdio::from(io::stderr()));
    }
    let program = command.get_program().to_owned();
    let status = command.status().map_err(|error| Failure::input(error).at(program.display()))?;
    match status.code() {
        Some(0) => Ok(Answer::Yes),
        Some(code) => Ok(Answer::No(u8::try_from(code).unwrap_or(1))),
        None => Err(Failure::input("stopped by a signal").at(program.display())),
    }
}
