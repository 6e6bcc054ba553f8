//! What a command answers when it cannot do its work.

use std::{fmt, io, path::Path};

use serde::Serialize;

/// The class of a failure; it decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The command line itself.
    Usage,
    /// A file or value given to the command.
    Input,
    /// The witness does not satisfy its circuit.
    Unsatisfied,
    /// A proof does not verify.
    Invalid,
    /// A comparison came out differently.
    Mismatch,
    /// The device failed, or is missing though demanded.
    Device,
    /// Not enough memory.
    Memory,
    /// Not enough disk.
    Disk,
    /// Stopped by a signal.
    Interrupted,
    /// A fault of this program.
    Internal,
}

impl Kind {
    /// The process's exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Unsatisfied | Self::Invalid | Self::Mismatch => 1,
            Self::Usage | Self::Input => 2,
            Self::Device => 3,
            Self::Memory | Self::Disk => 4,
            Self::Interrupted => 130,
            Self::Internal => 101,
        }
    }
}

/// A failed command: what kind of thing went wrong, in words, and where.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    /// The class, which decides the exit code.
    pub kind: Kind,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The flag, file or section at fault.
    #[serde(rename = "where")]
    pub location: Option<String>,
}

impl Failure {
    /// A failure of `kind` with its message and no location.
    pub fn new(kind: Kind, message: impl fmt::Display) -> Self {
        Self { kind, message: message.to_string(), location: None }
    }

    /// A failure of a file or value that the user gave.
    pub fn input(message: impl fmt::Display) -> Self {
        Self::new(Kind::Input, message)
    }

    /// A flag that this build cannot honour: refused, since ignoring it would do something else than asked.
    pub fn unavailable(flag: &str, why: impl fmt::Display) -> Self {
        Self::new(Kind::Usage, format_args!("{flag} is not available: {why}")).at(flag)
    }

    /// An input or output error on `path`.
    pub fn io(path: &Path, error: &io::Error) -> Self {
        Self::new(io_kind(error), error).at(path.display())
    }

    /// Says where the failure lies, unless that is known already.
    pub fn at(mut self, location: impl fmt::Display) -> Self {
        self.location.get_or_insert_with(|| location.to_string());
        self
    }
}

/// The class of an input or output error.
pub fn io_kind(error: &io::Error) -> Kind {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => Kind::Disk,
        io::ErrorKind::OutOfMemory => Kind::Memory,
        _ => Kind::Input,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.location {
            Some(location) => write!(f, "{location}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Failure {}
