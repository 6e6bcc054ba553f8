//! From a structured circuit to its compiled form.

use std::collections::{HashMap, HashSet};

use assignment::{CircuitId, StructuredCircuit};
use bellpepper_core::{Circuit, Index, SynthesisError, Variable};
use blstrs::Scalar;

use crate::compare::Comparer;
use crate::compiled::{Bindings, CompiledCircuit};
use crate::error::CompileError;
use crate::matrix::Block;
use crate::recorder::{Key, Recorder, Scope, describe};

impl CompiledCircuit {
    /// Records the prefix and one unit of a circuit. No values are asked for, so a blank circuit will do.
    ///
    /// Unit 1 is synthesised too and must be unit 0 shifted; that the others are is the promise of
    /// [`StructuredCircuit`], which the digest of the whole ([`digest`](Self::digest)) puts to the test. The bindings of all
    /// copies are checked.
    pub fn compile<C: StructuredCircuit<Scalar>>(circuit: &C) -> Result<Self, CompileError> {
        let units = circuit.units();
        if units == 0 {
            return Err(CompileError::NoUnits);
        }
        let mut recorder = Recorder::new();
        let prefix = circuit.synthesize_prefix(&mut recorder).map_err(|e| failed("the prefix", e))?;
        let (prefix_block, dictionary) = recorder.into_block()?;
        let shared = [prefix_block.layout.inputs as usize, prefix_block.layout.aux as usize];

        let bindings = BoundVariables::collect(circuit, &prefix, units, shared)?;
        let scope = Scope { shared, offset: shared, own: [0, 0], slots: bindings.slots(0) };
        let mut recorder = Recorder::with_scope(scope, dictionary);
        circuit.synthesize_unit(&mut recorder, &prefix, 0).map_err(|e| failed("unit 0", e))?;
        let (unit_block, dictionary) = recorder.into_block()?;
        let coefficients = dictionary.into_values();
        bindings.check_unbound(&unit_block)?;

        if units > 1 {
            let own = [unit_block.layout.inputs as usize, unit_block.layout.aux as usize];
            let offset = [shared[0] + own[0], shared[1] + own[1]];
            let scope = Scope { shared, offset, own: [0, 0], slots: bindings.slots(1) };
            let mut comparer = Comparer::new(scope, &unit_block, &coefficients);
            circuit.synthesize_unit(&mut comparer, &prefix, 1).map_err(|e| failed("unit 1", e))?;
            if let Some(difference) = comparer.finish() {
                return Err(CompileError::NotACopy { unit: 1, difference });
            }
        }
        Self::assemble(
            circuit.id(),
            units,
            coefficients,
            prefix_block,
            unit_block,
            bindings.into_table(shared[0]),
        )
    }

    /// Records a plain circuit: all of it is prefix, and the one unit is empty.
    pub fn compile_plain<C: Circuit<Scalar>>(id: CircuitId, circuit: C) -> Result<Self, CompileError> {
        let mut recorder = Recorder::new();
        circuit.synthesize(&mut recorder).map_err(|e| failed("the circuit", e))?;
        recorder.finish(id)
    }
}

impl Recorder {
    /// The circuit recorded, without repetition: all of it is prefix, and the one unit is empty.
    pub fn finish(self, id: CircuitId) -> Result<CompiledCircuit, CompileError> {
        let (block, dictionary) = self.into_block()?;
        let shared = [block.layout.inputs as usize, block.layout.aux as usize];
        let scope = Scope { shared, offset: shared, ..Scope::default() };
        let (empty, dictionary) = Self::with_scope(scope, dictionary).into_block()?;
        CompiledCircuit::assemble(id, 1, dictionary.into_values(), block, empty, Bindings::default())
    }
}

fn failed(part: &str, source: SynthesisError) -> CompileError {
    CompileError::Synthesis { part: part.into(), source }
}

fn key(variable: &Variable) -> Key {
    match variable.get_unchecked() {
        Index::Input(i) => (true, i),
        Index::Aux(i) => (false, i),
    }
}

/// The distinct bound variables of each copy.
struct BoundVariables {
    /// By copy.
    variables: Vec<Vec<Key>>,
}

impl BoundVariables {
    /// Asks for every copy's bindings. A variable may occur more than once in a copy's, at the same places in
    /// every copy: it then is one slot.
    fn collect<C: StructuredCircuit<Scalar>>(
        circuit: &C,
        prefix: &C::Prefix,
        units: usize,
        shared: [usize; 2],
    ) -> Result<Self, CompileError> {
        let mut pattern: Vec<usize> = vec![];
        let mut variables = Vec::with_capacity(units);
        for unit in 0..units {
            let bound = circuit.bindings(prefix, unit);
            let mut first_places = HashMap::new();
            let mut distinct = vec![];
            let mut places = Vec::with_capacity(bound.len());
            for (slot, variable) in bound.iter().enumerate() {
                let key = key(variable);
                if key.1 >= shared[usize::from(!key.0)] {
                    let reason = "not a variable of the prefix";
                    return Err(CompileError::Binding { unit, slot, variable: describe(key), reason });
                }
                places.push(*first_places.entry(key).or_insert_with(|| {
                    distinct.push(key);
                    slot
                }));
            }
            if unit == 0 {
                pattern = places;
            } else if pattern.len() != places.len() {
                let (expected, got) = (pattern.len(), places.len());
                return Err(CompileError::BindingLength { unit, expected, got });
            } else if let Some(slot) = (0..places.len()).find(|slot| places[*slot] != pattern[*slot]) {
                let reason = "its equality with other bindings differs from unit 0";
                return Err(CompileError::Binding {
                    unit,
                    slot,
                    variable: describe(key(&bound[slot])),
                    reason,
                });
            }
            variables.push(distinct);
        }
        Ok(Self { variables })
    }

    fn slots(&self, unit: usize) -> HashMap<Key, u32> {
        self.variables[unit].iter().copied().zip(0..).collect()
    }

    /// No copy may bind a variable that the units also use as it is: one row could then hold it twice.
    fn check_unbound(&self, unit_block: &Block) -> Result<(), CompileError> {
        let [own_inputs, shared_aux, own_aux, ..] = unit_block.bounds;
        let columns = unit_block.matrices.iter().flat_map(|matrix| &matrix.columns);
        let unbound: HashSet<Key> = match self.variables.iter().all(Vec::is_empty) {
            true => return Ok(()),
            false => columns
                .filter_map(|column| match *column {
                    input if input < own_inputs => Some((true, input as usize)),
                    aux if (shared_aux..own_aux).contains(&aux) => Some((false, (aux - shared_aux) as usize)),
                    _ => None,
                })
                .collect(),
        };
        for (unit, variables) in self.variables.iter().enumerate() {
            if let Some(slot) = variables.iter().position(|key| unbound.contains(key)) {
                let variable = describe(variables[slot]);
                let reason = "the units also use it unbound";
                return Err(CompileError::Binding { unit, slot, variable, reason });
            }
        }
        Ok(())
    }

    fn into_table(self, prefix_inputs: usize) -> Bindings {
        let column = |(is_input, index): &Key| if *is_input { *index } else { prefix_inputs + index } as u32;
        Bindings {
            slots: self.variables.first().map_or(0, Vec::len),
            columns: self.variables.iter().flatten().map(column).collect(),
        }
    }
}
