//! Verifying.

use blstrs::{Bls12, G1Affine, G2Affine, G2Prepared, Gt, Scalar};
use ff::Field;
use group::Curve as _;
use group::prime::PrimeCurveAffine;
use msm_gpu::G1;
use msm_gpu::cpu::msm;
use pairing::{Engine, MillerLoopResult, MultiMillerLoop};
use rand_core::{CryptoRng, RngCore};
use rayon::prelude::*;
use thiserror::Error;

use crate::{KeyError, Proof, VerifyingKey};

/// A proof that was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum VerificationError {
    /// The pairing equation does not hold.
    #[error("the proof is invalid for these public inputs")]
    InvalidProof,
    /// The number of public inputs is not the key's.
    #[error("expected {expected} public inputs, got {got}")]
    PublicInputs {
        /// The key's number, ONE not counted.
        expected: usize,
        /// The number given.
        got: usize,
    },
    /// A sum could not be computed, so that nothing can be said about the proof.
    #[error("the sum of the {what} could not be computed: {reason}")]
    Sum {
        /// Of what.
        what: &'static str,
        /// Why.
        reason: String,
    },
}

fn sum(what: &'static str, points: &[G1Affine], scalars: &[Scalar]) -> Result<G1Affine, VerificationError> {
    let failed = |error: msm_gpu::Error| VerificationError::Sum { what, reason: error.to_string() };
    msm::<G1>(points, scalars).map(|sum| sum.to_affine()).map_err(failed)
}

/// A batch that was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BatchError {
    /// There is nothing to verify, which is more likely a mistake than a wish.
    #[error("the batch is empty")]
    Empty,
    /// A proof is not acceptable; it is the first such.
    #[error("proof {index}: {source}")]
    Proof {
        /// Its index in the batch.
        index: usize,
        /// Why.
        source: VerificationError,
    },
    /// A sum over the whole batch could not be computed.
    #[error(transparent)]
    Sum(#[from] VerificationError),
    /// The combined equation does not hold though each proof's own does: the arithmetic went wrong.
    #[error("the batch's equation contradicts those of its proofs")]
    Inconsistent,
}

/// A verifying key with what does not depend on the proof computed once.
#[derive(Clone)]
pub struct PreparedVerifyingKey {
    key: VerifyingKey,
    /// `e(α, β)`.
    alpha_beta: Gt,
    neg_gamma: G2Prepared,
    neg_delta: G2Prepared,
}

impl std::fmt::Debug for PreparedVerifyingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreparedVerifyingKey")
            .field("inputs", &self.key.num_public_inputs())
            .finish_non_exhaustive()
    }
}

impl PreparedVerifyingKey {
    /// Checks and prepares a key.
    pub fn new(key: &VerifyingKey) -> Result<Self, KeyError> {
        key.check()?;
        Ok(Self {
            alpha_beta: Bls12::pairing(&key.alpha_g1, &key.beta_g2),
            neg_gamma: G2Prepared::from(-key.gamma_g2),
            neg_delta: G2Prepared::from(-key.delta_g2),
            key: key.clone(),
        })
    }

    /// The key.
    pub fn key(&self) -> &VerifyingKey {
        &self.key
    }

    /// The number of public inputs, ONE not counted.
    pub fn num_public_inputs(&self) -> usize {
        self.key.num_public_inputs()
    }

    fn check_inputs(&self, inputs: &[Scalar]) -> Result<(), VerificationError> {
        let expected = self.num_public_inputs();
        if inputs.len() != expected {
            return Err(VerificationError::PublicInputs { expected, got: inputs.len() });
        }
        Ok(())
    }

    /// `Σ scalars[i]·ic[i]`, with the scalar of ONE first.
    fn combine_inputs(&self, scalars: &[Scalar]) -> Result<G1Affine, VerificationError> {
        sum("public inputs", &self.key.ic, scalars)
    }

