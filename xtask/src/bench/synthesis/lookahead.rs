//! Prefetching the values of terms to come while combinations are evaluated.

use assignment::{Assembly, Bitmap, Combination, ProvingAssignment, StructuredCircuit};
use blstrs::Scalar;
use circuits::FilecoinCircuit;
use ff::Field;
use prefetch_index::prefetch_index;

use super::synthesis_failure;
use crate::{
    bench::{
        alternate::Comparison,
        stopwatch::{Cost, Stopwatch},
    },
    failure::{Failure, Kind},
};

/// `ProvingAssignment`'s evaluation, with the values of the next `AHEAD` terms of a combination prefetched; 0 for none.
struct Evaluator<const AHEAD: usize> {
    rows: [Vec<Scalar>; 3],
    inputs: Vec<Scalar>,
    aux: Vec<Scalar>,
    b_inputs: Bitmap,
    a_aux: Bitmap,
    b_aux: Bitmap,
    minus_one: Scalar,
}

impl<const AHEAD: usize> Evaluator<AHEAD> {
    fn new() -> Self {
        Self {
            rows: Default::default(),
            inputs: vec![Scalar::ONE],
            aux: vec![],
            b_inputs: Bitmap::new(),
            a_aux: Bitmap::new(),
            b_aux: Bitmap::new(),
            minus_one: -Scalar::ONE,
        }
    }
}

/// `Σ coefficient * value`; marks the variables that occur.
#[inline]
fn evaluate<'a, const AHEAD: usize>(
    sum: &mut Scalar,
    minus_one: &Scalar,
    values: &[Scalar],
    terms: impl Iterator<Item = (usize, &'a Scalar)>,
    ahead: impl Iterator<Item = (usize, &'a Scalar)>,
    mut density: Option<&mut Bitmap>,
) {
    let mut ahead = ahead.skip(AHEAD);
    for (index, coefficient) in terms {
        if AHEAD > 0
            && let Some((later, _)) = ahead.next()
        {
            prefetch_index(values, later);
        }
        let value = &values[index];
        if *value == Scalar::ZERO {
        } else if *coefficient == Scalar::ONE {
            *sum += value;
        } else if *value == Scalar::ONE {
            *sum += coefficient;
        } else if coefficient == minus_one {
            *sum -= value;
        } else {
            *sum += *coefficient * value;
        }
        if let Some(density) = &mut density
            && *coefficient != Scalar::ZERO
        {
            density.set(index);
        }
    }
}

impl<const AHEAD: usize> Assembly<Scalar> for Evaluator<AHEAD> {
    #[inline]
    fn new_aux<E>(&mut self, value: impl FnOnce() -> Result<Scalar, E>) -> Result<usize, E> {
        self.aux.push(value()?);
        Ok(self.aux.len() - 1)
    }

    #[inline]
    fn new_input<E>(&mut self, value: impl FnOnce() -> Result<Scalar, E>) -> Result<usize, E> {
        self.inputs.push(value()?);
        Ok(self.inputs.len() - 1)
    }

    #[inline]
    fn constrain<L: Combination<Scalar>>(&mut self, a: &L, b: &L, c: &L) {
        self.a_aux.grow(self.aux.len());
        self.b_aux.grow(self.aux.len());
        self.b_inputs.grow(self.inputs.len());
        let densities =
            [(None, Some(&mut self.a_aux)), (Some(&mut self.b_inputs), Some(&mut self.b_aux)), (None, None)];
        for ((row, combination), (of_inputs, of_aux)) in self.rows.iter_mut().zip([a, b, c]).zip(densities) {
            let (mut sum, minus_one) = (Scalar::ZERO, &self.minus_one);
            let (terms, ahead) = (combination.input_terms(), combination.input_terms());
            evaluate::<AHEAD>(&mut sum, minus_one, &self.inputs, terms, ahead, of_inputs);
            let (terms, ahead) = (combination.aux_terms(), combination.aux_terms());
            evaluate::<AHEAD>(&mut sum, minus_one, &self.aux, terms, ahead, of_aux);
            row.push(sum);
        }
    }
}

assignment::constraint_system!(bellpepper_core, [const AHEAD: usize], Scalar, Evaluator<AHEAD>);

fn run<const AHEAD: usize>(circuit: &FilecoinCircuit, stopwatch: &mut Stopwatch) -> Result<Cost, Failure> {
    let mut evaluator = Evaluator::<AHEAD>::new();
    let (done, cost) = stopwatch.time(|| circuit.synthesize_all(&mut evaluator));
    done.map_err(synthesis_failure)?;
    Ok(cost)
}

#[inline(never)]
fn prefetch_none(circuit: &FilecoinCircuit, stopwatch: &mut Stopwatch) -> Result<Cost, Failure> {
    run::<0>(circuit, stopwatch)
}

#[inline(never)]
fn prefetch_four(circuit: &FilecoinCircuit, stopwatch: &mut Stopwatch) -> Result<Cost, Failure> {
    run::<4>(circuit, stopwatch)
}

#[inline(never)]
fn prefetch_sixteen(circuit: &FilecoinCircuit, stopwatch: &mut Stopwatch) -> Result<Cost, Failure> {
    run::<16>(circuit, stopwatch)
}

/// Whole syntheses. The evaluator is a copy, and is held against the original first.
pub fn comparison(circuit: &FilecoinCircuit) -> Result<Comparison<'_>, Failure> {
    let original = ProvingAssignment::<Scalar>::of(circuit).map_err(synthesis_failure)?;
    let mut copy = Evaluator::<4>::new();
    circuit.synthesize_all(&mut copy).map_err(synthesis_failure)?;
    let [a, b, c] = &copy.rows;
    if [a.as_slice(), b, c] != [original.a(), original.b(), original.c()] {
        return Err(Failure::new(Kind::Internal, "the prefetching evaluation gives other rows"));
    }
    Ok(Comparison {
        what: "prefetch in the evaluation, porep-2KiB",
        variants: vec![
            ("none", Box::new(|stopwatch| prefetch_none(circuit, stopwatch))),
            ("4 terms ahead", Box::new(|stopwatch| prefetch_four(circuit, stopwatch))),
            ("16 terms ahead", Box::new(|stopwatch| prefetch_sixteen(circuit, stopwatch))),
        ],
    })
}
