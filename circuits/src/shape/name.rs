//! Circuit names: `porep-32GiB`, `winning-2KiB`, `window-64GiB`, `update-8MiB`, `porep-ni-2KiB`.

use std::fmt;
use std::str::FromStr;

use assignment::CircuitId;

use super::SectorSize;

/// How a PoRep's challenges are made. It changes the public inputs and the number of partitions, not the circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PorepMode {
    /// From randomness drawn after the commitment.
    Interactive,
    /// From a set fixed by the commitment, of which later randomness selects a part.
    Synthetic,
    /// From the commitment alone (NI-PoRep).
    NonInteractive,
}

/// What is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Proof {
    /// A sector's sealing.
    Porep(PorepMode),
    /// Storage of one sector, for the right to make a block.
    Winning,
    /// Storage of a deadline's sectors.
    Window,
    /// SnapDeals: the update of an empty sector.
    Update,
}

/// A proof at a sector size, as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CircuitName {
    /// What is proven.
    pub proof: Proof,
    /// Of what sector size.
    pub size: SectorSize,
}

/// No circuit has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown circuit {0:?}: expected porep, porep-synth, porep-ni, winning, window or update, a hyphen, and a sector \
     size of 2KiB, 4KiB, 16KiB, 32KiB, 8MiB, 512MiB, 32GiB or 64GiB"
)]
pub struct UnknownCircuit(pub String);

impl Proof {
    /// Every proof; the three modes of PoRep share a circuit.
    pub const ALL: [Proof; 6] = [
        Proof::Porep(PorepMode::Interactive),
        Proof::Porep(PorepMode::Synthetic),
        Proof::Porep(PorepMode::NonInteractive),
        Proof::Winning,
        Proof::Window,
        Proof::Update,
    ];

    /// The first part of a circuit's name.
    pub fn name(self) -> &'static str {
        match self {
            Proof::Porep(PorepMode::Interactive) => "porep",
            Proof::Porep(PorepMode::Synthetic) => "porep-synth",
            Proof::Porep(PorepMode::NonInteractive) => "porep-ni",
            Proof::Winning => "winning",
            Proof::Window => "window",
            Proof::Update => "update",
        }
    }
}

impl CircuitName {
    /// Every name, the modes of PoRep included, by proof and then by size.
    pub fn all() -> impl Iterator<Item = CircuitName> {
        Proof::ALL.into_iter().flat_map(|proof| SectorSize::ALL.map(|size| CircuitName { proof, size }))
    }

    /// The key of the circuit. Modes of PoRep have the same one.
    pub fn id(self) -> CircuitId {
        match self.proof {
            Proof::Porep(_) => self.size.porep().id(),
            Proof::Winning => self.size.winning().id(),
            Proof::Window => self.size.window().id(),
            Proof::Update => self.size.update().id(),
        }
    }

    /// Public inputs of one partition, without ONE.
    pub fn public_inputs(self) -> usize {
        match self.proof {
            Proof::Porep(_) => self.size.porep().public_inputs(),
            Proof::Winning => self.size.winning().public_inputs(),
            Proof::Window => self.size.window().public_inputs(),
            Proof::Update => self.size.update().public_inputs(),
        }
    }

    /// The number of partitions of a sector's proof. A WindowPoSt has as many as its sectors need: see
    /// [`PostShape::sectors`](super::PostShape::sectors).
    pub fn partitions(self) -> Option<usize> {
        match self.proof {
            Proof::Porep(mode) => Some(self.size.porep_partitions(mode)),
            Proof::Winning => Some(1),
            Proof::Window => None,
            Proof::Update => Some(self.size.update().partitions),
        }
    }
}

impl fmt::Display for CircuitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.proof.name(), self.size)
    }
}

impl FromStr for CircuitName {
    type Err = UnknownCircuit;

    fn from_str(name: &str) -> Result<Self, UnknownCircuit> {
        CircuitName::all().find(|known| known.to_string() == name).ok_or_else(|| UnknownCircuit(name.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_round_trip_and_ids_differ() {
        assert_eq!(CircuitName::all().count(), 48);
        for name in CircuitName::all() {
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        // Six names a size, four circuits.
        assert_eq!(CircuitName::all().map(CircuitName::id).collect::<HashSet<_>>().len(), 32);
        assert_eq!("porep-ni-32GiB".parse::<CircuitName>().unwrap().id().name(), "porep-32GiB");
        for wrong in ["", "porep", "porep-1KiB", "porep-2KiB ", "PoRep-2KiB"] {
            assert_eq!(wrong.parse::<CircuitName>(), Err(UnknownCircuit(wrong.into())));
        }
    }

    #[test]
    fn a_shape_of_ones_own_has_a_key_of_its_own() {
        let window = SectorSize::GiB32.window();
        let single = super::super::PostShape { sectors: 1, ..window };
        assert_ne!(single.id(), window.id());
        assert!(single.id().name().starts_with("window-32GiB-"));
    }

    #[test]
    fn production_counts() {
        let inputs = |name: &str| name.parse::<CircuitName>().unwrap().public_inputs();
        let table = [("porep-2KiB", 39), ("porep-32GiB", 327), ("winning-64GiB", 132), ("window-2KiB", 22)];
        for (name, count) in table.into_iter().chain([("window-32GiB", 25839), ("window-64GiB", 25300)]) {
            assert_eq!(inputs(name), count, "{name}");
        }
        assert_eq!("porep-ni-64GiB".parse::<CircuitName>().unwrap().partitions(), Some(126));
    }
}