    /// Verifies one proof; `inputs` are without ONE.
    pub fn verify(&self, proof: &Proof, inputs: &[Scalar]) -> Result<(), VerificationError> {
        self.check_inputs(inputs)?;
        let scalars: Vec<Scalar> = std::iter::once(Scalar::ONE).chain(inputs.iter().copied()).collect();
        let x = self.combine_inputs(&scalars)?;
        // e(A, B) = e(α, β) · e(Σ x_i·ic_i, γ) · e(C, δ), that is,
        // e(A, B) · e(Σ x_i·ic_i, -γ) · e(C, -δ) = e(α, β): three Miller loops, one final exponentiation.
        let b = G2Prepared::from(proof.b);
        let terms = [(&proof.a, &b), (&x, &self.neg_gamma), (&proof.c, &self.neg_delta)];
        match Bls12::multi_miller_loop(&terms).final_exponentiation() == self.alpha_beta {
            true => Ok(()),
            false => Err(VerificationError::InvalidProof),
        }
    }

    /// Verifies proofs of one circuit together: `n + 2` Miller loops instead of `3n`, and one final exponentiation. If the
    /// batch fails, its first bad proof is named.
    ///
    /// The factors `z_i` have 128 random bits: a batch with a bad proof passes with probability at most `2^-128`.
    pub fn verify_batch(
        &self,
        batch: &[(Proof, Vec<Scalar>)],
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<(), BatchError> {
        if batch.is_empty() {
            return Err(BatchError::Empty);
        }
        for (index, (_, inputs)) in batch.iter().enumerate() {
            self.check_inputs(inputs).map_err(|source| BatchError::Proof { index, source })?;
        }
        let factors: Vec<Scalar> = batch.iter().map(|_| factor(rng)).collect();
        // Π e(z_i·A_i, B_i) · e(Σ_i z_i Σ_j x_ij·ic_j, -γ) · e(Σ z_i·C_i, -δ) = e(α, β)^(Σ z_i)
        let mut scalars = vec![Scalar::ZERO; self.key.ic.len()];
        for ((_, inputs), z) in batch.iter().zip(&factors) {
            scalars[0] += z;
            scalars[1..].iter_mut().zip(inputs).for_each(|(sum, input)| *sum += input * z);
        }
        let x = self.combine_inputs(&scalars)?;
        let c: Vec<G1Affine> = batch.iter().map(|(proof, _)| proof.c).collect();
        let c = sum("proofs' C", &c, &factors)?;
        let loops = batch.par_iter().zip(&factors).map(|((proof, _), z)| {
            let (a, b) = ((proof.a * z).to_affine(), G2Prepared::from(proof.b));
            Bls12::multi_miller_loop(&[(&a, &b)])
        });
        let product = loops.reduce(one, |a, b| a + b)
            + Bls12::multi_miller_loop(&[(&x, &self.neg_gamma), (&c, &self.neg_delta)]);
        if product.final_exponentiation() == self.alpha_beta * scalars[0] {
            return Ok(());
        }
        let bad = batch
            .par_iter()
            .enumerate()
            .find_map_first(|(index, (proof, inputs))| Some((index, self.verify(proof, inputs).err()?)));
        Err(match bad {
            Some((index, source)) => BatchError::Proof { index, source },
            None => BatchError::Inconsistent,
        })
    }
}

/// The empty product of Miller loops.
fn one() -> <Bls12 as MultiMillerLoop>::Result {
    Bls12::multi_miller_loop(&[(&G1Affine::identity(), &G2Prepared::from(G2Affine::generator()))])
}

/// 128 random bits, not all zero.
fn factor(rng: &mut (impl RngCore + CryptoRng)) -> Scalar {
    loop {
        let (low, high) = (rng.next_u64(), rng.next_u64());
        if low | high != 0 {
            let shift = Scalar::from(1 << 32).square();
            return Scalar::from(high) * shift + Scalar::from(low);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_that_fails_is_no_identity() {
        let (points, scalars) = ([G1Affine::generator(); 2], [Scalar::ONE; 3]);
        assert!(matches!(sum("terms", &points, &scalars), Err(VerificationError::Sum { what: "terms", .. })));
        assert_eq!(
            sum("terms", &points, &scalars[..2]),
            Ok((G1Affine::generator() * Scalar::from(2)).to_affine())
        );
    }
}
