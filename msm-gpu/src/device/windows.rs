//! How a scalar is cut into signed windows; see `cuda/windows.cuh`.

use std::ops::Range;

use super::ffi::Windows;

/// Signed windows of a scalar have at least 7 and at most 8 bits with this many of them; the kernels know no more.
pub(crate) const MAX_WINDOWS: u32 = 32;
/// Bits that the windows cover: a scalar or its negation has 254, and the top digit needs one to carry into.
const BITS: u32 = 255;
impl Windows {
    /// `count` windows of equal width, the first ones one bit wider where 255 does not divide.
    pub(crate) fn new(count: u32) -> Self {
        let count = count.clamp(1, MAX_WINDOWS);
        let mut windows =
            Self { count, offset: [0; MAX_WINDOWS as usize], width: [0; MAX_WINDOWS as usize], bias: [0; 8] };
        let mut offset = 0;
        for j in 0..count {
            let width = BITS / count + u32::from(j < BITS % count);
            windows.offset[j as usize] = offset;
            windows.width[j as usize] = width;
            offset += width;
            if j + 1 < count {
                windows.bias[((offset - 1) / 32) as usize] |= 1 << ((offset - 1) % 32);
            }
        }
        windows
    }

    /// Offset and width of each window.
    pub(crate) fn extents(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.offset.iter().copied().zip(self.width.iter().copied()).take(self.count as usize)
    }

    /// Buckets of some windows.
    pub(crate) fn buckets(&self, windows: Range<u32>) -> u64 {
        let range = windows.start as usize..windows.end as usize;
        self.extents()
            .enumerate()
            .filter(|(j, _)| range.contains(j))
            .map(|(_, (_, width))| 1u64 << (width - 1))
            .sum()
    }

    /// Buckets of all windows.
    pub(crate) fn all_buckets(&self) -> u64 {
        self.buckets(0..self.count)
    }

    /// Points in XYZZ coordinates that the last step of the reduction takes; see `line_points` of `cuda/windows.cuh`.
    pub(crate) fn line_points(&self) -> u64 {
        let points_log = |width: u32| {
            let columns = width / 2;
            let rows = width - 1 - columns;
            let kept = 9u32.saturating_sub(rows).min(2);
            // A line of one kind is what is left of as many points as there are lines of the other.
            (rows + kept.min(columns)).max(columns + kept.min(rows))
        };
        let most = self.extents().map(|(_, width)| points_log(width)).max().unwrap_or(0);
        u64::from(self.count) << (most + 1)
    }

    /// What a multiplication of `points` points in `chunks` chunks costs, in quarters of an addition: each window adds every point
    /// once, less the first of each bucket; the buckets of each later chunk are added to the first's; and each bucket is added twice
    /// when the buckets are reduced, at a rate somewhat below that of the rest.
    pub(crate) fn cost(&self, points: u64, chunks: u64) -> u64 {
        4 * points * u64::from(self.count) + self.all_buckets() * (9 + 4 * chunks.saturating_sub(1))
    }

    /// The windows that cost least. Fewer than 10 would be wider than the sort allows, 26 bits.
    pub(crate) fn for_points(points: u64, chunks: u64) -> Self {
        let best = (10..=MAX_WINDOWS).min_by_key(|&count| Self::new(count).cost(points, chunks));
        Self::new(best.unwrap_or(MAX_WINDOWS))
    }

    /// The windows of a fixed-base table for `multiples` multiples: a table's entry costs one addition, and so does each digit.
    pub(crate) fn for_multiples(multiples: u64) -> Self {
        let cost = |count: u32| multiples * u64::from(count - 1) + Self::new(count).all_buckets();
        // 15 windows of 17 bits: wider ones leave the level-2 cache and gain little.
        let best = (15..=MAX_WINDOWS).min_by_key(|&count| cost(count)).unwrap_or(MAX_WINDOWS);
        Self::new(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_cover_all_bits_and_the_bias_is_half_of_each_lower_window() {
        for count in 1..=MAX_WINDOWS {
            let windows = Windows::new(count);
            let mut next = 0;
            for (j, (offset, width)) in windows.extents().enumerate() {
                assert_eq!(offset, next);
                next += width;
                let top = next - 1;
                let bit = windows.bias[(top / 32) as usize] >> (top % 32) & 1;
                assert_eq!(bit, u32::from(j + 1 < count as usize), "window {j} of {count}");
            }
            assert_eq!(next, BITS);
            assert_eq!(windows.bias.iter().map(|word| word.count_ones()).sum::<u32>(), count - 1);
        }
    }

    #[test]
    fn window_counts_are_those_that_measured_best() {
        for (log_n, count) in [(18, 17), (20, 15), (22, 14), (24, 12), (26, 12)] {
            let got = Windows::for_points(1 << log_n, 1).count;
            assert!(got.abs_diff(count) <= 1, "2^{log_n}: {got} windows");
        }
    }
}
