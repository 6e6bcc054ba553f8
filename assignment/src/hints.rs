//! Sizes of earlier syntheses, kept for the life of the process under each circuit's key.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use crate::CircuitId;

/// How many of each a circuit has; the first synthesis records it, later ones allocate once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapacityHint {
    /// Constraints, without the input rows.
    pub constraints: usize,
    /// Inputs, ONE included.
    pub inputs: usize,
    /// Auxiliary variables.
    pub aux: usize,
}

/// How many values a generator pushes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WitnessCounts {
    /// Inputs, ONE not included.
    pub inputs: usize,
    /// Auxiliary values, bits and field elements together.
    pub aux: usize,
    /// Field elements among the auxiliary values.
    pub dense: usize,
}

/// The sizes of a structured circuit's native witness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PackedShape {
    /// Of the prefix.
    pub prefix: WitnessCounts,
    /// Of each unit.
    pub unit: WitnessCounts,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    capacity: Option<CapacityHint>,
    shape: Option<PackedShape>,
}

static CACHE: LazyLock<RwLock<HashMap<CircuitId, Entry>>> = LazyLock::new(RwLock::default);

fn read(id: &CircuitId) -> Entry {
    // A hint is a plain value: whoever panicked while holding the lock left no half-written one behind.
    CACHE.read().unwrap_or_else(PoisonError::into_inner).get(id).copied().unwrap_or_default()
}

fn update(id: &CircuitId, change: impl FnOnce(&mut Entry)) {
    change(CACHE.write().unwrap_or_else(PoisonError::into_inner).entry(id.clone()).or_default());
}

/// The sizes of this circuit's classic synthesis, if one has been recorded.
pub fn capacity(id: &CircuitId) -> Option<CapacityHint> {
    read(id).capacity
}

/// Records the sizes of this circuit's classic synthesis.
pub fn record_capacity(id: &CircuitId, hint: CapacityHint) {
    update(id, |entry| entry.capacity = Some(hint));
}

/// The sizes of this circuit's native witness, if one has been recorded.
pub fn shape(id: &CircuitId) -> Option<PackedShape> {
    read(id).shape
}

/// Records the sizes of this circuit's native witness.
pub fn record_shape(id: &CircuitId, shape: PackedShape) {
    update(id, |entry| entry.shape = Some(shape));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyed_by_the_whole_id() {
        let (id, other) = (CircuitId::new("hint", [1; 32]), CircuitId::new("hint", [2; 32]));
        assert_eq!(capacity(&id), None);
        let hint = CapacityHint { constraints: 3, inputs: 2, aux: 5 };
        record_capacity(&id, hint);
        let shape_of =
            PackedShape { unit: WitnessCounts { inputs: 1, aux: 2, dense: 1 }, ..Default::default() };
        record_shape(&id, shape_of);
        assert_eq!((capacity(&id), shape(&id)), (Some(hint), Some(shape_of)));
        assert_eq!((capacity(&other), shape(&other)), (None, None));
    }
}
