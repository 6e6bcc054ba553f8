//! The classic path: evaluates the constraints while the circuit enforces them.

use bellpepper_core::SynthesisError;
use ff::PrimeField;

use crate::{Assembly, Bitmap, CapacityHint, Combination, StructuredCircuit, hints};

/// A circuit's assignment with its constraints evaluated: what a Groth16 prover needs, from any circuit.
///
/// Implements bellpepper-core's `ConstraintSystem`. Made by [`with_hint`](Self::with_hint), input 0 is ONE.
/// `ConstraintSystem::new`, for the parts of circuits that synthesise in parallel and `extend`, gives a system without
/// any input: its user allocates ONE first, and `extend` leaves that input out.
///
/// # Panics
/// `enforce` panics on a variable that this system has not allocated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvingAssignment<F> {
    a: Vec<F>,
    b: Vec<F>,
    c: Vec<F>,
    inputs: Vec<F>,
    aux: Vec<F>,
    a_aux_density: Bitmap,
    b_input_density: Bitmap,
    b_aux_density: Bitmap,
    /// The constant, at hand for comparisons.
    minus_one: F,
}

/// The vectors of a [`ProvingAssignment`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvingVectors<F> {
    /// `A·w` by row.
    pub a: Vec<F>,
    /// `B·w` by row.
    pub b: Vec<F>,
    /// `C·w` by row.
    pub c: Vec<F>,
    /// The inputs, ONE first.
    pub inputs: Vec<F>,
    /// The auxiliary values.
    pub aux: Vec<F>,
    /// Auxiliary variables that occur in A with a non-zero coefficient.
    pub a_aux_density: Bitmap,
    /// Inputs that occur in B with a non-zero coefficient.
    pub b_input_density: Bitmap,
    /// Auxiliary variables that occur in B with a non-zero coefficient.
    pub b_aux_density: Bitmap,
}

impl<F: PrimeField> ProvingAssignment<F> {
    /// An assignment with the input ONE, pre-sized where a hint is known.
    pub fn with_hint(hint: Option<CapacityHint>) -> Self {
        let mut assignment = Self::bare(hint.unwrap_or_default());
        assignment.inputs.push(F::ONE);
        assignment
    }

    /// A structured circuit's assignment, without the input rows. Pre-sized where [`hints`] know the circuit; otherwise its
    /// sizes are recorded there for the next time.
    pub fn of<C: StructuredCircuit<F>>(circuit: &C) -> Result<Self, SynthesisError> {
        let id = circuit.id();
        let known = hints::capacity(&id);
        let mut assignment = Self::with_hint(known);
        circuit.synthesize_all(&mut assignment)?;
        if known.is_none() {
            hints::record_capacity(&id, assignment.capacity_hint());
        }
        Ok(assignment)
    }

    fn bare(hint: CapacityHint) -> Self {
        // One row for each input follows the constraints.
        let rows = hint.constraints + hint.inputs;
        Self {
            a: Vec::with_capacity(rows),
            b: Vec::with_capacity(rows),
            c: Vec::with_capacity(rows),
            inputs: Vec::with_capacity(hint.inputs),
            aux: Vec::with_capacity(hint.aux),
            a_aux_density: Bitmap::with_capacity(hint.aux),
            b_input_density: Bitmap::with_capacity(hint.inputs),
            b_aux_density: Bitmap::with_capacity(hint.aux),
            minus_one: -F::ONE,
        }
    }

    /// The sizes of this synthesis, for the next one. Rows added by [`append_input_rows`](Self::append_input_rows) count
    /// as constraints: ask before.
    pub fn capacity_hint(&self) -> CapacityHint {
        CapacityHint { constraints: self.a.len(), inputs: self.inputs.len(), aux: self.aux.len() }
    }

    /// Appends Groth16's row `x_i * 0 = 0` for each input, which makes the inputs' polynomials independent.
    pub fn append_input_rows(&mut self) {
        self.a.extend_from_slice(&self.inputs);
        self.b.resize(self.a.len(), F::ZERO);
        self.c.resize(self.a.len(), F::ZERO);
    }

    /// `A·w` by row.
    pub fn a(&self) -> &[F] {
        &self.a
    }

    /// `B·w` by row.
    pub fn b(&self) -> &[F] {
        &self.b
    }

    /// `C·w` by row.
    pub fn c(&self) -> &[F] {
        &self.c
    }

    /// The inputs, ONE first.
    pub fn inputs(&self) -> &[F] {
        &self.inputs
    }

    /// The auxiliary values.
    pub fn aux(&self) -> &[F] {
        &self.aux
    }

    /// The first row where `a * b` is not `c`.
    pub fn first_unsatisfied(&self) -> Option<usize> {
        (0..self.a.len()).find(|row| self.a[*row] * self.b[*row] != self.c[*row])
    }

