//! `ci`: the script that continuous integration runs.

use std::process::Command;

use serde_json::json;

use super::{Answer, Outcome, workspace};
use crate::{cli::Ci, console::Console, failure::Failure, failure::Kind};

/// Runs `.ci/run`, with `--full` the long tests too.
pub fn run(flags: &Ci, console: Console) -> Outcome {
    let root = workspace::root()?;
    let mut command = Command::new("bash");
    command.arg(root.join(".ci/run")).args(flags.full.then_some("--full")).current_dir(&root);
    match workspace::delegate(&mut command, console.json())? {
        Answer::Yes => console.result(&json!({ "passed": true, "full": flags.full })),
        Answer::No(_) => return Err(Failure::new(Kind::Mismatch, "a step failed, see above").at(".ci/run")),
    }
    Ok(Answer::Yes)
}
