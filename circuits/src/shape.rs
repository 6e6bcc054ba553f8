//! The constants of every proof at every sector size, in one table, and the names of the circuits.
//!
//! A [`CircuitName`] (`porep-32GiB`) gives a shape ([`PorepShape`], [`PostShape`], [`UpdateShape`]); a shape is a
//! plain value and defines the constraints completely. Production's shapes come from [`SectorSize`]; a test may
//! alter one (say, a WindowPoSt of a single sector), and its [`CircuitId`](assignment::CircuitId) differs accordingly.

mod circuit;
mod name;

pub use circuit::{PorepShape, PostShape, UpdateShape};
pub use name::{CircuitName, PorepMode, Proof, UnknownCircuit};

use std::fmt;

/// Parents of a node that lie in its own layer (the depth-robust graph).
pub const DRG_PARENTS: usize = 6;
/// Parents of a node that lie in the layer before (the expander).
pub const EXP_PARENTS: usize = 8;
/// Parent labels hashed into a label, with repetition.
pub const LABEL_PARENTS: usize = 37;
/// Challenges of a WinningPoSt, one for each repetition of its sector.
pub const WINNING_SECTORS: usize = 66;
/// Challenges of a WindowPoSt in each sector.
pub const WINDOW_CHALLENGES: usize = 10;
/// Rates of change that a SnapDeals circuit chooses from.
pub const UPDATE_RATES: usize = 6;
/// Bytes of a node.
pub const NODE_BYTES: u64 = 32;

/// A sector size that has circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SectorSize {
    /// 2 KiB: tests.
    KiB2,
    /// 4 KiB: tests, trees with a sub-tree level.
    KiB4,
    /// 16 KiB: tests, the tree form of 32 GiB.
    KiB16,
    /// 32 KiB: tests, the tree form of 64 GiB.
    KiB32,
    /// 8 MiB: development networks.
    MiB8,
    /// 512 MiB: development networks.
    MiB512,
    /// 32 GiB: production.
    GiB32,
    /// 64 GiB: production.
    GiB64,
}

/// One row of the table: everything that depends on the sector size.
struct Row {
    size: SectorSize,
    name: &'static str,
    bytes: u64,
    /// Arity of the level above the base trees, and of the one above that; 0 where there is none.
    sub: usize,
    top: usize,
    layers: usize,
    /// Partitions and least number of challenges of a PoRep: interactive and synthetic, then non-interactive.
    porep: (usize, usize),
    porep_ni: (usize, usize),
    window_sectors: usize,
    /// Partitions, challenges a partition, apex leaves, and rates (as h) of SnapDeals.
    update: (usize, usize, usize),
    update_hs: [usize; UPDATE_RATES],
    update_default_rate: usize,
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const TEST_RATES: [usize; UPDATE_RATES] = [1; UPDATE_RATES];
const RATES: [usize; UPDATE_RATES] = [7, 8, 9, 10, 11, 12];

#[rustfmt::skip]
const TABLE: [Row; 8] = {
    use SectorSize::*;
    [
        Row { size: KiB2,   name: "2KiB",   bytes: 2 * KIB,   sub: 0, top: 0, layers: 2,  porep: (1, 2),    porep_ni: (13, 26),    window_sectors: 2,    update: (1, 10, 8),    update_hs: TEST_RATES, update_default_rate: 0 },
        Row { size: KiB4,   name: "4KiB",   bytes: 4 * KIB,   sub: 2, top: 0, layers: 2,  porep: (1, 2),    porep_ni: (13, 26),    window_sectors: 2,    update: (1, 10, 8),    update_hs: TEST_RATES, update_default_rate: 0 },
        Row { size: KiB16,  name: "16KiB",  bytes: 16 * KIB,  sub: 8, top: 0, layers: 2,  porep: (1, 2),    porep_ni: (13, 26),    window_sectors: 2,    update: (2, 10, 128),  update_hs: TEST_RATES, update_default_rate: 0 },
        Row { size: KiB32,  name: "32KiB",  bytes: 32 * KIB,  sub: 8, top: 2, layers: 2,  porep: (1, 2),    porep_ni: (13, 26),    window_sectors: 2,    update: (2, 10, 128),  update_hs: TEST_RATES, update_default_rate: 0 },
        Row { size: MiB8,   name: "8MiB",   bytes: 8 * MIB,   sub: 0, top: 0, layers: 2,  porep: (1, 2),    porep_ni: (13, 26),    window_sectors: 2,    update: (4, 10, 128),  update_hs: RATES,      update_default_rate: 3 },
        Row { size: MiB512, name: "512MiB", bytes: 512 * MIB, sub: 0, top: 0, layers: 2,  porep: (1, 2),    porep_ni: (13, 26),    window_sectors: 2,    update: (16, 86, 128), update_hs: RATES,      update_default_rate: 3 },
        Row { size: GiB32,  name: "32GiB",  bytes: 32 * GIB,  sub: 8, top: 0, layers: 11, porep: (10, 176), porep_ni: (126, 2253), window_sectors: 2349, update: (16, 86, 128), update_hs: RATES,      update_default_rate: 3 },
        Row { size: GiB64,  name: "64GiB",  bytes: 64 * GIB,  sub: 8, top: 2, layers: 11, porep: (10, 176), porep_ni: (126, 2253), window_sectors: 2300, update: (16, 86, 128), update_hs: RATES,      update_default_rate: 3 },
    ]
};

impl SectorSize {
    /// Every size, smallest first.
    pub const ALL: [SectorSize; 8] = {
        use SectorSize::*;
        [KiB2, KiB4, KiB16, KiB32, MiB8, MiB512, GiB32, GiB64]
    };

