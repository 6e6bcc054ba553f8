//! How a multiplication is cut up: windows, passes over windows, chunks of points, and the memory all that takes.
//!
//! Nothing here touches a device. Results are the same for every choice.

use std::ops::Range;

use super::ffi::{DeviceCurve, Windows};
use super::windows::MAX_WINDOWS;

/// What the kernels of a group need to know of its points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Threads of a block of the addition kernel.
    pub(crate) threads: u32,
    /// Its blocks on one multiprocessor.
    pub(crate) blocks: u32,
    /// Bytes of a coordinate.
    pub(crate) coordinate_bytes: u32,
}

impl Shape {
    /// That of the kernels for G1; a test on a device compares.
    pub(crate) const G1: Self = Self { threads: 256, blocks: 2, coordinate_bytes: 48 };
    /// That of the kernels for G2.
    pub(crate) const G2: Self = Self { threads: 128, blocks: 2, coordinate_bytes: 96 };

    pub(crate) fn of<C: DeviceCurve>() -> Self {
        if size_of::<C::Words>() == 2 * Self::G1.coordinate_bytes as usize { Self::G1 } else { Self::G2 }
    }
}

/// Point indices and slots leave the top bit to the sign.
pub(crate) const MAX_INDEX: u64 = 1 << 31;
/// A bucket with this many points is planned by several blocks: HEAVY of buckets.cuh.
const HEAVY: u64 = 8192;
/// Partitions of a window that the sort makes, at most: 2^MAX_PARTITIONS_LOG of windows.cuh.
pub(crate) const PARTITIONS: u64 = 8192;
/// A pass with more entries than this gains nothing, and its memory has to come from somewhere: 92 GB for all windows of 2^27 points of G1.
const MOST_ENTRIES: u64 = 1 << 29;
/// Shorter chunks than half of this save no memory beside the scratch of the additions, and take ages.
const SHORTEST_CHUNK: u64 = 1 << 16;
/// Jacobian points that the kernels leave for each window, and for a sum of points.
pub(crate) const SUMS_OF_WINDOW: usize = 32;
pub(crate) const SUMS_OF_LIST: usize = 64;
/// A longer list of points to be added once is added in parts.
pub(crate) const SUM_AT_ONCE: u64 = 1 << 25;

/// The parts of a workspace, in elements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Points that one sort takes: those of a chunk times windows of a pass.
    pub(crate) entries: u64,
    /// Buckets of the pass with the most.
    pub(crate) pass_buckets: u64,
    /// Additions that one launch can describe, by three words each; two of the three arrays hold the digits of a pass before.
    pub(crate) descriptors: u64,
    /// Slots of the region in which points are added, and half of the reduction works.
    pub(crate) ping: u64,
    /// Slots of the region of the reduction's other half.
    pub(crate) pong: u64,
    /// Slots of a second bucket array for one pass, to be added to the first.
    pub(crate) spare: u64,
    /// Slots of the bucket array of all windows.
    pub(crate) buckets: u64,
    /// Entries of the list of long buckets.
    pub(crate) heavy: u64,
    /// Partitions of a sort, and the end of the last.
    pub(crate) partitions: u64,
    /// Scratch of the addition kernel, or of the reduction's last step, in bytes.
    pub(crate) scratch_bytes: u64,
    /// Blocks of the addition kernel.
    pub(crate) blocks: u32,
    /// Most additions that one lane shares an inversion over.
    pub(crate) per_lane: u32,
    /// Bytes of a slot.
    pub(crate) slot_bytes: u64,
}

impl Layout {
    /// The first slot of each part: ping, pong, spare buckets, buckets; and the end.
    pub(crate) fn slots(&self) -> [u64; 5] {
        let pong = self.ping;
        let spare = pong + self.pong;
        let buckets = spare + self.spare;
        [0, pong, spare, buckets, buckets + self.buckets]
    }

    /// Slots at the beginning of the first region in which the sort keeps points and the low bits of their buckets' numbers: as laid out in
    /// entry.cuh.
    pub(crate) fn sort_slots(&self) -> u64 {
        (self.entries * (4 + 2)).div_ceil(self.slot_bytes.max(1))
    }

    /// Lengths of the arrays of 32-bit words in the order in which [`super::ffi::Bound::new`] hands them out.
    pub(crate) fn words(&self) -> [u64; 11] {
        [
            128, // COUNTERS of buckets.cuh
            self.descriptors,
            self.descriptors,
            self.descriptors,
            self.pass_buckets,
            self.pass_buckets,
            self.pass_buckets,
            self.heavy,
            self.heavy,
            self.partitions,
            self.partitions,
        ]
        .map(|length| length.next_multiple_of(64))
    }

