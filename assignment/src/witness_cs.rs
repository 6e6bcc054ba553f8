//! The witness of any circuit, packed, from its synthesis.

use ff::PrimeField;

use crate::packer::Packed;
use crate::{Assembly, CapacityHint, Combination, PackedWitness, Packer, WitnessCounts, WitnessSink};

/// A constraint system that keeps the values of variables and ignores constraints, whose closures it does not call.
///
/// Made by [`with_hint`](Self::with_hint), input 0 is ONE. `ConstraintSystem::new` gives a part without any input, for
/// `extend`, as with [`ProvingAssignment`](crate::ProvingAssignment).
pub struct WitnessCS<F: PrimeField> {
    /// Its inputs include ONE.
    packer: Packer<'static, F>,
}

impl<F: PrimeField> WitnessCS<F> {
    /// A system with the input ONE, pre-sized where a hint is known.
    pub fn with_hint(hint: Option<CapacityHint>) -> Self {
        let CapacityHint { inputs, aux, .. } = hint.unwrap_or_default();
        let mut packer = Packer::with_capacity(WitnessCounts { inputs, aux, dense: 0 });
        packer.input(F::ONE);
        Self { packer }
    }

    /// The values: dense where they are neither 0 nor 1.
    pub fn into_witness(self) -> PackedWitness<F> {
        let Packed { inputs, ones, is_dense, dense } = self.packer.into_packed();
        PackedWitness::assemble(inputs, ones, is_dense, dense)
    }
}

impl<F: PrimeField> Assembly<F> for WitnessCS<F> {
    const ENFORCES: bool = false;
    const EXTENSIBLE: bool = true;

    fn fragment() -> Self {
        Self { packer: Packer::new() }
    }

    fn append(&mut self, fragment: &Self) {
        assert_eq!(fragment.packer.inputs().first(), Some(&F::ONE), "a fragment's first input is ONE");
        self.packer.append(&fragment.packer, 1);
    }

    #[inline]
    fn new_aux<E>(&mut self, value: impl FnOnce() -> Result<F, E>) -> Result<usize, E> {
        let value = value()?;
        let index = self.packer.counts().aux;
        if value == F::ZERO {
            self.packer.bit(false);
        } else if value == F::ONE {
            self.packer.bit(true);
        } else {
            self.packer.element(value);
        }
        Ok(index)
    }

    fn new_input<E>(&mut self, value: impl FnOnce() -> Result<F, E>) -> Result<usize, E> {
        self.packer.input(value()?);
        Ok(self.packer.inputs().len() - 1)
    }

    fn constrain<L: Combination<F>>(&mut self, _: &L, _: &L, _: &L) {}
}

crate::constraint_system!(bellpepper_core, [F: PrimeField], F, WitnessCS<F>);
#[cfg(feature = "bellperson-compat")]
crate::constraint_system!(bellpepper_core_02, [F: PrimeField], F, WitnessCS<F>);
