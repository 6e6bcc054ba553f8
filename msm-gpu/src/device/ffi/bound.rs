//! A workspace in use, and what runs in it: the entry points of entry.cuh.

use std::ffi::c_void;
use std::marker::PhantomData;

use gpu::{DeviceBuffer, Read, Stream, Write};

use super::{DeviceCurve, Kernels, RawScalars, RawSpace, Windows, expect, within};
use crate::device::plan::{Layout, PARTITIONS};

impl std::fmt::Debug for RawSpace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RawSpace").finish_non_exhaustive()
    }
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
    _guards: (Write<'a, C::Words>, Write<'a, u32>, Write<'a, u8>),
    curve: PhantomData<C>,
}

impl<'a, C: DeviceCurve> Bound<'a, C> {
    /// Names the parts of the buffers, which must have the sizes of the layout.
    pub(crate) fn new(
        layout: &Layout,
        slots: &'a mut DeviceBuffer<C::Words>,
        words: &'a mut DeviceBuffer<u32>,
        scratch: &'a mut DeviceBuffer<u8>,
        stream: &'a Stream,
    ) -> Result<Self, gpu::Error> {
        let lengths = layout.words();
        expect("the slots of a workspace", layout.slots()[4] as usize, slots.len())?;
        expect("the words of a workspace", lengths.iter().sum::<u64>() as usize, words.len())?;
        expect("the additions' scratch", layout.scratch_bytes as usize, scratch.len())?;
        let guards = (slots.write(stream)?, words.write(stream)?, scratch.write(stream)?);
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
        let (first, second, target) = (part(), part(), part());
        let (start, length, last, heavy, heavy_base) = (part(), part(), part(), part(), part());
        let (partition_start, partition_next) = (part(), part());
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
            start,
            length,
            last,
            partition_start,
            partition_next,
            scratch: guards.2.pointer(),
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
        // The digits lie where the first and second points of the additions come later.
        within(
            "the workspace's digits",
            2 * self.layout.descriptors as usize,
            0,
            self.layout.entries as usize,
        )?;
        let partitions = PARTITIONS * u64::from(count) + 1;
        within("the workspace's partitions", self.layout.partitions as usize, 0, partitions as usize)?;
        within("the workspace's slots", self.slots as usize, bucket_slot as usize, buckets as usize)?;
        if entries.index.is_none() {
            within("the bases of a pass", bases.len(), skip, entries.count)?;
        }
        let scalars = entries.raw()?;
        let origin = bases.pointer().cast::<C::Words>().wrapping_add(skip).wrapping_sub(first_base);
        let _span = self.stream.span("fill buckets", entries.count * count as usize);
        // SAFETY: the workspace has the layout's sizes, which hold this pass as checked; scalars and bases are as long as the
        // entries say (an index is one of a selection over these very bases); all are in use on the stream.
        unsafe {
            C::Kernels::accumulate(
                &self.space,
                std::ptr::from_ref(windows).cast(),
                pass.start,
                count,
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
        let _span = self.stream.span("merge buckets", count as usize);
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
        let line_bytes = windows.line_points() as usize * 2 * size_of::<C::Words>();
        within("the workspace's scratch", self.layout.scratch_bytes as usize, 0, line_bytes)?;
        let _span = self.stream.span("reduce buckets", buckets as usize);
        // SAFETY: regions, descriptors, scratch and sums are large enough, as checked.
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

    /// Leaves in group `part` of `sums` 64 Jacobian points whose sum is that of the bases in entries `at .. at + count` of the list.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn sum(
        &mut self,
        bases: &Read<'_, C::Words>,
        first_base: usize,
        list: &Read<'_, u32>,
        at: usize,
        count: usize,
        sums: &Write<'_, u64>,
        part: usize,
    ) -> Result<(), gpu::Error> {
        within("the list of ones", list.len(), at, count)?;
        within("the workspace's descriptors", self.layout.descriptors as usize, 0, count / 2)?;
        within("the workspace's first region", self.layout.ping as usize, 0, count.div_ceil(2))?;
        let group = 64 * C::JACOBIAN_WORDS;
        within("the partial sums", sums.len(), part.saturating_mul(group), group)?;
        let sums = sums.pointer().cast::<u64>().wrapping_add(part * group);
        let origin = bases.pointer().cast::<C::Words>().wrapping_sub(first_base);
        let list = list.pointer().cast::<u32>().wrapping_add(at);
        let _span = self.stream.span("add points", count);
        // SAFETY: regions, descriptors and sums are large enough, as checked; the list is one of a selection over these bases.
        unsafe {
            C::Kernels::sum(&self.space, origin.cast(), list, count as u32, sums.cast(), self.stream.raw()?)
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
