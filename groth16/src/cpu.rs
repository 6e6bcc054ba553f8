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
use tracing::{debug_span, info_span};

use crate::encoding::Encoding;
use crate::pipeline::{Pipeline, Staged, Sums};
use crate::points::{Points, Queries};
use crate::shape::Densities;
use crate::times::{Calls, SumTimes, stage};
use crate::{Parameters, ProveError, Section, StageTimes};

/// A compiled circuit and where its parameters are.
#[derive(Debug)]
pub(crate) struct Cpu<Q> {
    pub(crate) circuit: Arc<CompiledCircuit>,
    pub(crate) densities: Densities,
    pub(crate) queries: Q,
}

impl<Q: Queries> Pipeline for Cpu<Q> {
    fn sums(
        &self,
        witness: &PackedWitness<Scalar>,
        staged: Option<Staged>,
    ) -> Result<(Sums, StageTimes), ProveError> {
        drop(staged);
        let mut times = StageTimes::default();
        let mut whole = None;
        let sums = stage(&mut whole, info_span!("sums"), |calls| {
            let sums = self.stages(witness, &mut times);
            calls.include([times.products, times.quotient, times.msm]);
            sums
        })?;
        times.whole = whole;
        Ok((sums, times))
    }
}

impl<Q: Queries> Cpu<Q> {
    fn stages(&self, witness: &PackedWitness<Scalar>, times: &mut StageTimes) -> Result<Sums, ProveError> {
        let rows = self.circuit.num_rows();
        let domain = Domain::covering(rows)?;
        let products = stage(&mut times.products, info_span!("products", rows), |calls| {
            let zeros = || -> Vec<Scalar> {
                let mut vector = Vec::with_capacity(domain.size());
                vector.par_extend(rayon::iter::repeat_n(Scalar::ZERO, domain.size()));
                vector
            };
            let [mut a, mut b] = [zeros(), zeros()];
            calls.call(debug_span!("r1cs::satisfied_products", rows), || {
                self.circuit.satisfied_products_into(witness, &mut a, &mut b)
            })?;
            Ok::<_, CheckError>([a, b])
        })?;
        from_products(domain, products, witness, &self.densities, &self.queries, times)
    }
}

/// The same from the classic path's assignment, which brings its products and densities along.
pub(crate) fn sums_of_assignment(
    assignment: ProvingAssignment<Scalar>,
    parameters: &Parameters,
) -> Result<(Sums, Vec<Scalar>, StageTimes), ProveError> {
    let mut times = StageTimes::default();
    let mut whole = None;
    let (sums, inputs) = stage(&mut whole, info_span!("sums"), |calls| {
        let sums = stages_of_assignment(assignment, parameters, &mut times);
        calls.include([times.products, times.quotient, times.msm]);
        sums
    })?;
    times.whole = whole;
    Ok((sums, inputs, times))
}

