//! The boundary to the kernels. Every wrapper takes guards of the buffers it names, bound to one stream, so that work elsewhere
//! on the same buffers is ordered around it.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::marker::PhantomData;

use blst::{blst_p1, blst_p2};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};
use bytemuck::Pod;
use gpu::{DeviceBuffer, Read, Status, Stream, Write};

use super::plan::{Layout, Shape};
use crate::{Curve, G1, G2};

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
    keys: *mut u32,
    keys_other: *mut u32,
    values: *mut u32,
    values_other: *mut u32,
    start: *mut u32,
    length: *mut u32,
    temporary: *mut c_void,
    temporary_bytes: u64,
    scratch: *mut c_void,
    blocks: u32,
    per_lane: u32,
}

mod raw {
    use super::{RawScalars, RawSpace, Windows, c_void};

    gpu::entry_points! {
        fn msm_sort_bytes(pairs: u64, bytes: *mut u64);
        fn msm_select_bytes(words: u32, bytes: *mut u64);
        fn msm_select_count(ones: *const u64, is_dense: *const u64, density: *const u64, words: u32, counts: *mut c_void,
            temporary: *mut c_void, temporary_bytes: u64, stream: *mut c_void);
        fn msm_select_list(ones: *const u64, is_dense: *const u64, density: *const u64, words: u32, counts: *const c_void,
            ones_list: *mut u32, dense_bases: *mut u32, dense_scalars: *mut u32, stream: *mut c_void);
        fn msm_find_bounds(list: *const u32, count: u32, bounds: *const u32, bound_count: u32, found: *mut u32,
            stream: *mut c_void);
        fn msm_shape_g1(threads: *mut u32, blocks: *mut u32, coordinate_bytes: *mut u32);
        fn msm_accumulate_g1(space: *const RawSpace, windows: *const Windows, first: u32, count: u32, merged: u32,
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
        fn msm_shape_g2(threads: *mut u32, blocks: *mut u32, coordinate_bytes: *mut u32);
        fn msm_accumulate_g2(space: *const RawSpace, windows: *const Windows, first: u32, count: u32, merged: u32,
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
        merged: bool,
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
     $reduce:ident, $sum:ident, $table:ident, $multiply:ident, |$limbs:ident| $coordinate:expr) => {
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
                merged: bool,
                scalars: &RawScalars,
                bases: *const c_void,
                bucket_slot: u32,
                stream: *mut c_void,
            ) -> Status {
                // SAFETY: the caller's promise.
                unsafe {
                    raw::$accumulate(
                        space,
                        windows.cast(),
                        first,
                        count,
                        merged.into(),
                        scalars,
                        bases,
                        bucket_slot,
                        stream,
                    )
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
    |limbs| blst::blst_fp2 { fp: [fp(limbs), fp(limbs.get(6..).unwrap_or_default())] }
);

pub(crate) fn shape<C: DeviceCurve>() -> Result<Shape, gpu::Error> {
    let mut shape = Shape { threads: 0, blocks: 0, coordinate_bytes: 0 };
    C::Kernels::shape(&mut shape.threads, &mut shape.blocks, &mut shape.coordinate_bytes).into_result()?;
    Ok(shape)
}

pub(crate) fn sort_bytes(pairs: u64) -> Result<u64, gpu::Error> {
    let mut bytes = 0;
    // SAFETY: a live number to write.
    unsafe { raw::msm_sort_bytes(pairs, &mut bytes) }.into_result()?;
    Ok(bytes)
}

pub(crate) fn select_bytes(words: u32) -> Result<u64, gpu::Error> {
    let mut bytes = 0;
    // SAFETY: a live number to write.
    unsafe { raw::msm_select_bytes(words, &mut bytes) }.into_result()?;
    Ok(bytes)
}

/// Bitmaps on the device, of equally many words.
#[derive(Debug)]
pub(crate) struct Bitmaps<'a> {
    pub(crate) ones: Read<'a, u64>,
    pub(crate) is_dense: Read<'a, u64>,
    pub(crate) density: Option<Read<'a, u64>>,
}

impl Bitmaps<'_> {
    fn words(&self) -> Result<u32, gpu::Error> {
        let words = self.ones.len();
        for other in [Some(&self.is_dense), self.density.as_ref()].into_iter().flatten() {
            expect("a bitmap", words, other.len())?;
        }
        u32::try_from(words).map_err(|_| gpu::Error::Length {
            what: "a bitmap",
            expected: u32::MAX.into(),
            got: words as u64,
        })
    }

    fn density(&self) -> *const u64 {
        self.density.as_ref().map_or(std::ptr::null(), |read| read.pointer().cast())
    }

    /// Counts what each word holds and sums the counts; `counts` has four numbers for each word and four more.
    pub(crate) fn count(
        &self,
        counts: &Write<'_, u32>,
        temporary: &Write<'_, u8>,
        stream: &Stream,
    ) -> Result<(), gpu::Error> {
        let words = self.words()?;
        expect("the counts of a selection", 4 * (words as usize + 1), counts.len())?;
        // SAFETY: bitmaps of `words` words, counts of one entry more, and a scratch whose length is passed; all in use on the stream.
        unsafe {
            raw::msm_select_count(
                self.ones.pointer().cast(),
                self.is_dense.pointer().cast(),
                self.density(),
                words,
                counts.pointer(),
                temporary.pointer(),
                temporary.len() as u64,
                stream.raw()?,
            )
        }
        .into_result()
    }

    /// Writes the lists, whose lengths are the totals in the last entry of `counts`.
    pub(crate) fn list(
        &self,
        counts: &Read<'_, u32>,
        totals: (usize, usize),
        ones: &Write<'_, u32>,
        dense_bases: &Write<'_, u32>,
        dense_scalars: &Write<'_, u32>,
        stream: &Stream,
    ) -> Result<(), gpu::Error> {
        let words = self.words()?;
        expect("the counts of a selection", 4 * (words as usize + 1), counts.len())?;
        expect("the list of ones", totals.0, ones.len())?;
        expect("the list of dense bases", totals.1, dense_bases.len())?;
        expect("the list of dense scalars", totals.1, dense_scalars.len())?;
        // SAFETY: as in `count`; the lists have the lengths that the counts of these bitmaps add up to.
        unsafe {
            raw::msm_select_list(
                self.ones.pointer().cast(),
                self.is_dense.pointer().cast(),
                self.density(),
                words,
                counts.pointer(),
                ones.pointer().cast(),
                dense_bases.pointer().cast(),
                dense_scalars.pointer().cast(),
                stream.raw()?,
            )
        }
        .into_result()
    }
}

/// found[i] = how many entries of the rising list are below bounds[i].
pub(crate) fn find_bounds(
    list: &Read<'_, u32>,
    bounds: &Read<'_, u32>,
    found: &Write<'_, u32>,
    stream: &Stream,
) -> Result<(), gpu::Error> {
    expect("the bounds found", bounds.len(), found.len())?;
    // SAFETY: three buffers in use on the stream, with the lengths passed.
    unsafe {
        raw::msm_find_bounds(
            list.pointer().cast(),
            list.len() as u32,
            bounds.pointer().cast(),
            bounds.len() as u32,
            found.pointer().cast(),
            stream.raw()?,
        )
    }
    .into_result()
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

/// Scalars of one pass: elements `at .. at + count` of the words, or what the index says.
#[derive(Debug)]
pub(crate) struct Entries<'a> {
    /// The scalars, 8 words of 32 bits each.
    pub(crate) scalars: *const c_void,
    /// How many scalars are there.
    pub(crate) available: usize,
    /// Which bases and which scalars, where not those of the same number.
    pub(crate) index: Option<(&'a Read<'a, u32>, &'a Read<'a, u32>)>,
    pub(crate) at: usize,
    pub(crate) count: usize,
    pub(crate) montgomery: bool,
}

impl Entries<'_> {
    fn raw(&self) -> Result<RawScalars, gpu::Error> {
        let words: *const u32 = self.scalars.cast();
        let count = self.count as u32;
        let montgomery = self.montgomery.into();
        Ok(match self.index {
            None => {
                within("the scalars of a pass", self.available, self.at, self.count)?;
                let (scalar_index, point_index) = (std::ptr::null(), std::ptr::null());
                RawScalars {
                    words: words.wrapping_add(8 * self.at),
                    scalar_index,
                    point_index,
                    count,
                    montgomery,
                }
            }
            Some((bases, scalars)) => {
                within("the bases of a pass", bases.len(), self.at, self.count)?;
                within("the scalars of a pass", scalars.len(), self.at, self.count)?;
                let part = |list: &Read<'_, u32>| list.pointer().cast::<u32>().wrapping_add(self.at);
                RawScalars { words, scalar_index: part(scalars), point_index: part(bases), count, montgomery }
            }
        })
    }
}

/// A workspace in use on one stream.
#[derive(Debug)]
pub(crate) struct Bound<'a, C: DeviceCurve> {
    space: RawSpace,
    slots: u64,
    layout: Layout,
    stream: &'a Stream,
    _guards: (Write<'a, C::Words>, Write<'a, u32>, Write<'a, u8>, Write<'a, u8>),
    curve: PhantomData<C>,
}

