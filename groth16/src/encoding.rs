//! Points as bytes: Zcash's encoding, big-endian, with three flag bits in the first byte.

use blstrs::{G1Affine, G2Affine};
use group::prime::PrimeCurveAffine;
use msm_gpu::{Curve, G1, G2};
use thiserror::Error;

use crate::{Parameters, Section};

/// The first byte's flag bits: compressed, infinity, the greater of two `y`.
const FLAGS: u8 = 0xe0;
const COMPRESSED: u8 = 0x80;

/// The prime of the coordinate field, big-endian.
const MODULUS: [u8; 48] = [
    0x1a, 0x01, 0x11, 0xea, 0x39, 0x7f, 0xe6, 0x9a, 0x4b, 0x1b, 0xa7, 0xb6, 0x43, 0x4b, 0xac, 0xd7, 0x64,
    0x77, 0x4b, 0x84, 0xf3, 0x85, 0x12, 0xbf, 0x67, 0x30, 0xd2, 0xa0, 0xf6, 0xb0, 0xf6, 0x24, 0x1e, 0xab,
    0xff, 0xfe, 0xb1, 0x53, 0xff, 0xff, 0xb9, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xaa, 0xab,
];

/// Why bytes are not a usable point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PointError {
    /// The flag bits contradict the encoding, or each other, or the other bits.
    #[error("flag bits {flags:#04x} do not belong to this encoding")]
    Flags {
        /// The flag bits of the first byte.
        flags: u8,
    },
    /// A coordinate is not below the field's prime.
    #[error("a coordinate is not below the field's modulus")]
    NotCanonical,
    /// No point has these coordinates.
    #[error("not on the curve")]
    NotOnCurve,
    /// The point's order is not the scalar field's.
    #[error("not in the prime-order subgroup")]
    NotInSubgroup,
    /// The point at infinity, where it makes no sense.
    #[error("the point at infinity")]
    Infinity,
}

/// A group whose points have Zcash's encoding.
pub(crate) trait Encoding: Curve {
    /// Bytes of an uncompressed point; half of it compressed.
    const BYTES: usize;
    fn write_uncompressed(point: &Self::Affine, out: &mut [u8]);
    /// The points of a query that is in this group.
    fn section(parameters: &Parameters, query: Section) -> &[Self::Affine];
    /// Canonical and on the curve, or nothing. `bytes` are [`BYTES`](Self::BYTES), or half if compressed.
    fn parse(bytes: &[u8], compressed: bool) -> Option<Self::Affine>;
}

macro_rules! encoding {
    ($curve:ident, $affine:ident, $bytes:expr, $($query:pat => $points:ident),*) => {
        impl Encoding for $curve {
            const BYTES: usize = $bytes;
            fn write_uncompressed(point: &$affine, out: &mut [u8]) {
                out.copy_from_slice(&point.to_uncompressed());
            }
            fn section(parameters: &Parameters, query: Section) -> &[$affine] {
                match query {
                    $($query => &parameters.$points,)*
                    _ => &[],
                }
            }
            fn parse(bytes: &[u8], compressed: bool) -> Option<$affine> {
                // blst's decoding checks that coordinates are canonical and the point is on the curve.
                if compressed {
                    $affine::from_compressed_unchecked(bytes.try_into().ok()?).into()
                } else {
                    $affine::from_uncompressed_unchecked(bytes.try_into().ok()?).into()
                }
            }
        }
    };
}
encoding!(
    G1, G1Affine, 96,
    Section::H => h, Section::L => l, Section::A => a, Section::BG1 => b_g1
);
encoding!(G2, G2Affine, 192, Section::BG2 => b_g2);

/// Reads a point that is canonical, on the curve and not at infinity; the subgroup is not checked.
pub(crate) fn decode<C: Encoding>(bytes: &[u8], compressed: bool) -> Result<C::Affine, PointError> {
    let first = bytes.first().copied().unwrap_or(0);
    let flags = first & FLAGS;
    let right_kind = if compressed { flags & COMPRESSED != 0 } else { flags & COMPRESSED == 0 };
    if right_kind && let Some(point) = C::parse(bytes, compressed) {
        if bool::from(point.is_identity()) {
            return Err(PointError::Infinity);
        }
        return Ok(point);
    }
    // Something is wrong: say what.
    let allowed = if compressed { COMPRESSED | 0x20 } else { 0 };
    if !right_kind || flags & !allowed != 0 {
        return Err(PointError::Flags { flags });
    }
    for (i, coordinate) in bytes.chunks_exact(MODULUS.len()).enumerate() {
        let top = if i == 0 { coordinate[0] & !FLAGS } else { coordinate[0] };
        if (top, &coordinate[1..]) >= (MODULUS[0], &MODULUS[1..]) {
            return Err(PointError::NotCanonical);
        }
    }
    // blst gives (0, ±2), which are on the curve, an error of its own: their order is three.
    let x_is_zero =
        first & !FLAGS == 0 && bytes.iter().skip(1).take(MODULUS.len() - 1).all(|byte| *byte == 0);
    if C::BYTES == G1::BYTES && x_is_zero {
        Err(PointError::NotInSubgroup)
    } else {
        Err(PointError::NotOnCurve)
    }
}

/// [`decode`], and the point is in the subgroup of prime order.
pub(crate) fn decode_checked<C: Encoding>(bytes: &[u8], compressed: bool) -> Result<C::Affine, PointError> {
    let point = decode::<C>(bytes, compressed)?;
    if C::is_in_subgroup(&point) { Ok(point) } else { Err(PointError::NotInSubgroup) }
}
