//! The arithmetic of the CUDA headers, compiled for the host: the same carry chains, word by word, without a device.
//! For tests.

use crate::Fr;

/// An operation of `fr.cuh`. Operands and results are Montgomery limbs and canonical unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum FrOperation {
    /// a + b.
    Add = 0,
    /// a - b.
    Sub = 1,
    /// a·b/2^256, a below r and b any 256-bit value.
    Mul = 2,
    /// -a.
    Neg = 3,
    /// The integer that a stands for.
    ToCanonical = 4,
    /// Montgomery form of any 256-bit integer.
    FromCanonical = 5,
    /// a or a - r, for a below 2r.
    Reduce = 6,
    /// a - b + r, not reduced.
    SubLazy = 7,
    /// a + b, not reduced.
    AddLazy = 8,
    /// a·b/2^256 with a as a known factor, for b below 2r.
    MulFactor = 9,
    /// The same, or r more.
    MulFactorLazy = 10,
}

unsafe extern "C" {
    fn gpu_host_fr(operation: i32, a: *const Aligned, b: *const Aligned, out: *mut Aligned) -> bool;
    fn gpu_host_fr_pow(a: *const Aligned, exponent: u64, out: *mut Aligned);
    fn gpu_host_selftest_fr(out: *mut Aligned);
}

/// `Fr` of the header is aligned to 16 bytes.
#[repr(C, align(16))]
#[derive(Clone, Copy, Default)]
struct Aligned([u64; 4]);

/// Computes one operation on limbs.
pub fn fr(operation: FrOperation, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    let mut out = Aligned::default();
    // SAFETY: three live values of the header's size and alignment; the operation is one that it knows.
    let known = unsafe { gpu_host_fr(operation as i32, &Aligned(a), &Aligned(b), &mut out) };
    debug_assert!(known);
    out.0
}

/// a to a power.
pub fn fr_pow(a: &Fr, exponent: u64) -> [u64; 4] {
    let mut out = Aligned::default();
    // SAFETY: two live values of the header's size and alignment.
    unsafe { gpu_host_fr_pow(&Aligned(a.montgomery_limbs()), exponent, &mut out) };
    out.0
}

/// The answer of the Fr chain of `selftest.cuh`.
pub fn selftest_fr() -> [u64; 4] {
    let mut out = Aligned::default();
    // SAFETY: a live value of the header's size and alignment.
    unsafe { gpu_host_selftest_fr(&mut out) };
    out.0
}