impl std::fmt::Debug for RawSpace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RawSpace").finish_non_exhaustive()
    }
}

impl<'a, C: DeviceCurve> Bound<'a, C> {
    /// Names the parts of the buffers, which must have the sizes of the layout.
    pub(crate) fn new(
        layout: &Layout,
        slots: &'a mut DeviceBuffer<C::Words>,
        words: &'a mut DeviceBuffer<u32>,
        sort: &'a mut DeviceBuffer<u8>,
        scratch: &'a mut DeviceBuffer<u8>,
        stream: &'a Stream,
    ) -> Result<Self, gpu::Error> {
        let lengths = layout.words();
        expect("the slots of a workspace", layout.slots()[4] as usize, slots.len())?;
        expect("the words of a workspace", lengths.iter().sum::<u64>() as usize, words.len())?;
        expect("the sort's scratch", layout.sort_bytes as usize, sort.len())?;
        expect("the additions' scratch", layout.scratch_bytes as usize, scratch.len())?;
        let guards =
            (slots.write(stream)?, words.write(stream)?, sort.write(stream)?, scratch.write(stream)?);
        let mut next: *mut u32 = guards.1.pointer().cast();
        let mut parts = lengths
            .map(|length| {
                let part = next;
                next = next.wrapping_add(length as usize);
                part
            })
            .into_iter();
        let mut part = || parts.next().unwrap_or(std::ptr::null_mut());
        let [ping, pong, ..] = layout.slots();
        let counters = part();
        let (keys, keys_other, values, values_other) = (part(), part(), part(), part());
        let (first, second, target) = (part(), part(), part());
        let (start, length, heavy, heavy_base) = (part(), part(), part(), part());
        let space = RawSpace {
            slots: guards.0.pointer(),
            ping: ping as u32,
            pong: pong as u32,
            first,
            second,
            target,
            counters,
            heavy,
            heavy_base,
            keys,
            keys_other,
            values,
            values_other,
            start,
            length,
            temporary: guards.2.pointer(),
            temporary_bytes: layout.sort_bytes,
            scratch: guards.3.pointer(),
            blocks: layout.blocks,
            per_lane: layout.per_lane,
        };
        Ok(Self {
            space,
            slots: layout.slots()[4],
            layout: *layout,
            stream,
            _guards: guards,
            curve: PhantomData,
        })
    }

