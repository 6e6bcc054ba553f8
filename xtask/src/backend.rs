//! Which backend proves, and why.

use groth16::Backend;

use crate::{
    cli,
    failure::{Failure, Kind},
};

/// A backend and the reason for it, as reports show them.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The backend; the first of several.
    pub backend: Backend,
    /// One for each device.
    pub backends: Vec<Backend>,
    /// Its name on the command line.
    pub name: &'static str,
    /// Why this one.
    pub reason: String,
    /// The devices that it uses.
    pub devices: Vec<String>,
}

/// The backend that the flags ask for. `cuda` is never replaced by the processor: where there is no device, it is refused.
pub fn choose(flag: cli::Backend, devices: &[u32]) -> Result<Choice, Failure> {
    let cpu = |reason: String| {
        let backend = Backend::Cpu;
        Choice { backend, backends: vec![backend], name: "cpu", reason, devices: vec![] }
    };
    match flag {
        cli::Backend::Cpu if devices.is_empty() => Ok(cpu("asked for".into())),
        cli::Backend::Cpu => Err(Failure::unavailable("--device", "the CPU backend uses none")),
        cli::Backend::Cuda => cuda(devices, "asked for".into()),
        cli::Backend::Auto if !devices.is_empty() => cuda(devices, "a device was asked for".into()),
        cli::Backend::Auto => match gpu::devices() {
            Ok(_) => cuda(devices, "there is a device".into()),
            Err(error) => Ok(cpu(error.to_string())),
        },
    }
}

fn cuda(devices: &[u32], reason: String) -> Result<Choice, Failure> {
    let numbers = if devices.is_empty() { &[0] } else { devices };
    if let Some(twice) = numbers.iter().enumerate().find(|(i, number)| numbers[..*i].contains(number)) {
        let message = format_args!("device {} is named twice", twice.1);
        return Err(Failure::new(Kind::Usage, message).at("--device"));
    }
    let known = gpu::devices().map_err(|error| Failure::new(Kind::Device, error).at("--backend"))?;
    let (mut backends, mut devices) = (Vec::new(), Vec::new());
    for &device in numbers {
        let Some(info) = known.iter().find(|info| info.ordinal == device) else {
            let count = known.len() as u32;
            let error = gpu::Error::NoSuchDevice { ordinal: device, count };
            return Err(Failure::new(Kind::Device, error).at("--device"));
        };
        devices.push(format!("{}: {}", info.ordinal, info.name));
        backends.push(Backend::Cuda { device });
    }
    let backend = Backend::Cuda { device: numbers[0] };
    Ok(Choice { backend, backends, name: "cuda", reason, devices })
}

/// The class of a device's failure.
pub fn device_kind(error: &gpu::Error) -> Kind {
    match error {
        gpu::Error::OutOfMemory { .. } => Kind::Memory,
        _ => Kind::Device,
    }
}

/// How a failure of a device is reported.
pub fn device_failure(error: &gpu::Error) -> Failure {
    Failure::new(device_kind(error), error).at("--backend")
}

/// Refuses the flags of budgets, which no backend honours yet.
pub fn refuse_budgets(flags: &cli::Prove) -> Result<(), Failure> {
    let unavailable = [
        ("--device-memory", flags.device_memory.is_some(), "parameters are not streamed yet"),
        ("--host-memory", flags.host_memory.is_some(), "parameters are not streamed yet"),
    ];
    match unavailable.into_iter().find(|(_, given, _)| *given) {
        Some((flag, _, why)) => Err(Failure::unavailable(flag, why)),
        None => Ok(()),
    }
}