    /// All vectors, the densities as long as the assignments.
    pub fn into_vectors(mut self) -> ProvingVectors<F> {
        self.grow_densities();
        let Self { a, b, c, inputs, aux, a_aux_density, b_input_density, b_aux_density, .. } = self;
        ProvingVectors { a, b, c, inputs, aux, a_aux_density, b_input_density, b_aux_density }
    }

    fn grow_densities(&mut self) {
        self.a_aux_density.grow(self.aux.len());
        self.b_aux_density.grow(self.aux.len());
        self.b_input_density.grow(self.inputs.len());
    }
}

/// `coefficient * value` added to a sum. In most circuits nearly every coefficient is 1 or -1 and nearly every value 0
/// or 1, so comparisons come before the multiplication.
#[inline]
fn add_term<F: PrimeField>(sum: &mut F, coefficient: &F, value: &F, minus_one: &F) {
    if *value == F::ZERO {
    } else if *coefficient == F::ONE {
        *sum += value;
    } else if *value == F::ONE {
        *sum += coefficient;
    } else if coefficient == minus_one {
        *sum -= value;
    } else {
        *sum += *coefficient * value;
    }
}

/// The values that combinations are evaluated with.
struct Values<'a, F> {
    inputs: &'a [F],
    aux: &'a [F],
    minus_one: &'a F,
}

impl<F: PrimeField> Values<'_, F> {
    /// A combination's value. The variables that occur in it are marked in the densities given.
    #[inline]
    fn evaluate<L: Combination<F>>(
        &self,
        combination: &L,
        mut input_density: Option<&mut Bitmap>,
        mut aux_density: Option<&mut Bitmap>,
    ) -> F {
        let mut sum = F::ZERO;
        for (index, coefficient) in combination.input_terms() {
            add_term(&mut sum, coefficient, &self.inputs[index], self.minus_one);
            mark(&mut input_density, index, coefficient);
        }
        for (index, coefficient) in combination.aux_terms() {
            add_term(&mut sum, coefficient, &self.aux[index], self.minus_one);
            mark(&mut aux_density, index, coefficient);
        }
        sum
    }
}

#[inline]
fn mark<F: PrimeField>(density: &mut Option<&mut Bitmap>, index: usize, coefficient: &F) {
    if let Some(density) = density
        && *coefficient != F::ZERO
    {
        density.set(index);
    }
}

impl<F: PrimeField> Assembly<F> for ProvingAssignment<F> {
    const EXTENSIBLE: bool = true;

    fn fragment() -> Self {
        Self::bare(CapacityHint::default())
    }

    fn append(&mut self, fragment: &Self) {
        let (one, inputs) = fragment.inputs.split_first().expect("a fragment's first input is ONE");
        assert_eq!(*one, F::ONE, "a fragment's first input is ONE");

        self.grow_densities();
        let mut other = fragment.b_input_density.clone();
        other.grow(fragment.inputs.len());
        if other.get(0) {
            self.b_input_density.set(0);
        }
        (1..other.len()).for_each(|i| self.b_input_density.push(other.get(i)));
        self.a_aux_density.append(&fragment.a_aux_density);
        self.b_aux_density.append(&fragment.b_aux_density);

        self.inputs.extend_from_slice(inputs);
        self.aux.extend_from_slice(&fragment.aux);
        self.a.extend_from_slice(&fragment.a);
        self.b.extend_from_slice(&fragment.b);
        self.c.extend_from_slice(&fragment.c);
        self.grow_densities();
    }

    #[inline]
    fn new_aux<E>(&mut self, value: impl FnOnce() -> Result<F, E>) -> Result<usize, E> {
        self.aux.push(value()?);
        Ok(self.aux.len() - 1)
    }

    #[inline]
    fn new_input<E>(&mut self, value: impl FnOnce() -> Result<F, E>) -> Result<usize, E> {
        self.inputs.push(value()?);
        Ok(self.inputs.len() - 1)
    }

    #[inline]
    fn constrain<L: Combination<F>>(&mut self, a: &L, b: &L, c: &L) {
        self.grow_densities();
        let values = Values { inputs: &self.inputs, aux: &self.aux, minus_one: &self.minus_one };
        // A's density over inputs is full in any case, by the input rows; C has none.
        self.a.push(values.evaluate(a, None, Some(&mut self.a_aux_density)));
        self.b.push(values.evaluate(b, Some(&mut self.b_input_density), Some(&mut self.b_aux_density)));
        self.c.push(values.evaluate(c, None, None));
    }
}

crate::constraint_system!(bellpepper_core, [F: PrimeField], F, ProvingAssignment<F>);
#[cfg(feature = "bellperson-compat")]
crate::constraint_system!(bellpepper_core_02, [F: PrimeField], F, ProvingAssignment<F>);