    /// Sums the points of each bucket of some windows into the bucket array at `bucket_slot`. Base 0 of `bases` is the base
    /// that the index of the entries calls `first_base`; without an index, entry 0 is base `skip`.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn accumulate(
        &mut self,
        windows: &Windows,
        pass: std::ops::Range<u32>,
        entries: &Entries<'_>,
        bases: &Read<'_, C::Words>,
        first_base: usize,
        skip: usize,
        bucket_slot: u64,
    ) -> Result<(), gpu::Error> {
        let count = pass.end - pass.start;
        let buckets = windows.buckets(pass.clone());
        within("the workspace's entries", self.layout.entries as usize, 0, entries.count * count as usize)?;
        within("the workspace's buckets", self.layout.pass_buckets as usize, 0, buckets as usize)?;
        within("the workspace's slots", self.slots as usize, bucket_slot as usize, buckets as usize)?;
        if entries.index.is_none() {
            within("the bases of a pass", bases.len(), skip, entries.count)?;
        }
        let scalars = entries.raw()?;
        let origin = bases.pointer().cast::<C::Words>().wrapping_add(skip).wrapping_sub(first_base);
        let merged = entries.count < super::plan::MERGED_BELOW && count > 1;
        // SAFETY: the workspace has the layout's sizes, which hold this pass as checked; scalars and bases are as long as the
        // entries say (an index is one of a selection over these very bases); all are in use on the stream.
        unsafe {
            C::Kernels::accumulate(
                &self.space,
                std::ptr::from_ref(windows).cast(),
                pass.start,
                count,
                merged,
                &scalars,
                origin.cast(),
                bucket_slot as u32,
                self.stream.raw()?,
            )
        }
        .into_result()
    }

    /// Adds a bucket array to another.
    pub(crate) fn merge(&mut self, into: u64, from: u64, count: u64) -> Result<(), gpu::Error> {
        within("the workspace's slots", self.slots as usize, into as usize, count as usize)?;
        within("the workspace's slots", self.slots as usize, from as usize, count as usize)?;
        within("the workspace's descriptors", self.layout.descriptors as usize, 0, count as usize)?;
        // SAFETY: the slots and descriptors exist, as checked.
        unsafe { C::Kernels::merge(&self.space, into as u32, from as u32, count as u32, self.stream.raw()?) }
            .into_result()
    }

    /// Reduces the buckets of all windows; `sums` has 32 Jacobian points for each window.
    pub(crate) fn reduce(
        &mut self,
        windows: &Windows,
        bucket_slot: u64,
        sums: &Write<'_, u64>,
    ) -> Result<(), gpu::Error> {
        let buckets = windows.all_buckets();
        within("the workspace's slots", self.slots as usize, bucket_slot as usize, buckets as usize)?;
        within("the workspace's descriptors", self.layout.descriptors as usize, 0, buckets as usize)?;
        within(
            "the workspace's regions",
            self.layout.ping.min(self.layout.pong) as usize,
            0,
            (buckets / 2) as usize,
        )?;
        expect("the sums of the windows", windows.count as usize * 32 * C::JACOBIAN_WORDS, sums.len())?;
        // SAFETY: regions, descriptors and sums are large enough, as checked.
        unsafe {
            C::Kernels::reduce(
                &self.space,
                std::ptr::from_ref(windows).cast(),
                bucket_slot as u32,
                sums.pointer(),
                self.stream.raw()?,
            )
        }
        .into_result()
    }

    /// Leaves in `sums` 64 Jacobian points whose sum is that of the bases in entries `at .. at + count` of the list.
    pub(crate) fn sum(
        &mut self,
        bases: &Read<'_, C::Words>,
        first_base: usize,
        list: &Read<'_, u32>,
        at: usize,
        count: usize,
        sums: &Write<'_, u64>,
    ) -> Result<(), gpu::Error> {
        within("the list of ones", list.len(), at, count)?;
        within("the workspace's descriptors", self.layout.descriptors as usize, 0, count / 2)?;
        within("the workspace's first region", self.layout.ping as usize, 0, count.div_ceil(2))?;
        within("the workspace's second region", self.layout.pong as usize, 0, count.div_ceil(2).div_ceil(2))?;
        expect("the partial sums", 64 * C::JACOBIAN_WORDS, sums.len())?;
        let origin = bases.pointer().cast::<C::Words>().wrapping_sub(first_base);
        let part = list.pointer().cast::<u32>().wrapping_add(at);
        // SAFETY: regions, descriptors and sums are large enough, as checked; the list is one of a selection over these bases.
        unsafe {
            C::Kernels::sum(
                &self.space,
                origin.cast(),
                part,
                count as u32,
                sums.pointer(),
                self.stream.raw()?,
            )
        }
        .into_result()
    }

    /// Fills the table of a fixed base from its powers, one for each window.
    pub(crate) fn table(
        &mut self,
        windows: &Windows,
        powers: &Read<'_, C::Words>,
        table: &Write<'_, C::Words>,
    ) -> Result<(), gpu::Error> {
        expect("the powers of a base", windows.count as usize, powers.len())?;
        expect("the table of a base", table_length(windows), table.len())?;
        within("the workspace's descriptors", self.layout.descriptors as usize, 0, table.len() / 2)?;
        // SAFETY: the table and the descriptors are large enough, as checked.
        unsafe {
            C::Kernels::table(
                &self.space,
                std::ptr::from_ref(windows).cast(),
                powers.pointer(),
                table.pointer(),
                self.stream.raw()?,
            )
        }
        .into_result()
    }

    /// Multiplies the table's base by scalars `at ..` into the points from `at` on, `count` of them.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn multiply(
        &mut self,
        windows: &Windows,
        table: &Read<'_, C::Words>,
        scalars: &Read<'_, gpu::Fr>,
        at: usize,
        count: usize,
        out: &Write<'_, C::Words>,
        out_at: usize,
    ) -> Result<(), gpu::Error> {
        expect("the table of a base", table_length(windows), table.len())?;
        within("the scalars of a multiplication", scalars.len(), at, count)?;
        within("the points of a multiplication", out.len(), out_at, count)?;
        within("the workspace's descriptors", self.layout.descriptors as usize, 0, count)?;
        let from = scalars.pointer().cast::<gpu::Fr>().wrapping_add(at);
        let to = out.pointer().cast::<C::Words>().wrapping_add(out_at);
        // SAFETY: scalars, points and descriptors exist, as checked.
        unsafe {
            C::Kernels::multiply(
                &self.space,
                std::ptr::from_ref(windows).cast(),
                table.pointer(),
                from.cast(),
                true,
                count as u32,
                to.cast(),
                self.stream.raw()?,
            )
        }
        .into_result()
    }
}

/// Entries of a fixed-base table: infinity, and 2^(width - 1) for each window.
pub(crate) fn table_length(windows: &Windows) -> usize {
    1 + windows.count as usize * (1 << (windows.width[0] - 1))
}
