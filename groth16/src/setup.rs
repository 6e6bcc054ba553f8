//! Test parameters from a trapdoor.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use blstrs::{G1Affine, G2Affine, Scalar};
use ff::Field;
use group::Curve as _;
use group::prime::PrimeCurveAffine;
use msm_gpu::cpu::FixedBase;
use msm_gpu::{G1, G2};
use ntt_gpu::Domain;
use r1cs::{CompiledCircuit, Term};
use rayon::prelude::*;
use thiserror::Error;

use crate::cuda;
use crate::files::whole_test_file;
use crate::secret::{SecretVec, wipe};
use crate::shape::Densities;
use crate::{Backend, KeyError, ParameterError, Parameters, PlanError, ToxicWaste, VerifyingKey};

/// Parameters that cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The circuit has more rows than any domain, or its domain no coset.
    #[error(transparent)]
    Domain(#[from] ntt_gpu::Error),
    /// τ is a root of the vanishing polynomial.
    #[error("tau lies in the evaluation domain")]
    TauInDomain,
    /// A variable is in no constraint, so that its point would be at infinity.
    #[error("auxiliary variable {index} is not constrained")]
    Unconstrained {
        /// Its index.
        index: usize,
    },
    /// A query's point is at infinity although the variable occurs: τ is a root of its polynomial.
    #[error("the {query} polynomial of a variable vanishes at tau")]
    VanishesAtTau {
        /// `A` or `B`.
        query: &'static str,
    },
    /// The device is missing or failed.
    #[error(transparent)]
    Device(#[from] gpu::Error),
    /// A multiplication failed.
    #[error("fixed-base multiplication: {0}")]
    Sum(#[from] msm_gpu::Error),
    /// The trapdoor makes a key with which proofs mean nothing.
    #[error("verifying key: {0}")]
    Key(#[from] KeyError),
    /// The budgets leave no room.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The points could not be kept or written.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
}

impl SetupError {
    /// The device's error, where one lies beneath.
    pub fn device(&self) -> Option<&gpu::Error> {
        match self {
            Self::Device(error)
            | Self::Domain(ntt_gpu::Error::Device(error))
            | Self::Sum(msm_gpu::Error::Device(error)) => Some(error),
            _ => None,
        }
    }
}

/// The secrets of a setup and what follows from them for one domain. Wiped when dropped.
pub(crate) struct Trapdoor {
    pub(crate) alpha: Scalar,
    pub(crate) beta: Scalar,
    pub(crate) gamma: Scalar,
    pub(crate) delta: Scalar,
    pub(crate) tau: Scalar,
    /// The vanishing polynomial at τ.
    pub(crate) vanishing: Scalar,
    pub(crate) over_gamma: Scalar,
    pub(crate) over_delta: Scalar,
}

impl Drop for Trapdoor {
    fn drop(&mut self) {
        let Self { alpha, beta, gamma, delta, tau, vanishing, over_gamma, over_delta } = self;
        for value in [alpha, beta, gamma, delta, tau, vanishing, over_gamma, over_delta] {
            wipe(std::slice::from_mut(value));
        }
    }
}

impl Trapdoor {
    pub(crate) fn new(waste: &ToxicWaste, domain: Domain) -> Result<Self, SetupError> {
        domain.coset_generator()?;
        let [alpha, beta, gamma, delta, tau] =
            [&waste.alpha, &waste.beta, &waste.gamma, &waste.delta, &waste.tau].map(|secret| *secret.get());
        let vanishing = domain.vanishing_at(&tau);
        // Neither is zero.
        let [over_gamma, over_delta] = [gamma, delta].map(|value| value.invert().unwrap_or(Scalar::ZERO));
        let trapdoor = Self { alpha, beta, gamma, delta, tau, vanishing, over_gamma, over_delta };
        match bool::from(vanishing.is_zero()) {
            true => Err(SetupError::TauInDomain),
            false => Ok(trapdoor),
        }
    }

    /// The key with these points for the inputs.
    pub(crate) fn verifying_key(&self, ic: Vec<G1Affine>) -> Result<VerifyingKey, KeyError> {
        let in_g1 = |value: &Scalar| (G1Affine::generator() * value).to_affine();
        let in_g2 = |value: &Scalar| (G2Affine::generator() * value).to_affine();
        let vk = VerifyingKey {
            alpha_g1: in_g1(&self.alpha),
            beta_g1: in_g1(&self.beta),
            beta_g2: in_g2(&self.beta),
            gamma_g2: in_g2(&self.gamma),
            delta_g1: in_g1(&self.delta),
            delta_g2: in_g2(&self.delta),
            ic,
        };
        vk.check()?;
        Ok(vk)
    }
}

/// [`setup`] on a backend, with the same result.
pub fn setup_on(
    circuit: &Arc<CompiledCircuit>,
    waste: ToxicWaste,
    backend: Backend,
) -> Result<Parameters, SetupError> {
    match backend {
        Backend::Cpu => setup(circuit, waste),
        Backend::Cuda { device, budgets } => cuda::parameters(device, &budgets, circuit.clone(), &waste),
    }
}

/// [`setup_on`] into an empty file: its bytes are those of [`Parameters::write`]. A device's points go there as they are made and
/// are not held; the CPU makes them in memory first. Syncing the file, and taking it away after an error, is the caller's.
pub fn setup_into(
    circuit: &Arc<CompiledCircuit>,
    waste: ToxicWaste,
    backend: Backend,
    file: &File,
) -> Result<VerifyingKey, SetupError> {
    match backend {
        Backend::Cpu => {
            let parameters = setup(circuit, waste)?;
            let mut writer = BufWriter::with_capacity(1 << 20, file);
            let written = parameters.write(&mut writer).and_then(|()| writer.flush());
            written.map_err(ParameterError::io("writing points"))?;
            Ok(parameters.vk)
        }
        Backend::Cuda { device, budgets } => {
            cuda::parameter_file(device, &budgets, circuit.clone(), &waste, file)
        }
    }
}

/// [`setup_into`] a `.params` file, completely or not at all; as test parameters, so not to where a ceremony's files are.
pub fn setup_file(
    circuit: &Arc<CompiledCircuit>,
    waste: ToxicWaste,
    backend: Backend,
    path: impl AsRef<Path>,
) -> Result<VerifyingKey, SetupError> {
    whole_test_file(path.as_ref(), |file| setup_into(circuit, waste, backend, file))
}

/// Parameters for a circuit from a trapdoor: **test parameters**, forgeable by whoever knows or guesses it.
///
/// For equal trapdoors the result is bellperson's, byte for byte, with the standard generators of both groups. The trapdoor
/// and what reveals it are wiped.
pub fn setup(circuit: &CompiledCircuit, waste: ToxicWaste) -> Result<Parameters, SetupError> {
    let densities = Densities::of(circuit);
    let shape = densities.shape(circuit.num_rows());
    let domain = shape.domain()?;
    let span = tracing::info_span!("setup", rows = shape.rows, domain = domain.size()).entered();

    let trapdoor = Trapdoor::new(&waste, domain)?;
    let Trapdoor { alpha, beta, tau, vanishing, over_gamma, over_delta, .. } = &trapdoor;

    let g1 = FixedBase::<G1>::new(&G1Affine::generator(), shape.domain_size() + 3 * shape.aux);
    let powers = SecretVec(powers(shape.domain_size() - 1, *tau, vanishing * over_delta));
    let h = g1.multiply(&powers.0);
    drop(powers);

    let columns = Columns::at_tau(circuit, SecretVec(domain.lagrange_at(tau)));
    let inputs = shape.inputs;
    let mut combined = SecretVec(columns.combine(*alpha, *beta));
    let (of_inputs, of_aux) = combined.0.split_at_mut(inputs);
    if let Some(index) = of_aux.par_iter().position_first(|value| bool::from(value.is_zero())) {
        return Err(SetupError::Unconstrained { index });
    }
    of_inputs.iter_mut().for_each(|value| *value *= over_gamma);
    of_aux.par_iter_mut().for_each(|value| *value *= over_delta);
    let (ic, l) = (g1.multiply(of_inputs), g1.multiply(of_aux));
    drop(combined);

    // All inputs are in A, by the rows x_i * 0 = 0.
    let indices = (0..inputs).chain(densities.a_aux.ones().map(|i| inputs + i));
    let query = SecretVec::gather(inputs + shape.a_aux, &columns.a, indices);
    check_query("A", &query.0)?;
    let a = g1.multiply(&query.0);
    drop(query);

    let indices = densities.b_inputs.ones().chain(densities.b_aux.ones().map(|i| inputs + i));
    let query = SecretVec::gather(shape.b_inputs + shape.b_aux, &columns.b, indices);
    check_query("B", &query.0)?;
    drop(columns);
    let b_g1 = g1.multiply(&query.0);
    drop(g1);
    let b_g2 = FixedBase::<G2>::new(&G2Affine::generator(), query.0.len()).multiply(&query.0);
    drop(query);
    drop(span);

    let vk = trapdoor.verifying_key(ic)?;
    Ok(Parameters { vk, h, l, a, b_g1, b_g2 })
}

pub(crate) fn check_query(query: &'static str, values: &[Scalar]) -> Result<(), SetupError> {
    match values.par_iter().any(|value| bool::from(value.is_zero())) {
        true => Err(SetupError::VanishesAtTau { query }),
        false => Ok(()),
    }
}

/// `scale·base^i` for `i` below `len`.
fn powers(len: usize, base: Scalar, scale: Scalar) -> Vec<Scalar> {
    const CHUNK: usize = 1 << 12;
    let mut out = vec![Scalar::ZERO; len];
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(k, chunk)| {
        let mut power = scale * base.pow_vartime([(k * CHUNK) as u64]);
        for value in chunk {
            *value = power;
            power *= base;
        }
    });
    out
}

/// Every variable's polynomials at τ: inputs, then aux.
struct Columns {
    a: SecretVec,
    b: SecretVec,
    c: SecretVec,
}

impl Columns {
    /// `A_j(τ) = Σ_row A[row, j]·L_row(τ)`: the transposed matrices times the Lagrange polynomials, which are wiped.
    fn at_tau(circuit: &CompiledCircuit, lagrange: SecretVec) -> Self {
        let columns = circuit.num_inputs() + circuit.num_aux();
        let zeros = || SecretVec(vec![Scalar::ZERO; columns]);
        let mut out = Self { a: zeros(), b: zeros(), c: zeros() };
        let coefficients = circuit.coefficients();
        let add = |target: &mut [Scalar], terms: &[Term], value: &Scalar| {
            for term in terms {
                let target = &mut target[term.column as usize];
                match term.coefficient {
                    0 => *target += value,
                    1 => *target -= value,
                    other => *target += coefficients[other as usize] * value,
                }
            }
        };
        let mut rows = circuit.rows(0..circuit.num_rows());
        while let Some(row) = rows.next() {
            let value = &lagrange.0[row.index];
            add(&mut out.a.0, row.a, value);
            add(&mut out.b.0, row.b, value);
            add(&mut out.c.0, row.c, value);
        }
        out
    }

    /// `β·A_j(τ) + α·B_j(τ) + C_j(τ)`.
    fn combine(&self, alpha: Scalar, beta: Scalar) -> Vec<Scalar> {
        let terms = self.a.0.par_iter().zip(&self.b.0).zip(&self.c.0);
        terms.map(|((a, b), c)| beta * a + alpha * b + c).collect()
    }
}
