//! Circuits that lie about their bindings.

use assignment::{CircuitId, StructuredCircuit};
use bellpepper_core::{ConstraintSystem, SynthesisError, Variable};
use blstrs::Scalar;
use r1cs::{CompileError, CompiledCircuit};

/// Four prefix variables; the units bind some of them, by place, and use what they bind and one variable unbound.
struct Bound {
    table: Vec<Vec<usize>>,
    unbound: usize,
    foreign: bool,
}

impl StructuredCircuit<Scalar> for Bound {
    type Prefix = Vec<Variable>;

    fn id(&self) -> CircuitId {
        CircuitId::new("bound", [0; 32])
    }
    fn units(&self) -> usize {
        self.table.len()
    }
    fn synthesize_prefix<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
    ) -> Result<Vec<Variable>, SynthesisError> {
        (0..4).map(|_| cs.alloc(|| "", || Err(SynthesisError::AssignmentMissing))).collect()
    }
    fn bindings(&self, prefix: &Vec<Variable>, unit: usize) -> Vec<Variable> {
        let mut bindings: Vec<_> = self.table[unit].iter().map(|i| prefix[*i]).collect();
        if self.foreign {
            bindings.push(Variable::new_unchecked(bellpepper_core::Index::Aux(4)));
        }
        bindings
    }
    fn synthesize_unit<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
        prefix: &Vec<Variable>,
        unit: usize,
    ) -> Result<(), SynthesisError> {
        for variable in self.bindings(prefix, unit) {
            cs.enforce(|| "", |lc| lc + variable + prefix[self.unbound], |lc| lc + variable, |lc| lc);
        }
        Ok(())
    }
}

fn compile(table: &[&[usize]], unbound: usize) -> Result<CompiledCircuit, CompileError> {
    let table = table.iter().map(|row| row.to_vec()).collect();
    CompiledCircuit::compile(&Bound { table, unbound, foreign: false })
}

#[test]
fn truth_is_accepted() {
    assert_eq!(compile(&[&[0], &[1], &[2]], 3).unwrap().num_constraints(), 3);
    // The same variable at the same places of every copy.
    assert_eq!(compile(&[&[0, 0, 1], &[2, 2, 1]], 3).unwrap().num_constraints(), 6);
    // Several copies may bind the same variable.
    assert_eq!(compile(&[&[0], &[0]], 3).unwrap().b_aux_density().count_ones(), 1);
}

#[test]
fn lies_are_refused() {
    let error = compile(&[&[0, 1], &[2]], 3).unwrap_err();
    assert!(matches!(error, CompileError::BindingLength { unit: 1, expected: 2, got: 1 }), "{error}");
    // Copy 2 binds one variable twice; nobody synthesises copy 2.
    let error = compile(&[&[0, 1], &[1, 2], &[2, 2]], 3).unwrap_err();
    assert!(matches!(error, CompileError::Binding { unit: 2, slot: 1, .. }), "{error}");
    // Copy 2 binds what the units use unbound.
    let error = compile(&[&[0], &[1], &[3]], 3).unwrap_err();
    assert!(matches!(error, CompileError::Binding { unit: 2, slot: 0, .. }), "{error}");
    // Unbound in copy 1, bound in copy 0.
    let error = compile(&[&[3], &[1]], 3).unwrap_err();
    assert!(matches!(error, CompileError::NotACopy { unit: 1, .. }), "{error}");
    let foreign = Bound { table: vec![vec![0]], unbound: 3, foreign: true };
    let error = CompiledCircuit::compile(&foreign).unwrap_err();
    assert!(matches!(error, CompileError::Binding { unit: 0, slot: 1, .. }), "{error}");
}
