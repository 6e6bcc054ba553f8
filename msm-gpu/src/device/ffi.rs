//! The boundary to the kernels. Every wrapper takes guards of the buffers it names, bound to one stream, so that work elsewhere
//! on the same buffers is ordered around it.
#![allow(unsafe_code)]

use std::ffi::c_void;

use blst::{blst_p1, blst_p2};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};
use bytemuck::Pod;
use gpu::Status;

use super::plan::Shape;
use crate::{Curve, G1, G2};

mod bound;
mod decode;
#[cfg(all(test, feature = "host-arithmetic"))]
pub(crate) mod host;
mod select;

pub(crate) use bound::{Bound, Entries, table_length};
pub(crate) use decode::{NO_BAD_POINT, decode};
pub(crate) use select::{Bitmaps, find_bounds, select_bytes};

/// Mirrors `msm::Windows` of windows.cuh.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Windows {
    pub(crate) count: u32,
    pub(crate) offset: [u32; 32],
    pub(crate) width: [u32; 32],
    /// The sum of 2^(offset + width - 1) over all windows but the last.
    pub(crate) bias: [u32; 8],
}

/// Mirrors `msm::Scalars` of windows.cuh.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawScalars {
    words: *const u32,
    scalar_index: *const u32,
    point_index: *const u32,
    count: u32,
    montgomery: u32,
}

/// Mirrors `msm::Space` of entry.cuh.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawSpace {
    slots: *mut c_void,
    ping: u32,
    pong: u32,
    first: *mut u32,
    second: *mut u32,
    target: *mut u32,
    counters: *mut u32,
    heavy: *mut u32,
    heavy_base: *mut u32,
    start: *mut u32,
    length: *mut u32,
    last: *mut u32,
    partition_start: *mut u32,
    partition_next: *mut u32,
    scratch: *mut c_void,
    blocks: u32,
    per_lane: u32,
}

// The kernels' signatures, as they are.
#[allow(clippy::too_many_arguments)]
mod raw {
    use super::{RawScalars, RawSpace, Windows, c_void};

    gpu::entry_points! {
        fn msm_select_bytes(words: u32, bytes: *mut u64);
        fn msm_select_count(ones: *const u64, is_dense: *const u64, density: *const u64, words: u32, counts: *mut c_void,
            temporary: *mut c_void, temporary_bytes: u64, stream: *mut c_void);
        fn msm_select_list(ones: *const u64, is_dense: *const u64, density: *const u64, words: u32, counts: *const c_void,
            ones_list: *mut u32, dense_bases: *mut u32, dense_scalars: *mut u32, stream: *mut c_void);
        fn msm_find_bounds(list: *const u32, count: u32, bounds: *const u32, bound_count: u32, found: *mut u32,
            stream: *mut c_void);
        fn msm_shape_g1(threads: *mut u32, blocks: *mut u32, coordinate_bytes: *mut u32);
        fn msm_accumulate_g1(space: *const RawSpace, windows: *const Windows, first: u32, count: u32,
            scalars: *const RawScalars, bases: *const c_void, bucket_slot: u32, stream: *mut c_void);
        fn msm_merge_g1(space: *const RawSpace, into: u32, from: u32, count: u32, stream: *mut c_void);
        fn msm_reduce_g1(space: *const RawSpace, windows: *const Windows, bucket_slot: u32, sums: *mut c_void,
            stream: *mut c_void);
        fn msm_sum_g1(space: *const RawSpace, bases: *const c_void, list: *const u32, count: u32, sums: *mut c_void,
            stream: *mut c_void);
        fn msm_table_g1(space: *const RawSpace, windows: *const Windows, powers: *const c_void, table: *mut c_void,
            stream: *mut c_void);
        fn msm_multiply_g1(space: *const RawSpace, windows: *const Windows, table: *const c_void, scalars: *const u32,
            montgomery: u32, count: u32, out: *mut c_void, stream: *mut c_void);
        fn msm_decode_g1(points: *mut c_void, count: u32, index: u32, bad: *mut u32, stream: *mut c_void);
        fn msm_shape_g2(threads: *mut u32, blocks: *mut u32, coordinate_bytes: *mut u32);
        fn msm_accumulate_g2(space: *const RawSpace, windows: *const Windows, first: u32, count: u32,
            scalars: *const RawScalars, bases: *const c_void, bucket_slot: u32, stream: *mut c_void);
        fn msm_merge_g2(space: *const RawSpace, into: u32, from: u32, count: u32, stream: *mut c_void);
        fn msm_reduce_g2(space: *const RawSpace, windows: *const Windows, bucket_slot: u32, sums: *mut c_void,
            stream: *mut c_void);
        fn msm_sum_g2(space: *const RawSpace, bases: *const c_void, list: *const u32, count: u32, sums: *mut c_void,
            stream: *mut c_void);
        fn msm_table_g2(space: *const RawSpace, windows: *const Windows, powers: *const c_void, table: *mut c_void,
            stream: *mut c_void);
        fn msm_multiply_g2(space: *const RawSpace, windows: *const Windows, table: *const c_void, scalars: *const u32,
            montgomery: u32, count: u32, out: *mut c_void, stream: *mut c_void);
        fn msm_decode_g2(points: *mut c_void, count: u32, index: u32, bad: *mut u32, stream: *mut c_void);
    }
}

