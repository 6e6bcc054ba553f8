//! The pipeline on the CPU, with parameters in memory or as they are read from their file.

use std::sync::Arc;

use assignment::{Bitmap, PackedWitness, ProvingAssignment};
use blstrs::Scalar;
use ff::Field;
use msm_gpu::cpu::{DenseSum, PackedSum};
use msm_gpu::{Density, G1, G2, PackedScalars};
use ntt_gpu::cpu::Ntt;
use ntt_gpu::{Domain, Polynomial};
use r1cs::{CheckError, CompiledCircuit, first_unsatisfied};
use rayon::prelude::*;

use crate::encoding::Encoding;
use crate::pipeline::{Pipeline, Sums, timed};
use crate::points::{Points, Queries};
use crate::shape::Densities;
use crate::{Parameters, ProveError, Section, StageTimes};

/// A compiled circuit and where its parameters are.
#[derive(Debug)]
pub(crate) struct Cpu<Q> {
    pub(crate) circuit: Arc<CompiledCircuit>,
    pub(crate) densities: Densities,
    pub(crate) queries: Q,
}

impl<Q: Queries> Pipeline for Cpu<Q> {
    fn sums(&self, witness: &PackedWitness<Scalar>) -> Result<(Sums, StageTimes), ProveError> {
        let mut times = StageTimes::default();
        let rows = self.circuit.num_rows();
        let domain = Domain::covering(rows)?;
        let products = timed(&mut times.products, || {
            let _span = tracing::info_span!("products", rows).entered();
            let zeros = || -> Vec<Scalar> {
                let mut vector = Vec::with_capacity(domain.size());
                vector.par_extend(rayon::iter::repeat_n(Scalar::ZERO, domain.size()));
                vector
            };
            let [mut a, mut b] = [zeros(), zeros()];
            self.circuit.satisfied_products_into(witness, &mut a, &mut b)?;
            Ok::<_, CheckError>([a, b])
        })?;
        let sums = from_products(domain, products, witness, &self.densities, &self.queries, &mut times)?;
        Ok((sums, times))
    }
}

/// The same from the classic path's assignment, which brings its products and densities along.
pub(crate) fn sums_of_assignment(
    mut assignment: ProvingAssignment<Scalar>,
    parameters: &Parameters,
) -> Result<(Sums, Vec<Scalar>, StageTimes), ProveError> {
    let mut times = StageTimes::default();
    assignment.append_input_rows();
    let vectors = assignment.into_vectors();
    let densities = Densities {
        a_aux: vectors.a_aux_density,
        b_inputs: vectors.b_input_density,
        b_aux: vectors.b_aux_density,
    };
    let shape = densities.shape(vectors.a.len());
    parameters.check_shape(&shape)?;
    let domain = shape.domain()?;
    let products = timed(&mut times.products, || {
        let _span = tracing::info_span!("products", rows = shape.rows).entered();
        // C·w is not needed further on, and goes here.
        let c = vectors.c;
        match first_unsatisfied(&vectors.a, &vectors.b, &c) {
            Some(error) => Err(error),
            None => Ok([vectors.a, vectors.b].map(|mut values| {
                values.resize(domain.size(), Scalar::ZERO);
                values
            })),
        }
    })?;
    let witness = PackedWitness::from_assignment(vectors.inputs, &vectors.aux)?;
    drop(vectors.aux);
    let sums = from_products(domain, products, &witness, &densities, parameters, &mut times)?;
    Ok((sums, witness.inputs().to_vec(), times))
}

/// Quotient and sums, from products that satisfy the circuit.
fn from_products(
    domain: Domain,
    [a, b]: [Vec<Scalar>; 2],
    witness: &PackedWitness<Scalar>,
    densities: &Densities,
    queries: &impl Queries,
    times: &mut StageTimes,
) -> Result<Sums, ProveError> {
    let h = timed(&mut times.quotient, || {
        let _span = tracing::info_span!("quotient", domain = domain.size()).entered();
        let [a, b] = [a, b].map(|values| Polynomial::new(domain, values));
        Ntt::new(domain).quotient(a?, b?)
    })?;
    timed(&mut times.msm, || {
        let all = witness.inputs();
        let in_b: Vec<Scalar> = densities.b_inputs.ones().map(|i| all[i]).collect();
        let (of_a, of_b) = (Some(&densities.a_aux), Some(&densities.b_aux));
        // In the order in which a file has them.
        queries.read(|queries| {
            let h = {
                let _span = tracing::info_span!("msm", query = "h", len = h.len()).entered();
                let sum = dense::<G1>(&mut queries.g1(Section::H)?, &h)?;
                assignment::reaper::defer(h);
                sum
            };
            Ok(Sums {
                h,
                l: over_witness::<G1>(queries.g1(Section::L)?, &[], witness, None)?,
                a: over_witness::<G1>(queries.g1(Section::A)?, all, witness, of_a)?,
                b_g1: over_witness::<G1>(queries.g1(Section::BG1)?, &in_b, witness, of_b)?,
                b_g2: over_witness::<G2>(queries.g2()?, &in_b, witness, of_b)?,
            })
        })
    })
}

/// The next points times these scalars.
fn dense<C: Encoding>(points: &mut Points<'_, C>, scalars: &[Scalar]) -> Result<C::Projective, ProveError> {
    let mut sum = DenseSum::<C>::new(scalars);
    loop {
        match sum.wanted() {
            0 => return Ok(sum.finish()),
            wanted => sum.add(points.next(wanted)?)?,
        }
    }
}

/// A query's points times the inputs that it has points for, and the auxiliary variables, or those that it has points for.
fn over_witness<C: Encoding>(
    mut points: Points<'_, C>,
    inputs: &[Scalar],
    witness: &PackedWitness<Scalar>,
    aux: Option<&Bitmap>,
) -> Result<C::Projective, ProveError> {
    let _span = tracing::info_span!("msm", query = %points.section(), len = points.left()).entered();
    let of_inputs = dense(&mut points, inputs)?;
    let len = witness.num_aux();
    let scalars =
        PackedScalars::new(len, witness.ones().words(), witness.is_dense().words(), witness.dense_values())?;
    let density = aux.map(|bitmap| Density::new(len, bitmap.words())).transpose()?;
    let mut sum = PackedSum::<C>::new(scalars, density)?;
    loop {
        match sum.wanted() {
            0 => break,
            wanted => sum.add(points.next(wanted)?)?,
        }
    }
    points.finish()?;
    Ok(of_inputs + sum.finish())
}
