//! The compiled circuit: its prefix, one unit, and how the unit repeats.

use std::sync::OnceLock;

use assignment::{Bitmap, CapacityHint, CircuitId};
use blstrs::Scalar;

use crate::density::BlockDensity;
use crate::error::CompileError;
use crate::matrix::Block;

/// A circuit's constraints, with the repeated part stored once.
///
/// The whole is the prefix followed by [`units`](Self::units) copies of the unit. In copy `u`, the unit's own inputs and
/// aux are shifted by `u` times their number; variables of the prefix are the same in all copies, but for bound ones,
/// which a table gives for each copy. After the constraints follows one row `x_i * 0 = 0` for each input. All row
/// and column numbers of the public interface are those of the whole.
///
/// Inputs, ONE included, are columns `0..num_inputs`; aux follow.
#[derive(Clone, Debug)]
pub struct CompiledCircuit {
    pub(crate) id: CircuitId,
    pub(crate) units: usize,
    pub(crate) coefficients: Vec<Scalar>,
    pub(crate) prefix: Block,
    pub(crate) unit: Block,
    pub(crate) bindings: Bindings,
    pub(crate) prefix_density: BlockDensity,
    pub(crate) unit_density: BlockDensity,
    pub(crate) digest: OnceLock<[u8; 32]>,
}

/// For each copy, the prefix's variables that it binds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bindings {
    /// The number of bindings of each copy.
    pub(crate) slots: usize,
    /// By copy, then by slot: an input's index, or the number of the prefix's inputs plus an aux's index.
    pub(crate) columns: Vec<u32>,
}

impl Bindings {
    pub(crate) fn of(&self, unit: usize) -> &[u32] {
        &self.columns[unit * self.slots..(unit + 1) * self.slots]
    }
}

impl CompiledCircuit {
    /// Puts the parts together and computes the densities.
    pub(crate) fn assemble(
        id: CircuitId,
        units: usize,
        coefficients: Vec<Scalar>,
        prefix: Block,
        unit: Block,
        bindings: Bindings,
    ) -> Result<Self, CompileError> {
        check_total(&prefix, &unit, units)?;
        let (prefix_density, unit_density) = crate::density::densities(&prefix, &unit, &bindings);
        Ok(Self {
            id,
            units,
            coefficients,
            prefix,
            unit,
            bindings,
            prefix_density,
            unit_density,
            digest: OnceLock::new(),
        })
    }

    /// The circuit's key.
    pub fn id(&self) -> &CircuitId {
        &self.id
    }

    /// The number of copies of the unit.
    pub fn units(&self) -> usize {
        self.units
    }

    /// Inputs, ONE included.
    pub fn num_inputs(&self) -> usize {
        self.prefix.layout.inputs as usize + self.units * self.unit.layout.inputs as usize
    }

    /// Auxiliary variables.
    pub fn num_aux(&self) -> usize {
        self.prefix.layout.aux as usize + self.units * self.unit.layout.aux as usize
    }

    /// Constraints, without the input rows.
    pub fn num_constraints(&self) -> usize {
        self.prefix.rows() + self.units * self.unit.rows()
    }

    /// Constraints and input rows.
    pub fn num_rows(&self) -> usize {
        self.num_constraints() + self.num_inputs()
    }

    /// The logarithm of the evaluation domain's size: the least power of two that holds all rows.
    pub fn domain_log2(&self) -> u32 {
        self.num_rows().next_power_of_two().trailing_zeros()
    }

    /// Terms of A, B and C, input rows not counted.
    pub fn nnz(&self) -> [usize; 3] {
        [0, 1, 2].map(|m| self.prefix.matrices[m].nnz() + self.units * self.unit.matrices[m].nnz())
    }

    /// The distinct coefficients: 1, -1, and others in order of first appearance.
    pub fn coefficients(&self) -> &[Scalar] {
        &self.coefficients
    }

    /// The sizes, for pre-allocation on the classic path.
    pub fn capacity_hint(&self) -> CapacityHint {
        CapacityHint { constraints: self.num_constraints(), inputs: self.num_inputs(), aux: self.num_aux() }
    }

    /// The auxiliary variables that occur in A.
    pub fn a_aux_density(&self) -> Bitmap {
        self.repeat(&self.prefix_density.a_aux, &self.unit_density.a_aux)
    }

    /// The inputs that occur in B.
    pub fn b_input_density(&self) -> Bitmap {
        self.repeat(&self.prefix_density.b_input, &self.unit_density.b_input)
    }

    /// The auxiliary variables that occur in B.
    pub fn b_aux_density(&self) -> Bitmap {
        self.repeat(&self.prefix_density.b_aux, &self.unit_density.b_aux)
    }

    fn repeat(&self, prefix: &Bitmap, unit: &Bitmap) -> Bitmap {
        let mut whole = Bitmap::with_capacity(prefix.len() + self.units * unit.len());
        whole.append(prefix);
        (0..self.units).for_each(|_| whole.append(unit));
        whole
    }

    /// Bytes of memory that the matrices hold.
    pub fn memory(&self) -> usize {
        let matrices = self.prefix.matrices.iter().chain(&self.unit.matrices);
        matrices.map(|m| 6 * m.nnz() + 4 * (m.rows() + 1)).sum::<usize>() + 32 * self.coefficients.len()
    }
}

/// All columns and rows of the whole are 32-bit numbers.
pub(crate) fn check_total(prefix: &Block, unit: &Block, units: usize) -> Result<(), CompileError> {
    let limit = u32::MAX as usize;
    let check = |what, of: &dyn Fn(&Block) -> usize| {
        let all = of(unit).checked_mul(units).and_then(|all| all.checked_add(of(prefix)));
        match all.unwrap_or(usize::MAX) {
            got if got > limit => Err(CompileError::TooLarge { what, got, limit }),
            _ => Ok(()),
        }
    };
    let inputs = |block: &Block| block.layout.inputs as usize;
    check("columns of the circuit", &|block| inputs(block) + block.layout.aux as usize)?;
    check("rows of the circuit", &|block| inputs(block) + block.rows())
}
