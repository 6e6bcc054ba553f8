//! The arithmetic of the CUDA headers, compiled for the host: the same carry chains, word by word, without a device. For tests.

use super::{DeviceCurve, Windows};
use crate::{G1, G2};

unsafe extern "C" {
    fn msm_host_fp(operation: i32, lift: i32, a: *const u64, b: *const u64, out: *mut u64) -> bool;
    fn msm_host_fp2(operation: i32, lift: i32, a: *const u64, b: *const u64, out: *mut u64) -> bool;
    fn msm_host_g1(operation: i32, a: *const u64, b: *const u64, out: *mut u64) -> bool;
    fn msm_host_g2(operation: i32, a: *const u64, b: *const u64, out: *mut u64) -> bool;
    fn msm_host_decode_g1(bytes: *const u8, out: *mut u64) -> bool;
    fn msm_host_decode_g2(bytes: *const u8, out: *mut u64) -> bool;
    fn msm_host_group(windows: *const Windows, first: u32, count: u32, n: u32, out: *mut WindowOfGroup);
    fn msm_host_line_points(windows: *const Windows) -> u32;
}

/// An operation of fp.cuh and fp2.cuh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum FieldOperation {
    /// a + b.
    Add = 0,
    /// a - b.
    Sub = 1,
    /// a·b/R.
    Mul = 2,
    /// a²/R.
    Square = 3,
    /// -a.
    Neg = 4,
    /// The Montgomery form of the inverse.
    Inverse = 5,
    /// 2a.
    Twice = 6,
    /// a - b by the formula for canonical operands.
    SubCanonical = 7,
    /// -a by the formula for canonical operands.
    NegCanonical = 8,
}

/// An operation of curve.cuh on affine points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum PointOperation {
    /// a + b, both in XYZZ coordinates.
    Add = 0,
    /// a + b, b affine.
    AddAffine = 1,
    /// 2a.
    Double = 2,
    /// 2a + b by both formulas.
    DoubleAndAdd = 3,
}

/// In Fp, on Montgomery limbs. Bit 0 of `lift` adds p to a first, bit 1 to b: the result must not depend on it.
pub(crate) fn fp(operation: FieldOperation, lift: u8, a: &[u64; 6], b: &[u64; 6]) -> Option<[u64; 6]> {
    let mut out = [0; 6];
    // SAFETY: three live arrays of the field's size; the function copies from and to them, so alignment does not matter.
    let known =
        unsafe { msm_host_fp(operation as i32, lift.into(), a.as_ptr(), b.as_ptr(), out.as_mut_ptr()) };
    known.then_some(out)
}

/// The same in Fp2.
pub(crate) fn fp2(operation: FieldOperation, lift: u8, a: &[u64; 12], b: &[u64; 12]) -> Option<[u64; 12]> {
    let mut out = [0; 12];
    // SAFETY: as above.
    let known =
        unsafe { msm_host_fp2(operation as i32, lift.into(), a.as_ptr(), b.as_ptr(), out.as_mut_ptr()) };
    known.then_some(out)
}

/// In G1.
pub(crate) fn g1(
    operation: PointOperation,
    a: &<G1 as DeviceCurve>::Words,
    b: &<G1 as DeviceCurve>::Words,
) -> Option<blstrs::G1Projective> {
    let mut out = [0; 18];
    // SAFETY: two live affine points and room for a Jacobian one.
    let known = unsafe { msm_host_g1(operation as i32, a.as_ptr(), b.as_ptr(), out.as_mut_ptr()) };
    known.then(|| G1::jacobian(&out))
}

/// In G2.
pub(crate) fn g2(
    operation: PointOperation,
    a: &<G2 as DeviceCurve>::Words,
    b: &<G2 as DeviceCurve>::Words,
) -> Option<blstrs::G2Projective> {
    let mut out = [0; 36];
    // SAFETY: as above.
    let known = unsafe { msm_host_g2(operation as i32, a.as_ptr(), b.as_ptr(), out.as_mut_ptr()) };
    known.then(|| G2::jacobian(&out))
}

/// A point of G1 from its encoding in a file; infinity, and false, where that is none.
pub(crate) fn decode_g1(bytes: &[u8; 96]) -> (bool, <G1 as DeviceCurve>::Words) {
    let mut out = [0; 12];
    // SAFETY: a live encoding and room for a point.
    let good = unsafe { msm_host_decode_g1(bytes.as_ptr(), out.as_mut_ptr()) };
    (good, out)
}

/// The same in G2.
pub(crate) fn decode_g2(bytes: &[u8; 192]) -> (bool, <G2 as DeviceCurve>::Words) {
    let mut out = [0; 24];
    // SAFETY: as above.
    let good = unsafe { msm_host_decode_g2(bytes.as_ptr(), out.as_mut_ptr()) };
    (good, out)
}

/// A window of a group, as windows.cuh lays it out for the sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct WindowOfGroup {
    pub(crate) first_bucket: u32,
    pub(crate) first_partition: u32,
    pub(crate) end_partition: u32,
    /// Log of the buckets in a partition.
    pub(crate) low_bits: u32,
}

/// The windows of a pass over `n` points.
pub(crate) fn group_of(windows: &Windows, pass: std::ops::Range<u32>, n: u32) -> Vec<WindowOfGroup> {
    let mut out = vec![WindowOfGroup::default(); pass.len()];
    assert!(pass.end <= windows.count, "{pass:?} of {} windows", windows.count);
    // SAFETY: live windows, of which the pass has some, and room for four numbers for each of them.
    unsafe { msm_host_group(windows, pass.start, pass.len() as u32, n, out.as_mut_ptr()) };
    out
}

/// Points that the last step of the reduction takes.
pub(crate) fn line_points(windows: &Windows) -> u32 {
    // SAFETY: live windows.
    unsafe { msm_host_line_points(windows) }
}