/// A curve whose points the device knows: blst's layout, affine in `Words`, Jacobian in half as many words more.
pub trait DeviceCurve: Curve {
    /// An affine point as 64-bit words: x and y, each in Montgomery form; infinity is all zero.
    type Words: Pod + Send + Sync + std::fmt::Debug + PartialEq;
    /// 64-bit words of a Jacobian point.
    #[doc(hidden)]
    const JACOBIAN_WORDS: usize;
    /// The entry points of this group.
    #[doc(hidden)]
    type Kernels: Kernels;

    /// The points under a name that may lie in a device buffer; no copy.
    fn words(points: &[Self::Affine]) -> &[Self::Words];
    /// The reverse of [`words`](Self::words). Words that are no point of the curve give a value that is none either.
    fn affine(words: &[Self::Words]) -> &[Self::Affine];
    /// A Jacobian point of `JACOBIAN_WORDS` words.
    #[doc(hidden)]
    fn jacobian(words: &[u64]) -> Self::Projective;
}

/// The entry points of one group.
///
/// # Safety
/// Addresses are those of live device buffers of the sizes that entry.cuh states, in use on the stream that is passed.
#[doc(hidden)]
#[allow(clippy::missing_safety_doc, clippy::too_many_arguments, missing_docs)]
pub trait Kernels {
    fn shape(threads: &mut u32, blocks: &mut u32, coordinate_bytes: &mut u32) -> Status;
    unsafe fn accumulate(
        space: &RawSpace,
        windows: *const c_void,
        first: u32,
        count: u32,
        scalars: &RawScalars,
        bases: *const c_void,
        bucket_slot: u32,
        stream: *mut c_void,
    ) -> Status;
    unsafe fn merge(space: &RawSpace, into: u32, from: u32, count: u32, stream: *mut c_void) -> Status;
    unsafe fn reduce(
        space: &RawSpace,
        windows: *const c_void,
        bucket_slot: u32,
        sums: *mut c_void,
        stream: *mut c_void,
    ) -> Status;
    unsafe fn sum(
        space: &RawSpace,
        bases: *const c_void,
        list: *const u32,
        count: u32,
        sums: *mut c_void,
        stream: *mut c_void,
    ) -> Status;
    unsafe fn table(
        space: &RawSpace,
        windows: *const c_void,
        powers: *const c_void,
        table: *mut c_void,
        stream: *mut c_void,
    ) -> Status;
    unsafe fn multiply(
        space: &RawSpace,
        windows: *const c_void,
        table: *const c_void,
        scalars: *const u32,
        montgomery: bool,
        count: u32,
        out: *mut c_void,
        stream: *mut c_void,
    ) -> Status;
    unsafe fn decode(
        points: *mut c_void,
        count: u32,
        index: u32,
        bad: *mut u32,
        stream: *mut c_void,
    ) -> Status;
}

/// [`Kernels`] of G1.
#[derive(Debug)]
#[doc(hidden)]
pub struct G1Kernels;
/// [`Kernels`] of G2.
#[derive(Debug)]
#[doc(hidden)]
pub struct G2Kernels;

