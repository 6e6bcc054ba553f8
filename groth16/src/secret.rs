//! Scalars that must not outlive their use.

use std::fmt;

use blstrs::Scalar;
use ff::Field;
use rand_core::{CryptoRng, RngCore};
use thiserror::Error;
use zeroize::{DefaultIsZeroes, Zeroize};

/// A scalar that overwrites itself when dropped.
///
/// Copies that the compiler makes in registers and on the stack are beyond its reach.
#[derive(Clone, Copy, Default)]
struct Plain(Scalar);

impl DefaultIsZeroes for Plain {}

/// A secret scalar: not printable, not clonable, wiped when dropped.
pub(crate) struct Secret(Plain);

impl Secret {
    pub(crate) fn new(value: Scalar) -> Self {
        Self(Plain(value))
    }

    /// Uniform among the non-zero scalars.
    pub(crate) fn random(rng: &mut (impl RngCore + CryptoRng)) -> Self {
        loop {
            let secret = Self::new(Scalar::random(&mut *rng));
            if !bool::from(secret.get().is_zero()) {
                return secret;
            }
        }
    }

    pub(crate) fn get(&self) -> &Scalar {
        &self.0.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// Overwrites values that reveal a secret. The compiler cannot tell that nobody looks at them afterwards.
pub(crate) fn wipe(values: &mut [Scalar]) {
    values.fill(Scalar::ZERO);
    std::hint::black_box(values);
}

/// A vector of values that reveal a secret, wiped when dropped.
pub(crate) struct SecretVec(pub(crate) Vec<Scalar>);

impl SecretVec {
    /// The values at `count` indices. A vector that grew would leave its earlier copies behind, unwiped.
    pub(crate) fn gather(count: usize, values: &Self, indices: impl Iterator<Item = usize>) -> Self {
        let mut out = Self(vec![Scalar::ZERO; count]);
        for (out, index) in out.0.iter_mut().zip(indices) {
            *out = values.0[index];
        }
        out
    }
}

impl Drop for SecretVec {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// A zero where a secret must not be zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{0} must not be zero")]
pub struct ZeroSecret(pub &'static str);

/// The `r` and `s` that make a proof zero-knowledge: fresh for each proof, never zero, wiped when dropped.
///
/// There is no default and no way to leave them out.
pub struct Randomness {
    pub(crate) r: Secret,
    pub(crate) s: Secret,
}

impl Randomness {
    /// Uniform, non-zero `r` and `s`.
    pub fn random(rng: &mut (impl RngCore + CryptoRng)) -> Self {
        Self { r: Secret::random(rng), s: Secret::random(rng) }
    }

    /// Given `r` and `s`, to reproduce a proof. Using them for two witnesses reveals a relation between these.
    pub fn fixed(r: Scalar, s: Scalar) -> Result<Self, ZeroSecret> {
        for (name, value) in [("r", &r), ("s", &s)] {
            if bool::from(value.is_zero()) {
                return Err(ZeroSecret(name));
            }
        }
        Ok(Self { r: Secret::new(r), s: Secret::new(s) })
    }
}

impl fmt::Debug for Randomness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Randomness(..)")
    }
}

/// The trapdoor of a setup: whoever knows it can prove anything. Wiped when dropped.
pub struct ToxicWaste {
    pub(crate) alpha: Secret,
    pub(crate) beta: Secret,
    pub(crate) gamma: Secret,
    pub(crate) delta: Secret,
    pub(crate) tau: Secret,
}

impl ToxicWaste {
    /// Uniform, non-zero values, `gamma` not one either, which is Filecoin's ceremonies' ([`VerifyingKey::gamma_is_one`](crate::VerifyingKey::gamma_is_one)); those of a seeded generator can be had again by whoever knows the seed.
    pub fn random(rng: &mut (impl RngCore + CryptoRng)) -> Self {
        let [alpha, beta, mut gamma, delta, tau] = std::array::from_fn(|_| Secret::random(rng));
        while *gamma.get() == Scalar::ONE {
            gamma = Secret::random(rng);
        }
        Self { alpha, beta, gamma, delta, tau }
    }

    /// Given values, none of them zero.
    pub fn new(
        alpha: Scalar,
        beta: Scalar,
        gamma: Scalar,
        delta: Scalar,
        tau: Scalar,
    ) -> Result<Self, ZeroSecret> {
        let values = [("alpha", alpha), ("beta", beta), ("gamma", gamma), ("delta", delta), ("tau", tau)];
        if let Some((name, _)) = values.iter().find(|(_, value)| bool::from(value.is_zero())) {
            return Err(ZeroSecret(name));
        }
        let [alpha, beta, gamma, delta, tau] = values.map(|(_, value)| Secret::new(value));
        Ok(Self { alpha, beta, gamma, delta, tau })
    }

    /// Another one with the same values, to be wiped like this one.
    pub(crate) fn copy(&self) -> Self {
        let all = [&self.alpha, &self.beta, &self.gamma, &self.delta, &self.tau];
        let [alpha, beta, gamma, delta, tau] = all.map(|secret| Secret::new(*secret.get()));
        Self { alpha, beta, gamma, delta, tau }
    }
}

impl fmt::Debug for ToxicWaste {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToxicWaste(..)")
    }
}
