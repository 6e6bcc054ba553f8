//! Names and identities: API versions, registered seal proofs, porep ids, replica ids.

use std::fmt;
use std::str::FromStr;

use blstrs::Scalar;
use sha2::{Digest, Sha256};

use crate::shape::{PorepMode, SectorSize};
use crate::vanilla::domain;

/// A version of the proofs API. It fixes details of graphs and challenges, never the circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ApiVersion {
    /// 1.0.0: the predecessor is the last parent; expander parents are truncated; PoSt challenges count through the
    /// sectors of all partitions.
    V1_0_0,
    /// 1.1.0: the predecessor is the first parent.
    V1_1_0,
    /// 1.2.0: PoSt challenges count anew in each sector.
    V1_2_0,
}

/// The version of a registered seal proof: the part of its name after the sector size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SealVersion {
    /// `V1`.
    V1,
    /// `V1_1`.
    V1_1,
    /// `V1_1_Feat_SyntheticPoRep`; its API version is 1.2.0 in spite of the name.
    Synthetic,
    /// `V1_2_Feat_NonInteractivePoRep`.
    NonInteractive,
}

/// A registered seal proof: `StackedDrg32GiBV1_1`.
///
/// Those of 4, 16 and 32 KiB are not registered, but follow the scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisteredSeal {
    /// The sector size.
    pub size: SectorSize,
    /// The version.
    pub version: SealVersion,
}

/// No seal proof has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown registered proof {0:?}: expected StackedDrg, a sector size, and V1, V1_1, V1_1_Feat_SyntheticPoRep or \
     V1_2_Feat_NonInteractivePoRep"
)]
pub struct UnknownSeal(pub String);

impl SealVersion {
    /// Every version, in the order of their numbers.
    pub const ALL: [SealVersion; 4] =
        [SealVersion::V1, SealVersion::V1_1, SealVersion::Synthetic, SealVersion::NonInteractive];

    fn suffix(self) -> &'static str {
        match self {
            SealVersion::V1 => "V1",
            SealVersion::V1_1 => "V1_1",
            SealVersion::Synthetic => "V1_1_Feat_SyntheticPoRep",
            SealVersion::NonInteractive => "V1_2_Feat_NonInteractivePoRep",
        }
    }

    /// The API version.
    pub fn api(self) -> ApiVersion {
        match self {
            SealVersion::V1 => ApiVersion::V1_0_0,
            SealVersion::V1_1 => ApiVersion::V1_1_0,
            SealVersion::Synthetic | SealVersion::NonInteractive => ApiVersion::V1_2_0,
        }
    }

    /// How challenges are made.
    pub fn mode(self) -> PorepMode {
        match self {
            SealVersion::V1 | SealVersion::V1_1 => PorepMode::Interactive,
            SealVersion::Synthetic => PorepMode::Synthetic,
            SealVersion::NonInteractive => PorepMode::NonInteractive,
        }
    }
}

impl RegisteredSeal {
    /// The number under which the API registers this proof, if it does.
    pub fn number(self) -> Option<u64> {
        use SectorSize::*;
        let position = [KiB2, MiB8, MiB512, GiB32, GiB64].iter().position(|size| *size == self.size)?;
        let version = SealVersion::ALL.iter().position(|version| *version == self.version)?;
        Some((5 * version + position) as u64)
    }

    /// The porep id that the network uses: the number, a nonce of 0, and zeros.
    pub fn porep_id(self) -> Option<[u8; 32]> {
        let mut id = [0; 32];
        id[..8].copy_from_slice(&self.number()?.to_le_bytes());
        Some(id)
    }
}

impl fmt::Display for RegisteredSeal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StackedDrg{}{}", self.size, self.version.suffix())
    }
}

impl FromStr for RegisteredSeal {
    type Err = UnknownSeal;

    fn from_str(name: &str) -> Result<Self, UnknownSeal> {
        let known = SectorSize::ALL
            .into_iter()
            .flat_map(|size| SealVersion::ALL.map(|version| RegisteredSeal { size, version }));
        known.into_iter().find(|seal| seal.to_string() == name).ok_or_else(|| UnknownSeal(name.into()))
    }
}

/// The replica id: `SHA-256(prover_id || sector_id as u64 BE || ticket || comm_d || porep_id)` as a field element.
pub fn replica_id(
    prover_id: &[u8; 32],
    sector_id: u64,
    ticket: &[u8; 32],
    comm_d: &[u8; 32],
    porep_id: &[u8; 32],
) -> Scalar {
    let hash = Sha256::new()
        .chain_update(prover_id)
        .chain_update(sector_id.to_be_bytes())
        .chain_update(ticket)
        .chain_update(comm_d)
        .chain_update(porep_id)
        .finalize();
    domain::from_hash(hash.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registered_numbers() {
        let number = |name: &str| name.parse::<RegisteredSeal>().unwrap().number();
        assert_eq!(number("StackedDrg2KiBV1"), Some(0));
        assert_eq!(number("StackedDrg32GiBV1_1"), Some(8));
        assert_eq!(number("StackedDrg64GiBV1_1_Feat_SyntheticPoRep"), Some(14));
        assert_eq!(number("StackedDrg8MiBV1_2_Feat_NonInteractivePoRep"), Some(16));
        assert_eq!(number("StackedDrg4KiBV1_1"), None);
    }

    #[test]
    fn unknown_names_are_refused() {
        for name in ["", "StackedDrg2KiB", "StackedDrg1KiBV1", "StackedDrg2KiBV1_2", "StackedDrgWindow2KiBV1"]
        {
            assert_eq!(name.parse::<RegisteredSeal>(), Err(UnknownSeal(name.into())));
        }
    }
}
