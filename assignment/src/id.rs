//! The key under which hints, compiled circuits and parameters of one circuit are kept.

use std::fmt;

/// Names one circuit: a human-readable name and a digest that two different circuits never share.
///
/// Opaque to everything but its maker. For Filecoin's circuits the name is that of the command line
/// (`porep-32GiB`) and the digest is SHA-256 over the sector shape's constants, *not* over the constraints:
/// it can be computed without synthesising anything. The digest of the constraints themselves is
/// `r1cs`'s business and is stored beside it in a compiled file.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CircuitId {
    name: String,
    digest: [u8; 32],
}

impl CircuitId {
    /// A circuit's key from its name and the digest of what defines it.
    pub fn new(name: impl Into<String>, digest: [u8; 32]) -> Self {
        Self { name: name.into(), digest }
    }

    /// The circuit's name, for people and file names.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The digest that tells this circuit from every other.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
}

impl fmt::Display for CircuitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for CircuitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (", self.name)?;
        for byte in &self.digest[..4] {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}
