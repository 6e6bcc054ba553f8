//! Proofs and public inputs as bytes.

use std::fmt;

use blstrs::{G1Affine, G2Affine, Scalar};
use ff::PrimeField;
use msm_gpu::{G1, G2};
use thiserror::Error;

use crate::PointError;
use crate::encoding::decode_checked;

/// A Groth16 proof. Its points are in the prime-order subgroups and not at infinity: see [`from_bytes`](Self::from_bytes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proof {
    pub(crate) a: G1Affine,
    pub(crate) b: G2Affine,
    pub(crate) c: G1Affine,
}

/// One of a proof's points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofPoint {
    /// `A`, in G1.
    A,
    /// `B`, in G2.
    B,
    /// `C`, in G1.
    C,
}

impl fmt::Display for ProofPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Bytes that are no proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ProofError {
    /// A proof has 192 bytes.
    #[error("expected {} bytes, got {got}", Proof::BYTES)]
    Length {
        /// The number of bytes.
        got: usize,
    },
    /// A point is not usable.
    #[error("point {point}: {source}")]
    Point {
        /// Which.
        point: ProofPoint,
        /// What is wrong with it.
        source: PointError,
    },
}

impl Proof {
    /// The length of a proof: `A` (48), `B` (96) and `C` (48), compressed.
    pub const BYTES: usize = 192;

    /// Reads a proof.
    ///
    /// Each point must be canonical, on the curve, in the subgroup of prime order, and not at infinity. Outside the subgroup,
    /// the pairing equation says nothing. At infinity an honest prover's points are with probability `2^-254`; as inputs they
    /// only ever come from faults, so they are refused although the equation would be well defined.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ProofError> {
        let bytes: &[u8; Self::BYTES] =
            bytes.try_into().map_err(|_| ProofError::Length { got: bytes.len() })?;
        let at = |point| move |source| ProofError::Point { point, source };
        Ok(Self {
            a: decode_checked::<G1>(&bytes[..48], true).map_err(at(ProofPoint::A))?,
            b: decode_checked::<G2>(&bytes[48..144], true).map_err(at(ProofPoint::B))?,
            c: decode_checked::<G1>(&bytes[144..], true).map_err(at(ProofPoint::C))?,
        })
    }

    /// The proof's bytes.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut out = [0; Self::BYTES];
        out[..48].copy_from_slice(&self.a.to_compressed());
        out[48..144].copy_from_slice(&self.b.to_compressed());
        out[144..].copy_from_slice(&self.c.to_compressed());
        out
    }

    /// `A`.
    pub fn a(&self) -> &G1Affine {
        &self.a
    }

    /// `B`.
    pub fn b(&self) -> &G2Affine {
        &self.b
    }

    /// `C`.
    pub fn c(&self) -> &G1Affine {
        &self.c
    }
}

/// A public input that is not below the scalar field's modulus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("public input {index} is not below the scalar field's modulus")]
pub struct PublicInputError {
    /// Its index, ONE not counted.
    pub index: usize,
}

/// Public inputs, without ONE, from canonical little-endian bytes.
pub fn public_inputs_from_bytes(bytes: &[[u8; 32]]) -> Result<Vec<Scalar>, PublicInputError> {
    let parse = |(index, bytes): (usize, &[u8; 32])| {
        Scalar::from_repr_vartime(*bytes).ok_or(PublicInputError { index })
    };
    bytes.iter().enumerate().map(parse).collect()
}
