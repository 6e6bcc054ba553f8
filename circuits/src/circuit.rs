//! A circuit of any proof and size, for those who know it by name only.

use assignment::{CircuitId, NativeWitness, StructuredCircuit, WitnessSink};
use bellpepper_core::{ConstraintSystem, SynthesisError, Variable};
use blstrs::Scalar;

use crate::error::{CircuitError, WitnessError};
use crate::input::Partitions;
use crate::porep::{PorepCircuit, PorepPrefix};
use crate::post::PostCircuit;
use crate::shape::{CircuitName, PostShape, Proof};
use crate::update::{UpdateCircuit, UpdateContext, UpdatePrefix};
use crate::vanilla::PostPartition;

/// One of the three circuits.
#[allow(clippy::large_enum_variant, reason = "a partition's circuit is not kept in numbers")]
pub enum FilecoinCircuit {
    /// A PoRep's.
    Porep(PorepCircuit),
    /// A WinningPoSt's or WindowPoSt's.
    Post(PostCircuit),
    /// A SnapDeals proof's.
    Update(UpdateCircuit),
}

/// The prefix of one of the three circuits.
pub enum FilecoinPrefix {
    /// A PoRep's.
    Porep(PorepPrefix),
    /// A PoSt's, which is empty.
    Post,
    /// A SnapDeals proof's.
    Update(UpdatePrefix),
}

/// What the native prefix of one of the three circuits hands to its units.
pub enum FilecoinContext {
    /// PoRep's and PoSt's hand on nothing.
    Nothing,
    /// A SnapDeals proof's.
    Update(UpdateContext),
}

impl FilecoinCircuit {
    /// Production's circuit of this name, without values.
    pub fn blank(name: CircuitName) -> Result<Self, CircuitError> {
        Ok(match name.proof {
            Proof::Porep(_) => Self::Porep(PorepCircuit::blank(name.size.porep())?),
            Proof::Winning => Self::Post(PostCircuit::blank(name.size.winning())?),
            Proof::Window => Self::Post(PostCircuit::blank(name.size.window())?),
            Proof::Update => Self::Update(UpdateCircuit::blank(name.size.update())?),
        })
    }

    /// Production's circuits of this name, one for each partition.
    ///
    /// # Errors
    /// [`CircuitError::Proof`] for the partitions of another proof, [`CircuitError::Form`] for those of another size.
    pub fn all(name: CircuitName, partitions: Partitions) -> Result<Vec<Self>, CircuitError> {
        let size = name.size;
        match (name.proof, partitions) {
            (Proof::Porep(_), Partitions::Porep(partitions)) => {
                each(partitions, |partition| PorepCircuit::new(size.porep(), partition).map(Self::Porep))
            }
            (Proof::Winning, Partitions::Post(partitions)) => post(size.winning(), partitions),
            (Proof::Window, Partitions::Post(partitions)) => post(size.window(), partitions),
            (Proof::Update, Partitions::Update(partitions)) => {
                each(partitions, |partition| UpdateCircuit::new(size.update(), partition).map(Self::Update))
            }
            _ => Err(CircuitError::Proof { expected: name }),
        }
    }
}

fn post(shape: PostShape, partitions: Vec<PostPartition>) -> Result<Vec<FilecoinCircuit>, CircuitError> {
    each(partitions, |partition| PostCircuit::new(shape, partition).map(FilecoinCircuit::Post))
}

fn each<P>(
    partitions: Vec<P>,
    circuit: impl Fn(P) -> Result<FilecoinCircuit, CircuitError>,
) -> Result<Vec<FilecoinCircuit>, CircuitError> {
    partitions.into_iter().map(circuit).collect()
}

impl StructuredCircuit<Scalar> for FilecoinCircuit {
    type Prefix = FilecoinPrefix;

    fn id(&self) -> CircuitId {
        match self {
            Self::Porep(circuit) => circuit.id(),
            Self::Post(circuit) => circuit.id(),
            Self::Update(circuit) => circuit.id(),
        }
    }

