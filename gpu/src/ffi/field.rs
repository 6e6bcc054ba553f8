//! Field elements as they lie in device buffers.

use blstrs::Scalar;
use bytemuck::{Pod, TransparentWrapper, Zeroable};

/// An element of the scalar field: [`Scalar`] under a name that may lie in a buffer.
///
/// Both are four little-endian 64-bit limbs in Montgomery form (R = 2^256), so slices convert without a copy:
/// `Fr::wrap_slice(scalars)` and `Fr::peel_slice(elements)` of [`TransparentWrapper`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Fr(pub Scalar);

// SAFETY: `Scalar` is a transparent wrapper of four u64; zero is the element 0.
unsafe impl Zeroable for Fr {}
// SAFETY: four u64 without padding, for which every bit pattern is a value. A pattern not below r is no canonical element;
// arithmetic on one is wrong but not undefined.
unsafe impl Pod for Fr {}
// SAFETY: `repr(transparent)` over `Scalar`.
unsafe impl TransparentWrapper<Scalar> for Fr {}

impl Fr {
    /// The four limbs of the Montgomery form, least significant first.
    pub fn montgomery_limbs(&self) -> [u64; 4] {
        bytemuck::cast(*self)
    }
}