    /// Bytes of the whole workspace.
    pub(crate) fn bytes(&self) -> u64 {
        self.words().iter().sum::<u64>() * 4
            + self.slots()[4] * self.slot_bytes
            + self.scratch_bytes
            + 4 * 512
    }
}

/// The decisions for one multiplication.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) windows: Windows,
    /// Windows of one pass over a chunk.
    pub(crate) pass: u32,
    /// Ranges of the bases, in order, together all of them.
    pub(crate) chunks: Vec<Range<usize>>,
    pub(crate) layout: Layout,
    /// Bytes that the multiplication allocates, at most.
    pub(crate) bytes: u64,
}

/// What a plan is made for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task {
    pub(crate) shape: Shape,
    pub(crate) multiprocessors: u32,
    /// Bases.
    pub(crate) bases: u64,
    /// Bases with a dense scalar, at most.
    pub(crate) dense: u64,
    /// Bases to be added once.
    pub(crate) ones: u64,
    /// Bytes on the device for each base of a chunk, where bases or scalars come from the host.
    pub(crate) streamed_bytes: u64,
    /// Bytes that may be allocated.
    pub(crate) budget: u64,
}

impl Task {
    /// Additions that one inversion serves, for each lane: more than 512 gain little, and little work cannot fill more.
    fn per_lane(&self, windows: &Windows) -> u32 {
        let additions = (self.dense * u64::from(windows.count)).max(self.ones) / 2;
        let lanes = u64::from(self.multiprocessors * self.shape.blocks * self.shape.threads).max(1);
        (additions / lanes).next_power_of_two().clamp(32, 512) as u32
    }

    /// Bytes of the sums that come back to the host, at most, and what allocations are rounded up by beside the workspace's.
    fn sums_bytes(&self, windows: &Windows, parts: u64) -> u64 {
        let jacobian = 3 * u64::from(self.shape.coordinate_bytes);
        let of_windows = if self.dense == 0 { 0 } else { u64::from(windows.count) * SUMS_OF_WINDOW as u64 };
        // Each chunk, of which there may be one more, begins another part of the list.
        let of_list =
            if self.ones == 0 { 0 } else { (parts + 1 + self.ones / SUM_AT_ONCE) * SUMS_OF_LIST as u64 };
        // Two chunks each of bases and scalars, two buffers of sums, and the index of a bad point.
        (of_windows + of_list) * jacobian + 7 * 512
    }

    /// Bytes of a point.
    fn slot_bytes(&self) -> u64 {
        2 * u64::from(self.shape.coordinate_bytes)
    }

    fn layout(&self, windows: &Windows, pass: u32, chunk: u64, merges: bool, per_lane: u32) -> Layout {
        let count = windows.count;
        let pass_buckets = (0..count)
            .step_by(pass as usize)
            .map(|j| windows.buckets(j..(j + pass).min(count)))
            .max()
            .unwrap_or(0);
        let buckets = windows.all_buckets();
        let dense = self.dense.min(chunk);
        let entries = dense * u64::from(pass);
        let ones = self.ones.min(chunk).min(SUM_AT_ONCE);
        let (entries, pass_buckets, buckets) =
            if dense == 0 { (0, 0, 0) } else { (entries, pass_buckets, buckets) };
        // The reduction takes half of all buckets in each region.
        let ping = tree_slots(entries, pass_buckets).max(buckets / 2).max(ones.div_ceil(2));
        let ping = whole_tiles(ping);
        let pong = whole_tiles(buckets / 2);
        let blocks = self.multiprocessors * self.shape.blocks;
        Layout {
            entries,
            pass_buckets,
            descriptors: (entries / 2).max(buckets).max(ones / 2) + 64,
            ping,
            pong,
            spare: if merges { pass_buckets } else { 0 },
            buckets,
            heavy: entries / HEAVY + 1,
            partitions: if entries == 0 { 0 } else { PARTITIONS * u64::from(pass) + 1 },
            scratch_bytes: (u64::from(blocks) * u64::from(self.shape.threads) * u64::from(per_lane))
                .max(if dense == 0 { 0 } else { 4 * windows.line_points() })
                * u64::from(self.shape.coordinate_bytes),
            blocks,
            per_lane,
            slot_bytes: self.slot_bytes(),
        }
    }
}

/// Slots in which the tree of additions works: half of the points, rounded up in each bucket.
fn tree_slots(points: u64, buckets: u64) -> u64 {
    (points + buckets) / 2
}

/// Slots lie in tiles of 32, and every region begins with one; one tile more than needed.
fn whole_tiles(slots: u64) -> u64 {
    slots.next_multiple_of(32) + 32
}

impl Plan {
    /// The fastest plan within the budget.
    ///
    /// # Errors
    /// The least bytes that any plan takes, where that is more.
    pub(crate) fn new(task: &Task) -> Result<Self, u64> {
        Self::search(task).map_err(|least| least.unwrap_or(u64::MAX))
    }