macro_rules! device_curve {
    ($curve:ty, $kernels:ident, $affine:ty, $projective:ty, $blst:ident, $words:literal, $shape:ident, $accumulate:ident, $merge:ident,
     $reduce:ident, $sum:ident, $table:ident, $multiply:ident, $decode:ident, |$limbs:ident| $coordinate:expr) => {
        impl Kernels for $kernels {
            fn shape(threads: &mut u32, blocks: &mut u32, coordinate_bytes: &mut u32) -> Status {
                // SAFETY: three live numbers to write.
                unsafe { raw::$shape(threads, blocks, coordinate_bytes) }
            }
            unsafe fn accumulate(
                space: &RawSpace,
                windows: *const c_void,
                first: u32,
                count: u32,
                scalars: &RawScalars,
                bases: *const c_void,
                bucket_slot: u32,
                stream: *mut c_void,
            ) -> Status {
                // SAFETY: the caller's promise.
                unsafe {
                    raw::$accumulate(space, windows.cast(), first, count, scalars, bases, bucket_slot, stream)
                }
            }
            unsafe fn merge(
                space: &RawSpace,
                into: u32,
                from: u32,
                count: u32,
                stream: *mut c_void,
            ) -> Status {
                // SAFETY: the caller's promise.
                unsafe { raw::$merge(space, into, from, count, stream) }
            }
            unsafe fn reduce(
                space: &RawSpace,
                windows: *const c_void,
                bucket_slot: u32,
                sums: *mut c_void,
                stream: *mut c_void,
            ) -> Status {
                // SAFETY: the caller's promise.
                unsafe { raw::$reduce(space, windows.cast(), bucket_slot, sums, stream) }
            }
            unsafe fn sum(
                space: &RawSpace,
                bases: *const c_void,
                list: *const u32,
                count: u32,
                sums: *mut c_void,
                stream: *mut c_void,
            ) -> Status {
                // SAFETY: the caller's promise.
                unsafe { raw::$sum(space, bases, list, count, sums, stream) }
            }
            unsafe fn table(
                space: &RawSpace,
                windows: *const c_void,
                powers: *const c_void,
                table: *mut c_void,
                stream: *mut c_void,
            ) -> Status {
                // SAFETY: the caller's promise.
                unsafe { raw::$table(space, windows.cast(), powers, table, stream) }
            }
            unsafe fn multiply(
                space: &RawSpace,
                windows: *const c_void,
                table: *const c_void,
                scalars: *const u32,
                montgomery: bool,
                count: u32,
                out: *mut c_void,
                stream: *mut c_void,
            ) -> Status {
                // SAFETY: the caller's promise.
                unsafe {
                    raw::$multiply(
                        space,
                        windows.cast(),
                        table,
                        scalars,
                        montgomery.into(),
                        count,
                        out,
                        stream,
                    )
                }
            }
            unsafe fn decode(
                points: *mut c_void,
                count: u32,
                index: u32,
                bad: *mut u32,
                stream: *mut c_void,
            ) -> Status {
                // SAFETY: the caller's promise.
                unsafe { raw::$decode(points, count, index, bad, stream) }
            }
        }

        const _: () = assert!(
            size_of::<$affine>() == size_of::<[u64; $words]>() && align_of::<$affine>() == align_of::<u64>()
        );
        const _: () = assert!(size_of::<$blst>() == 3 * size_of::<[u64; $words]>() / 2);

        impl DeviceCurve for $curve {
            type Words = [u64; $words];
            const JACOBIAN_WORDS: usize = $words / 2 * 3;
            type Kernels = $kernels;

            fn words(points: &[$affine]) -> &[Self::Words] {
                // SAFETY: the affine point is a transparent wrapper of blst's, which is `$words` u64 without padding; size and
                // alignment are asserted above.
                unsafe { std::slice::from_raw_parts(points.as_ptr().cast(), points.len()) }
            }
            fn affine(words: &[Self::Words]) -> &[$affine] {
                // SAFETY: as above; every bit pattern of u64 is a value of the type.
                unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len()) }
            }
            fn jacobian(words: &[u64]) -> $projective {
                let mut coordinates = words.chunks_exact($words / 2).map(|$limbs| $coordinate);
                let mut next = || coordinates.next().unwrap_or_default();
                let mut out = <$projective as group::Group>::identity();
                *out.as_mut() = $blst { x: next(), y: next(), z: next() };
                out
            }
        }
    };
}

fn fp(limbs: &[u64]) -> blst::blst_fp {
    let mut out = blst::blst_fp::default();
    out.l.iter_mut().zip(limbs).for_each(|(to, from)| *to = *from);
    out
}

device_curve!(
    G1,
    G1Kernels,
    G1Affine,
    G1Projective,
    blst_p1,
    12,
    msm_shape_g1,
    msm_accumulate_g1,
    msm_merge_g1,
    msm_reduce_g1,
    msm_sum_g1,
    msm_table_g1,
    msm_multiply_g1,
    msm_decode_g1,
    |limbs| fp(limbs)
);
device_curve!(
    G2,
    G2Kernels,
    G2Affine,
    G2Projective,
    blst_p2,
    24,
    msm_shape_g2,
    msm_accumulate_g2,
    msm_merge_g2,
    msm_reduce_g2,
    msm_sum_g2,
    msm_table_g2,
    msm_multiply_g2,
    msm_decode_g2,
    |limbs| blst::blst_fp2 { fp: [fp(limbs), fp(limbs.get(6..).unwrap_or_default())] }
);

pub(crate) fn shape<C: DeviceCurve>() -> Result<Shape, gpu::Error> {
    let mut shape = Shape { threads: 0, blocks: 0, coordinate_bytes: 0 };
    C::Kernels::shape(&mut shape.threads, &mut shape.blocks, &mut shape.coordinate_bytes).into_result()?;
    Ok(shape)
}

fn expect(what: &'static str, expected: usize, got: usize) -> Result<(), gpu::Error> {
    if expected == got {
        return Ok(());
    }
    Err(gpu::Error::Length { what, expected: expected as u64, got: got as u64 })
}

/// An error unless elements `at .. at + count` exist.
fn within(what: &'static str, length: usize, at: usize, count: usize) -> Result<(), gpu::Error> {
    if at.checked_add(count).is_some_and(|end| end <= length) {
        return Ok(());
    }
    Err(gpu::Error::Length { what, expected: length as u64, got: at.saturating_add(count) as u64 })
}
