//! Which backend proves, and why.

use groth16::Backend;

use crate::{
    cli,
    failure::{Failure, Kind},
};

/// A backend and the reason for it, as reports show them.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The backend.
    pub backend: Backend,
    /// Its name on the command line.
    pub name: &'static str,
    /// Why this one.
    pub reason: String,
}

/// The backend that the flag asks for. `cuda` is never replaced by the processor: where there is no device, it is refused.
pub fn choose(flag: cli::Backend) -> Result<Choice, Failure> {
    let cpu = |reason: &str| Ok(Choice { backend: Backend::Cpu, name: "cpu", reason: reason.into() });
    match flag {
        cli::Backend::Cpu => cpu("asked for"),
        cli::Backend::Auto => cpu("this build has no device backend"),
        cli::Backend::Cuda => {
            Err(Failure::new(Kind::Device, "no CUDA device: this build has no device backend")
                .at("--backend"))
        }
    }
}

/// Refuses the flags of devices and budgets, which the CPU backend cannot honour.
pub fn refuse_device_flags(flags: &cli::Prove) -> Result<(), Failure> {
    let unavailable = [
        ("--device", !flags.device.is_empty(), "no device backend is built in"),
        ("--device-memory", flags.device_memory.is_some(), "no device backend is built in"),
        ("--host-memory", flags.host_memory.is_some(), "the CPU backend keeps everything in memory"),
        ("--timeline", flags.timeline.is_some(), "traces are not implemented yet"),
    ];
    match unavailable.into_iter().find(|(_, given, _)| *given) {
        Some((flag, _, why)) => Err(Failure::unavailable(flag, why)),
        None => Ok(()),
    }
}