    fn search(task: &Task) -> Result<Self, Option<u64>> {
        // A host-resident input wants several chunks, so that copies hide behind work.
        let streams = task.streamed_bytes > 0 && task.bases >= 1 << 20;
        let parts = if streams { 4 } else { 1 };
        let mut search = Search { task, streams, best: None, least: None };
        let windows = Windows::for_points(task.dense, parts);
        search.consider(&windows, parts, task.per_lane(&windows));
        if search.best.is_none() {
            search.everything(parts);
        }
        search.best.map(|(_, plan)| plan).ok_or(search.least)
    }
}

/// The plans looked at: the cheapest that fits, with its cost, and the bytes of the smallest that does not.
struct Search<'a> {
    task: &'a Task,
    streams: bool,
    best: Option<(u64, Plan)>,
    least: Option<u64>,
}

impl Search<'_> {
    /// Windows from the best count on, chunks from the largest on, long batches before short ones.
    fn everything(&mut self, least_parts: u64) {
        let most_parts = (self.task.bases / SHORTEST_CHUNK).clamp(1, 1 << 16).next_power_of_two();
        let mut parts = least_parts;
        while parts <= most_parts {
            let fewest = Windows::for_points(self.task.dense, parts);
            for count in fewest.count..=(fewest.count + 10).min(MAX_WINDOWS) {
                let windows = Windows::new(count);
                let per_lane = self.task.per_lane(&windows);
                // More chunks only cost more.
                let hopeless = |&(best, _): &(u64, Plan)| best <= windows.cost(self.task.dense, parts);
                if self.best.as_ref().is_some_and(hopeless) {
                    continue;
                }
                for per_lane in [per_lane, per_lane / 2, per_lane / 4].into_iter().filter(|&lane| lane >= 32)
                {
                    self.consider(&windows, parts, per_lane);
                }
            }
            parts *= 2;
        }
    }

    /// The plan of the fewest passes that fits.
    fn consider(&mut self, windows: &Windows, parts: u64, per_lane: u32) {
        let task = self.task;
        let chunk = task.bases.div_ceil(parts);
        let merges = parts > 1;
        // Two chunks are on the device at a time, unless there is only one.
        let streamed = task.streamed_bytes * chunk * if merges { 2 } else { 1 };
        let mut last = 0;
        for passes in 1..=windows.count {
            let pass = windows.count.div_ceil(passes);
            if pass == last {
                continue;
            }
            last = pass;
            let layout = task.layout(windows, pass, chunk, merges, per_lane);
            if layout.entries > MAX_INDEX || layout.slots()[4] > MAX_INDEX || chunk > MAX_INDEX {
                continue;
            }
            if layout.entries > MOST_ENTRIES && pass > 1 {
                continue;
            }
            let bytes = layout.bytes() + streamed + task.sums_bytes(windows, parts);
            self.least = Some(self.least.map_or(bytes, |least| least.min(bytes)));
            if bytes > task.budget {
                continue;
            }
            // A pass over a chunk costs about a quarter of a millisecond beside its additions, a million of them; an inversion as
            // much as one or two additions of each lane.
            let additions = windows.cost(task.dense, parts) / 4;
            let cost = 4
                * (additions
                    + additions * 3 / 2 / u64::from(per_lane)
                    + (1 << 20) * u64::from(passes) * parts);
            if self.best.as_ref().is_none_or(|&(least, _)| cost < least) {
                let chunks = chunks(task.bases, chunk, self.streams);
                self.best = Some((cost, Plan { windows: *windows, pass, chunks, layout, bytes }));
            }
            return;
        }
    }
}

/// Ranges of at most `size`. With `ramp` they begin short and grow by no more than 1.7, so that work starts after a short copy, and the
/// copy of the next one, at about 0.6 of the work's time for each point, is over when the work on the one before is.
fn chunks(total: u64, size: u64, ramp: bool) -> Vec<Range<usize>> {
    let (total, size) = (total as usize, size.max(1) as usize);
    // In parts of 64. A third short one costs a small multiplication more than it saves.
    let short: &[usize] = if size >= 1 << 22 { &[14, 24, 40] } else { &[24, 40] };
    let mut bounds = vec![0];
    let mut next = 0;
    if ramp && size >= 64 && total >= 2 * size {
        for part in short {
            next += size / 64 * part;
            bounds.push(next);
        }
    }
    let rest = total - next;
    let count = rest.div_ceil(size).max(1);
    bounds.extend((1..count).map(|k| next + (rest as u128 * k as u128 / count as u128) as usize));
    bounds.push(total);
    bounds.windows(2).map(|pair| pair[0]..pair[1]).filter(|range| !range.is_empty()).collect()
}

#[cfg(test)]
mod tests;
