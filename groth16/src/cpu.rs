//! The pipeline on the CPU.

use std::sync::Arc;

use assignment::{Bitmap, PackedWitness, ProvingAssignment};
use blstrs::Scalar;
use ff::Field;
use msm_gpu::cpu::{msm, msm_packed};
use msm_gpu::{Curve, Density, G1, G2, PackedScalars};
use ntt_gpu::cpu::Ntt;
use ntt_gpu::{Domain, Polynomial};
use r1cs::{CheckError, CompiledCircuit, first_unsatisfied};
use rayon::prelude::*;

use crate::pipeline::{Pipeline, Sums, timed};
use crate::shape::Densities;
use crate::{Parameters, ProveError, StageTimes};

/// A compiled circuit and its parameters in memory.
#[derive(Debug)]
pub(crate) struct Cpu {
    pub(crate) circuit: Arc<CompiledCircuit>,
    pub(crate) densities: Densities,
    pub(crate) parameters: Arc<Parameters>,
}

impl Pipeline for Cpu {
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
        let sums = from_products(domain, products, witness, &self.densities, &self.parameters, &mut times)?;
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
    parameters: &Parameters,
    times: &mut StageTimes,
) -> Result<Sums, ProveError> {
    let h = timed(&mut times.quotient, || {
        let _span = tracing::info_span!("quotient", domain = domain.size()).entered();
        let [a, b] = [a, b].map(|values| Polynomial::new(domain, values));
        Ntt::new(domain).quotient(a?, b?)
    })?;
    timed(&mut times.msm, || {
        let h = {
            let _span = tracing::info_span!("msm", query = "h", len = h.len()).entered();
            let sum = msm::<G1>(&parameters.h, &h)?;
            assignment::reaper::defer(h);
            sum
        };
        let queries = Queries { witness, densities };
        Ok(Sums {
            h,
            l: queries.sum::<G1>("l", &parameters.l, None, None)?,
            a: queries.sum::<G1>("a", &parameters.a, Some(Inputs::All), Some(&densities.a_aux))?,
            b_g1: queries.sum::<G1>("b_g1", &parameters.b_g1, Some(Inputs::InB), Some(&densities.b_aux))?,
            b_g2: queries.sum::<G2>("b_g2", &parameters.b_g2, Some(Inputs::InB), Some(&densities.b_aux))?,
        })
    })
}

/// Which inputs a query has points for, before those of the auxiliary variables.
enum Inputs {
    All,
    InB,
}

struct Queries<'a> {
    witness: &'a PackedWitness<Scalar>,
    densities: &'a Densities,
}

impl Queries<'_> {
    fn sum<C: Curve>(
        &self,
        query: &'static str,
        bases: &[C::Affine],
        inputs: Option<Inputs>,
        aux: Option<&Bitmap>,
    ) -> Result<C::Projective, ProveError> {
        let _span = tracing::info_span!("msm", query, len = bases.len()).entered();
        let witness = self.witness;
        let inputs: Vec<Scalar> = match inputs {
            None => Vec::new(),
            Some(Inputs::All) => witness.inputs().to_vec(),
            Some(Inputs::InB) => self.densities.b_inputs.ones().map(|i| witness.inputs()[i]).collect(),
        };
        let (of_inputs, of_aux) = bases
            .split_at_checked(inputs.len())
            .ok_or(msm_gpu::Error::Bases { expected: inputs.len(), got: bases.len() })?;
        let len = witness.num_aux();
        let scalars = PackedScalars::new(
            len,
            witness.ones().words(),
            witness.is_dense().words(),
            witness.dense_values(),
        )?;
        let density = aux.map(|bitmap| Density::new(len, bitmap.words())).transpose()?;
        Ok(msm::<C>(of_inputs, &inputs)? + msm_packed::<C>(of_aux, &scalars, density.as_ref())?)
    }
}
