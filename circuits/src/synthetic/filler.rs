//! Seeded values.

use blstrs::Scalar;
use sha2::{Digest, Sha256};

use crate::vanilla::domain;

/// A seed and a sector's number under it.
pub type SectorSeed = (u64, u64);

/// A family of values that depend on a seed, a purpose, and two numbers.
#[derive(Clone, Debug)]
pub(super) struct Filler(Sha256);

impl Filler {
    /// The family of this purpose; families of different purposes have nothing to do with each other.
    pub fn new((seed, sector): SectorSeed, purpose: &'static str) -> Self {
        let key = Sha256::new()
            .chain_update(seed.to_le_bytes())
            .chain_update(sector.to_le_bytes())
            .chain_update(purpose)
            .finalize();
        Self(Sha256::new().chain_update(key))
    }

    /// 32 bytes with the two top bits clear: a canonical field element.
    pub fn bytes(&self, i: u64, j: u64) -> [u8; 32] {
        domain::to_bytes(&self.value(i, j))
    }

    /// A field element below 2^254.
    pub fn value(&self, i: u64, j: u64) -> Scalar {
        let hash = self.0.clone().chain_update(i.to_le_bytes()).chain_update(j.to_le_bytes()).finalize();
        domain::from_hash(hash.into())
    }
}