fn stages_of_assignment(
    mut assignment: ProvingAssignment<Scalar>,
    parameters: &Parameters,
    times: &mut StageTimes,
) -> Result<(Sums, Vec<Scalar>), ProveError> {
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
    let rows = shape.rows;
    let products = stage(&mut times.products, info_span!("products", rows), |calls| {
        // C·w is not needed further on, and goes here.
        let c = vectors.c;
        let unsatisfied = calls.call(debug_span!("r1cs::first_unsatisfied", rows), || {
            first_unsatisfied(&vectors.a, &vectors.b, &c)
        });
        match unsatisfied {
            Some(error) => Err(error),
            None => Ok([vectors.a, vectors.b].map(|mut values| {
                values.resize(domain.size(), Scalar::ZERO);
                values
            })),
        }
    })?;
    let witness = PackedWitness::from_assignment(vectors.inputs, &vectors.aux)?;
    drop(vectors.aux);
    let sums = from_products(domain, products, &witness, &densities, parameters, times)?;
    Ok((sums, witness.inputs().to_vec()))
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
    let size = domain.size();
    let h = stage(&mut times.quotient, info_span!("quotient", domain = size), |calls| {
        let [a, b] = [a, b].map(|values| Polynomial::new(domain, values));
        let (a, b) = (a?, b?);
        calls.call(debug_span!("ntt_gpu::quotient", size), || Ntt::new(domain).quotient(a, b))
    })?;
    let SumTimes { h: of_h, l: of_l, a: of_a, b_g1: of_b_g1, b_g2: of_b_g2 } = &mut times.sums;
    stage(&mut times.msm, info_span!("msm"), |calls| {
        let all = witness.inputs();
        let in_b: Vec<Scalar> = densities.b_inputs.ones().map(|i| all[i]).collect();
        let (in_a, in_b_aux) = (Some(&densities.a_aux), Some(&densities.b_aux));
        // In the order in which a file has them.
        let sums = queries.read(|queries| {
            let span = |query, len| info_span!("sum", query, len);
            let mut points = queries.points::<G1>(Section::H);
            let h_sum = stage(of_h, span("h", points.left()), |calls| {
                let sum = dense::<G1>(&mut points, &h, calls);
                assignment::reaper::defer(h);
                sum
            })?;
            let points = queries.points::<G1>(Section::L);
            let l = stage(of_l, span("l", points.left()), |calls| {
                over_witness::<G1>(points, &[], witness, None, calls)
            })?;
            let points = queries.points::<G1>(Section::A);
            let a = stage(of_a, span("a", points.left()), |calls| {
                over_witness::<G1>(points, all, witness, in_a, calls)
            })?;
            let points = queries.points::<G1>(Section::BG1);
            let b_g1 = stage(of_b_g1, span("b_g1", points.left()), |calls| {
                over_witness::<G1>(points, &in_b, witness, in_b_aux, calls)
            })?;
            let points = queries.points::<G2>(Section::BG2);
            let b_g2 = stage(of_b_g2, span("b_g2", points.left()), |calls| {
                over_witness::<G2>(points, &in_b, witness, in_b_aux, calls)
            })?;
            Ok(Sums { a, b_g1, b_g2, l, h: h_sum })
        });
        calls.include([*of_h, *of_l, *of_a, *of_b_g1, *of_b_g2]);
        sums
    })
}

/// The next points times these scalars.
fn dense<C: Encoding>(
    points: &mut Points<'_, C>,
    scalars: &[Scalar],
    calls: &mut Calls,
) -> Result<C::Projective, ProveError> {
    let span = || debug_span!("msm_gpu::msm", len = scalars.len());
    let mut sum = calls.call(span(), || DenseSum::<C>::new(scalars));
    loop {
        match sum.wanted() {
            0 => return Ok(calls.call(span(), || sum.finish())),
            wanted => {
                let points = points.next(wanted)?;
                calls.call(span(), || sum.add(points))?;
            }
        }
    }
}

/// A query's points times the inputs that it has points for, and the auxiliary variables, or those that it has points for.
fn over_witness<C: Encoding>(
    mut points: Points<'_, C>,
    inputs: &[Scalar],
    witness: &PackedWitness<Scalar>,
    aux: Option<&Bitmap>,
    calls: &mut Calls,
) -> Result<C::Projective, ProveError> {
    let of_inputs = dense(&mut points, inputs, calls)?;
    let len = witness.num_aux();
    let span = || debug_span!("msm_gpu::msm_packed", len);
    let mut sum = calls.call(span(), || {
        let scalars = PackedScalars::new(
            len,
            witness.ones().words(),
            witness.is_dense().words(),
            witness.dense_values(),
        )?;
        let density = aux.map(|bitmap| Density::new(len, bitmap.words())).transpose()?;
        PackedSum::<C>::new(scalars, density)
    })?;
    loop {
        match sum.wanted() {
            0 => break,
            wanted => {
                let points = points.next(wanted)?;
                calls.call(span(), || sum.add(points))?;
            }
        }
    }
    points.finish()?;
    Ok(of_inputs + calls.call(span(), || sum.finish()))
}
