//! Which backend proves, and why.

use groth16::{Backend, Budgets, ParameterError, PlanError, ProveError, SetupError};

use crate::{
    cli,
    failure::{Failure, Kind, io_kind},
    memory,
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
    /// The most host memory that may be taken.
    pub host_memory: Option<u64>,
    /// Whether nobody asked for this backend in particular.
    free: bool,
}

/// The backend that the flags ask for. `cuda` is never replaced by the processor: where there is no device, it is refused.
pub fn choose(flags: &cli::Hardware) -> Result<Choice, Failure> {
    match flags.backend {
        cli::Backend::Cpu => cpu(flags, "asked for".into()),
        cli::Backend::Cuda => cuda(flags, "asked for".into()),
        cli::Backend::Auto if !flags.device.is_empty() => cuda(flags, "a device was asked for".into()),
        cli::Backend::Auto => match gpu::devices() {
            Ok(_) => Ok(Choice { free: true, ..cuda(flags, "there is a device".into())? }),
            Err(error) => cpu(flags, error.to_string()),
        },
    }
}

fn cpu(flags: &cli::Hardware, reason: String) -> Result<Choice, Failure> {
    let of_devices =
        [("--device", !flags.device.is_empty()), ("--device-memory", flags.device_memory.is_some())];
    if let Some((flag, _)) = of_devices.iter().find(|(_, given)| *given) {
        return Err(Failure::unavailable(flag, "the CPU backend uses no device"));
    }
    let host_memory = flags.host_memory.map(|size| size.0);
    let backend = Backend::Cpu;
    let (backends, devices) = (vec![backend], vec![]);
    Ok(Choice { backend, backends, name: "cpu", reason, devices, host_memory, free: false })
}

fn cuda(flags: &cli::Hardware, reason: String) -> Result<Choice, Failure> {
    let numbers = if flags.device.is_empty() { &[0] } else { &flags.device[..] };
    if let Some(twice) = numbers.iter().enumerate().find(|(i, number)| numbers[..*i].contains(number)) {
        let message = format_args!("device {} is named twice", twice.1);
        return Err(Failure::new(Kind::Usage, message).at("--device"));
    }
    let known = gpu::devices().map_err(|error| Failure::new(Kind::Device, error).at("--backend"))?;
    let [device_memory, host_memory] =
        [flags.device_memory, flags.host_memory].map(|size| size.map(|size| size.0));
    // Witnesses and the like need the rest.
    let pinned = host_memory.or_else(|| memory::available().map(|bytes| bytes / 4 * 3));
    let budgets = Budgets { device: device_memory, host: pinned.map(|bytes| bytes / numbers.len() as u64) };
    let (mut backends, mut devices) = (Vec::new(), Vec::new());
    for &device in numbers {
        let Some(info) = known.iter().find(|info| info.ordinal == device) else {
            let count = known.len() as u32;
            let error = gpu::Error::NoSuchDevice { ordinal: device, count };
            return Err(Failure::new(Kind::Device, error).at("--device"));
        };
        devices.push(format!("{}: {}", info.ordinal, info.name));
        backends.push(Backend::Cuda { device, budgets });
    }
    let backend = Backend::Cuda { device: numbers[0], budgets };
    Ok(Choice { backend, backends, name: "cuda", reason, devices, host_memory, free: false })
}

impl Choice {
    /// The processor, where memory ran out on a device that nobody asked for in particular; otherwise the failure again.
    pub fn instead(&self, failure: Failure) -> Result<Self, Failure> {
        if failure.kind != Kind::Memory || !self.free {
            return Err(failure);
        }
        tracing::warn!(%failure, "proving on the processor");
        Ok(Self {
            backend: Backend::Cpu,
            backends: vec![Backend::Cpu],
            name: "cpu",
            reason: failure.to_string(),
            devices: vec![],
            host_memory: self.host_memory,
            free: false,
        })
    }
}

/// Why a prover, or its parameters, could not be made.
pub fn open_failure(error: &ProveError) -> Failure {
    let kind = match (error, error.device()) {
        (_, Some(error)) => return device_failure(error),
        (ProveError::Setup(error), _) => return setup_failure(error),
        (ProveError::Plan(error), _) => return plan_failure(error),
        (ProveError::Parameters(error), _) => parameter_kind(error),
        (ProveError::Key(_), _) => Kind::Input,
        _ => Kind::Internal,
    };
    Failure::new(kind, error)
}

/// Why parameters could not be made.
pub fn setup_failure(error: &SetupError) -> Failure {
    let kind = match (error, error.device()) {
        (_, Some(error)) => return device_failure(error),
        (SetupError::Plan(error), _) => return plan_failure(error),
        // The caller knows which file it is.
        (SetupError::Parameters(error @ ParameterError::Io { source, .. }), _) => {
            return Failure::new(io_kind(source), error);
        }
        (SetupError::Parameters(error), _) => parameter_kind(error),
        _ => Kind::Internal,
    };
    Failure::new(kind, error).at("setup")
}

/// Memory that no plan makes do with.
fn plan_failure(error: &PlanError) -> Failure {
    let flag = match error {
        PlanError::Device { .. } => "--device-memory",
        PlanError::Host { .. } | PlanError::Pieces { .. } => "--host-memory",
    };
    Failure::new(Kind::Memory, error).at(flag)
}

/// The class of a failure of parameters.
pub fn parameter_kind(error: &ParameterError) -> Kind {
    match error {
        ParameterError::Io { source, .. } => io_kind(source),
        ParameterError::OutOfMemory { .. } => Kind::Memory,
        ParameterError::Range { .. } => Kind::Internal,
        _ => Kind::Input,
    }
}

/// The class of a device's failure.
pub fn device_kind(error: &gpu::Error) -> Kind {
    match error {
        gpu::Error::OutOfMemory { .. } => Kind::Memory,
        _ => Kind::Device,
    }
}

/// How a failure of a device is reported.
fn device_failure(error: &gpu::Error) -> Failure {
    Failure::new(device_kind(error), error).at("--backend")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_taken_where_memory_runs_out_and_nobody_asked_for_a_device() {
        let budgets = Budgets { device: None, host: Some(7) };
        let backend = Backend::Cuda { device: 3, budgets };
        let choice = |free| Choice {
            backend,
            backends: vec![backend],
            name: "cuda",
            reason: "there is a device".into(),
            devices: vec!["3: a device".into()],
            host_memory: Some(7),
            free,
        };
        let memory = || open_failure(&PlanError::Device { needed: 2, budget: 1 }.into());
        assert_eq!((memory().kind, memory().location.as_deref()), (Kind::Memory, Some("--device-memory")));
        let instead = choice(true).instead(memory()).unwrap();
        assert_eq!((instead.backend, instead.name, instead.host_memory), (Backend::Cpu, "cpu", Some(7)));
        assert_eq!(instead.backends, [Backend::Cpu]);
        assert!(
            instead.devices.is_empty() && instead.reason.contains("at least 2 bytes"),
            "{}",
            instead.reason
        );
        assert_eq!(choice(false).instead(memory()).unwrap_err().kind, Kind::Memory);
        let broken = open_failure(&gpu::Error::NoDevice(gpu::Absence::NoneFound).into());
        assert_eq!(choice(true).instead(broken).unwrap_err().kind, Kind::Device);
        assert!(instead.instead(memory()).is_err());
    }
}
