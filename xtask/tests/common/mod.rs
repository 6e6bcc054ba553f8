//! Runs the built binary.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

/// What the binary answered.
pub struct Answer {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// The cache that tests share, so that each circuit's parameters are made once.
pub fn shared_cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// A vanilla proof of the repository's.
pub fn vanilla(name: &str) -> String {
    format!("{}/../circuits/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The binary in a folder, without the machine's cache and ceremony parameters.
pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.current_dir(folder).env("XDG_CACHE_HOME", shared_cache());
    command.env_remove("FIL_PROOFS_PARAMETER_CACHE").env_remove("RUST_LOG");
    command
}

/// The binary in a folder, where no file gets longer than so many KiB.
pub fn limited(folder: &Path, kib: u32) -> Command {
    let plain = command(folder);
    let mut command = Command::new("bash");
    command.args(["-c", &format!("ulimit -f {kib}; exec \"$0\" \"$@\"")]).arg(plain.get_program());
    command.current_dir(folder);
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Runs the binary in `folder`.
pub fn xtask(folder: &Path, arguments: &[&str]) -> Answer {
    run(command(folder).args(arguments))
}

/// Runs a prepared command.
pub fn run(command: &mut Command) -> Answer {
    let Output { status, stdout, stderr } = command.output().unwrap();
    Answer {
        code: status.code().unwrap_or(-1),
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8(stderr).unwrap(),
    }
}

impl Answer {
    /// The last line of standard output.
    pub fn json(&self) -> Value {
        let line = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}\n{}", self.stderr))
    }

    /// The error's kind, message and place, of a failed command with `--json`.
    pub fn error(&self) -> (String, String, String) {
        assert_eq!(self.stdout.lines().count(), 1, "one object and nothing else: {}", self.stdout);
        let error = &self.json()["error"];
        let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        (text("kind"), text("message"), text("where"))
    }
}

/// The names of a folder's entries, sorted.
pub fn entries(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}
