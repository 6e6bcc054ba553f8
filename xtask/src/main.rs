//! The command line: from a vanilla proof to a verified Groth16 proof.
#![forbid(unsafe_code)]

mod backend;
mod bench;
mod cache;
mod cli;
mod cmd;
mod console;
mod failure;
mod files;
mod interrupt;
mod memory;
mod parameters;
mod progress;
mod public_inputs;
mod size;
mod source;
mod timeline;

use std::process::ExitCode;

fn main() -> ExitCode {
    cmd::run(std::env::args_os())
}