    fn units(&self) -> usize {
        match self {
            Self::Porep(circuit) => circuit.units(),
            Self::Post(circuit) => circuit.units(),
            Self::Update(circuit) => circuit.units(),
        }
    }

    fn synthesize_prefix<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
    ) -> Result<FilecoinPrefix, SynthesisError> {
        match self {
            Self::Porep(circuit) => circuit.synthesize_prefix(cs).map(FilecoinPrefix::Porep),
            Self::Post(circuit) => circuit.synthesize_prefix(cs).map(|()| FilecoinPrefix::Post),
            Self::Update(circuit) => circuit.synthesize_prefix(cs).map(FilecoinPrefix::Update),
        }
    }

    fn bindings(&self, prefix: &FilecoinPrefix, unit: usize) -> Vec<Variable> {
        match (self, prefix) {
            (Self::Update(circuit), FilecoinPrefix::Update(prefix)) => circuit.bindings(prefix, unit),
            _ => vec![],
        }
    }

    fn synthesize_unit<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
        prefix: &FilecoinPrefix,
        unit: usize,
    ) -> Result<(), SynthesisError> {
        match (self, prefix) {
            (Self::Porep(circuit), FilecoinPrefix::Porep(prefix)) => {
                circuit.synthesize_unit(cs, prefix, unit)
            }
            (Self::Post(circuit), FilecoinPrefix::Post) => circuit.synthesize_unit(cs, &(), unit),
            (Self::Update(circuit), FilecoinPrefix::Update(prefix)) => {
                circuit.synthesize_unit(cs, prefix, unit)
            }
            // The prefix of another circuit.
            _ => Err(SynthesisError::Unsatisfiable),
        }
    }
}

impl NativeWitness<Scalar> for FilecoinCircuit {
    type Context = FilecoinContext;
    type Error = WitnessError;

    fn prefix_witness<S: WitnessSink<Scalar>>(&self, sink: &mut S) -> Result<FilecoinContext, WitnessError> {
        match self {
            Self::Porep(circuit) => circuit.prefix_witness(sink).map(|()| FilecoinContext::Nothing),
            Self::Post(circuit) => circuit.prefix_witness(sink).map(|()| FilecoinContext::Nothing),
            Self::Update(circuit) => circuit.prefix_witness(sink).map(FilecoinContext::Update),
        }
    }

    fn unit_witness<S: WitnessSink<Scalar>>(
        &self,
        context: &FilecoinContext,
        unit: usize,
        sink: &mut S,
    ) -> Result<(), WitnessError> {
        match (self, context) {
            (Self::Porep(circuit), FilecoinContext::Nothing) => circuit.unit_witness(&(), unit, sink),
            (Self::Post(circuit), FilecoinContext::Nothing) => circuit.unit_witness(&(), unit, sink),
            (Self::Update(circuit), FilecoinContext::Update(context)) => {
                circuit.unit_witness(context, unit, sink)
            }
            // The context of another circuit.
            _ => Err(WitnessError::Missing { unit }),
        }
    }

    fn units_at_once(&self) -> usize {
        match self {
            Self::Porep(circuit) => circuit.units_at_once(),
            Self::Post(circuit) => circuit.units_at_once(),
            Self::Update(circuit) => circuit.units_at_once(),
        }
    }

    fn units_witness<S: WitnessSink<Scalar>>(
        &self,
        context: &FilecoinContext,
        first: usize,
        sinks: &mut [S],
    ) -> Result<(), WitnessError> {
        match (self, context) {
            (Self::Porep(circuit), FilecoinContext::Nothing) => circuit.units_witness(&(), first, sinks),
            (Self::Post(circuit), FilecoinContext::Nothing) => circuit.units_witness(&(), first, sinks),
            (Self::Update(circuit), FilecoinContext::Update(context)) => {
                circuit.units_witness(context, first, sinks)
            }
            // The context of another circuit.
            _ => Err(WitnessError::Missing { unit: first }),
        }
    }
}
