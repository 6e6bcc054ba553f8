//! Circuits that repeat: a prefix, then n copies of one unit.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError, Variable};
use ff::PrimeField;

use crate::{CircuitId, WitnessSink};

/// A circuit that is a prefix followed by [`units`](Self::units) copies of one unit.
///
/// A copy allocates and enforces exactly what the first one does, except that
/// - columns it allocates itself (inputs and aux) are shifted by the copy's offset,
/// - columns of the prefix are either the same for all copies, or *bound*: taken from the table
///   [`bindings`](Self::bindings), which has one row a copy and the same number of entries in each.
///
/// A unit refers to no other unit's variables. A circuit without repetition has an empty prefix and one unit.
/// The prefix and one unit therefore define all constraints, and each unit's witness lies at an offset known
/// beforehand.
pub trait StructuredCircuit<F: PrimeField>: Sync {
    /// The variables (with their values, where known) that the prefix hands to the units.
    type Prefix: Sync;

    /// The key of this circuit: equal for every input to it.
    fn id(&self) -> CircuitId;

    /// The number of copies of the unit, at least one.
    fn units(&self) -> usize;

    /// Allocates and enforces the prefix.
    fn synthesize_prefix<CS: ConstraintSystem<F>>(&self, cs: &mut CS)
    -> Result<Self::Prefix, SynthesisError>;

    /// The prefix's variables that copy `unit` uses where other copies use others, in a fixed order.
    fn bindings(&self, _prefix: &Self::Prefix, _unit: usize) -> Vec<Variable> {
        Vec::new()
    }

    /// Allocates and enforces copy `unit`.
    fn synthesize_unit<CS: ConstraintSystem<F>>(
        &self,
        cs: &mut CS,
        prefix: &Self::Prefix,
        unit: usize,
    ) -> Result<(), SynthesisError>;

    /// The whole circuit, in order: what a classic prover synthesises.
    fn synthesize_all<CS: ConstraintSystem<F>>(&self, cs: &mut CS) -> Result<(), SynthesisError> {
        let prefix = self.synthesize_prefix(cs)?;
        (0..self.units()).try_for_each(|unit| self.synthesize_unit(cs, &prefix, unit))
    }
}

/// A structured circuit whose witness can be computed without a constraint system.
///
/// The generators push the same values, in the same order, as `alloc` and `alloc_input` of the synthesis would
/// produce, and they check each relation they rely on, so that a wrong input is named before any proving.
pub trait NativeWitness<F: PrimeField>: StructuredCircuit<F> {
    /// What the prefix's generator hands to the units' generators.
    type Context: Sync;
    /// Says which relation of which input does not hold.
    type Error: std::error::Error + Send + 'static;

    /// Pushes the prefix's values.
    fn prefix_witness<S: WitnessSink<F>>(&self, sink: &mut S) -> Result<Self::Context, Self::Error>;

    /// Pushes the values of copy `unit`. Copies may run in any order and in parallel.
    fn unit_witness<S: WitnessSink<F>>(
        &self,
        context: &Self::Context,
        unit: usize,
        sink: &mut S,
    ) -> Result<(), Self::Error>;

    /// How many copies [`units_witness`](Self::units_witness) takes best at once.
    fn units_at_once(&self) -> usize {
        1
    }

    /// Pushes the values of the copies from `first` on, one copy into each sink: for generators that make several copies in less
    /// time than one after another. Of several failing copies the error is the first one's.
    fn units_witness<S: WitnessSink<F>>(
        &self,
        context: &Self::Context,
        first: usize,
        sinks: &mut [S],
    ) -> Result<(), Self::Error> {
        let mut units = sinks.iter_mut().enumerate();
        units.try_for_each(|(i, sink)| self.unit_witness(context, first + i, sink))
    }
}

/// A structured circuit as a plain `bellpepper_core::Circuit`.
pub struct Whole<'a, C>(pub &'a C);

impl<F: PrimeField, C: StructuredCircuit<F>> Circuit<F> for Whole<'_, C> {
    fn synthesize<CS: ConstraintSystem<F>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        self.0.synthesize_all(cs)
    }
}