    fn row(self) -> &'static Row {
        // `TABLE` has one row a variant, in the variants' order (a test checks it).
        &TABLE[self as usize]
    }

    /// The size's name in circuit names and registered proofs: `32GiB`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The size in bytes.
    pub fn bytes(self) -> u64 {
        self.row().bytes
    }

    /// The size of that many bytes, if it has circuits.
    pub fn from_bytes(bytes: u64) -> Option<Self> {
        TABLE.iter().find(|row| row.bytes == bytes).map(|row| row.size)
    }

    /// The size of that name (`32GiB`), if it has circuits.
    pub fn from_name(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.size)
    }

    /// The number of 32-byte nodes, a power of two.
    pub fn nodes(self) -> u64 {
        self.bytes() / NODE_BYTES
    }

    /// The base-2 logarithm of [`nodes`](Self::nodes).
    pub fn log2_nodes(self) -> usize {
        self.nodes().trailing_zeros() as usize
    }

    /// The shape of tree C (column hashes) and tree R_last (replica), both Poseidon.
    pub fn tree(self) -> TreeShape {
        let row = self.row();
        let parts = (row.sub.max(1) * row.top.max(1)) as u64;
        let base_levels = (self.nodes() / parts).trailing_zeros() as usize / 3;
        TreeShape { base: 8, base_levels, sub: row.sub, top: row.top }
    }

    /// Label layers of a PoRep.
    pub fn layers(self) -> usize {
        self.row().layers
    }

    /// Partitions of a PoRep.
    pub fn porep_partitions(self, mode: PorepMode) -> usize {
        self.porep_counts(mode).0
    }

    /// The PoRep circuit. It is the same for every mode and API version.
    pub fn porep(self) -> PorepShape {
        let (partitions, challenges) = self.porep_counts(PorepMode::Interactive);
        PorepShape { size: self, layers: self.layers(), challenges: challenges.div_ceil(partitions) }
    }

    fn porep_counts(self, mode: PorepMode) -> (usize, usize) {
        match mode {
            PorepMode::Interactive | PorepMode::Synthetic => self.row().porep,
            PorepMode::NonInteractive => self.row().porep_ni,
        }
    }

    /// The WinningPoSt circuit: the same sector [`WINNING_SECTORS`] times, each time with one challenge.
    pub fn winning(self) -> PostShape {
        PostShape { size: self, sectors: WINNING_SECTORS, challenges: 1 }
    }

    /// The WindowPoSt circuit.
    pub fn window(self) -> PostShape {
        PostShape { size: self, sectors: self.row().window_sectors, challenges: WINDOW_CHALLENGES }
    }

    /// The SnapDeals circuit (EmptySectorUpdate).
    pub fn update(self) -> UpdateShape {
        let row = self.row();
        let (partitions, challenges, apex_leaves) = row.update;
        UpdateShape {
            size: self,
            partitions,
            challenges,
            apex_leaves,
            hs: row.update_hs,
            default_rate: row.update_default_rate,
        }
    }
}

impl fmt::Display for SectorSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A Merkle tree of base trees, their roots joined by a sub level and that by a top level, where there are any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TreeShape {
    /// Arity of the base trees.
    pub base: usize,
    /// Levels of hashing in a base tree: `log_base` of its leaves.
    pub base_levels: usize,
    /// Arity of the level above the base trees; 0 where there is none.
    pub sub: usize,
    /// Arity of the level above that; 0 where there is none.
    pub top: usize,
}

impl TreeShape {
    /// A binary tree over `2^levels` leaves (tree D).
    pub const fn binary(levels: usize) -> Self {
        Self { base: 2, base_levels: levels, sub: 0, top: 0 }
    }

    /// The arity of each level, from the leaves to the root.
    pub fn arities(&self) -> Vec<usize> {
        let upper = [self.sub, self.top].into_iter().filter(|arity| *arity > 0);
        std::iter::repeat_n(self.base, self.base_levels).chain(upper).collect()
    }

    /// The number of levels of hashing.
    pub fn levels(&self) -> usize {
        self.base_levels + usize::from(self.sub > 0) + usize::from(self.top > 0)
    }

    /// The name within parameter files: `merkletree-poseidon_hasher-8-8-0`.
    pub fn parameter_name(&self) -> String {
        format!("merkletree-poseidon_hasher-{}-{}-{}", self.base, self.sub, self.top)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_variants() {
        for (size, row) in SectorSize::ALL.iter().zip(&TABLE) {
            assert_eq!(*size, row.size);
            assert_eq!(SectorSize::from_name(size.name()), Some(*size));
            assert_eq!(SectorSize::from_bytes(size.bytes()), Some(*size));
        }
    }

    #[test]
    fn a_tree_has_a_leaf_for_every_node() {
        for size in SectorSize::ALL {
            let tree = size.tree();
            assert_eq!(tree.arities().iter().map(|arity| *arity as u64).product::<u64>(), size.nodes());
            assert_eq!(tree.levels(), tree.arities().len());
        }
    }
}
