//! How much device memory a multiplication takes, told before there is a device.

use gpu::{Fr, Pool};

use super::ffi::DeviceCurve;
use super::plan::{Plan, Shape, Task};

/// A multiplication, as far as its need of memory goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// Bases.
    pub bases: usize,
    /// Whether they come from the host, in chunks, and are not on the device beforehand.
    pub bases_stream: bool,
    /// Their scalars.
    pub scalars: Scalars,
}

/// The scalars of a multiplication, as far as its need of memory goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalars {
    /// One for each base, as [`DeviceMsm::msm`](super::DeviceMsm::msm) takes them.
    Dense {
        /// Whether they come from the host.
        stream: bool,
    },
    /// Packed ones, as [`DeviceMsm::msm_packed`](super::DeviceMsm::msm_packed) takes them. Their bitmaps, the density and dense scalars that
    /// are on the device beforehand do not count.
    Packed {
        /// Scalars, those without a base included.
        len: usize,
        /// Bases whose scalar is one, at most.
        ones: usize,
        /// Bases with a dense scalar, at most.
        dense: usize,
        /// Dense scalars that come from the host, those without a base included.
        stream: usize,
    },
}

/// Bytes of device memory for a [`Demand`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// With the smallest plan. Less is refused with [`gpu::Error::OutOfMemory`].
    pub least: u64,
    /// With the plan that is taken within the budget, at most; none where that is below the least.
    pub taken: Option<u64>,
}

impl Demand {
    /// What the multiplication takes of a pool in which `budget` bytes are available, on a device with so many multiprocessors
    /// ([`gpu::DeviceInfo::multiprocessors`]). The inputs that are on the device beforehand do not count.
    pub fn memory<C: DeviceCurve>(&self, multiprocessors: u32, budget: u64) -> Memory {
        let (dense, ones, scalar_bytes, beside, before) = match self.scalars {
            Scalars::Dense { stream } => (self.bases, 0, if stream { size_of::<Fr>() } else { 0 }, 0, 0),
            Scalars::Packed { len, ones, dense, stream } => {
                let (ones, dense) = (ones.min(self.bases), dense.min(self.bases));
                let lists = Pool::bytes_for::<u32>(ones) + 2 * Pool::bytes_for::<u32>(dense);
                (dense, ones, 0, lists + Pool::bytes_for::<Fr>(stream), lists + counts_bytes(len))
            }
        };
        let base_bytes = if self.bases_stream { size_of::<C::Words>() } else { 0 };
        let task = |budget| Task {
            shape: Shape::of::<C>(),
            multiprocessors,
            bases: self.bases as u64,
            dense: dense as u64,
            ones: ones as u64,
            streamed_bytes: (base_bytes + scalar_bytes) as u64,
            budget,
        };
        if dense + ones == 0 {
            return Memory { least: before, taken: (before <= budget).then_some(before) };
        }
        let bytes = |budget: u64| -> Result<u64, u64> {
            let all = |bytes: u64| bytes.saturating_add(beside).max(before);
            match budget.checked_sub(beside) {
                Some(rest) => Plan::new(&task(rest)).map(|plan| all(plan.bytes)).map_err(all),
                None => Err(all(Plan::new(&task(0)).err().unwrap_or(0))),
            }
        };
        let least = bytes(0).unwrap_or_else(|least| least);
        Memory { least, taken: bytes(budget).ok().filter(|&taken| taken <= budget) }
    }
}

/// Bytes of the counts of a selection and of the scratch of their sums, which are gone before anything else is allocated.
fn counts_bytes(len: usize) -> u64 {
    let words = len.div_ceil(64);
    Pool::bytes_for::<u32>(4 * (words + 1)) + scan_bytes_bound(words as u64).next_multiple_of(512)
}

/// Bytes of the scratch of sums over so many words, at most.
fn scan_bytes_bound(words: u64) -> u64 {
    words + (1 << 16)
}

#[cfg(test)]
mod tests {
    use super::super::ffi;
    use super::*;
    use crate::{G1, G2};

    const SMS: u32 = 132;

    #[test]
    fn what_is_taken_is_between_the_least_and_the_budget_and_grows_with_it() {
        let n = (1 << 27) - 1;
        let packed = Scalars::Packed { len: n, ones: n / 3, dense: n / 50, stream: 0 };
        for bases_stream in [false, true] {
            for scalars in [Scalars::Dense { stream: false }, Scalars::Dense { stream: true }, packed] {
                let demand = Demand { bases: n, bases_stream, scalars };
                let least = demand.memory::<G1>(SMS, 0);
                assert_eq!(least.taken, None);
                let mut last = 0;
                for gigabytes in [0, 1, 2, 4, 8, 16, 40, 140] {
                    let budget = gigabytes * 1_000_000_000;
                    let memory = demand.memory::<G1>(SMS, budget);
                    assert_eq!(memory.least, least.least);
                    assert_eq!(memory.taken.is_some(), memory.least <= budget, "{demand:?}, {budget}");
                    let taken = memory.taken.unwrap_or(last);
                    assert!(last <= taken && taken <= budget.max(last), "{demand:?}, {budget}: {memory:?}");
                    last = taken;
                }
                assert_eq!(demand.memory::<G1>(SMS, least.least).taken, Some(least.least), "{demand:?}");
            }
        }
    }

    /// What this file assumes of the kernels, against the kernels.
    #[test]
    fn device_agrees_with_the_constants() {
        let Some(device) = gpu::testing::device_or_skip("device_agrees_with_the_constants").expect("works")
        else {
            return;
        };
        assert_eq!(ffi::shape::<G1>().expect("a shape"), Shape::G1);
        assert_eq!(ffi::shape::<G2>().expect("a shape"), Shape::G2);
        let stream = device.stream().expect("a stream");
        stream.raw().expect("the current device");
        for log in 0..31 {
            for n in [1 << log, (3 << log) / 2 + 1] {
                let scan = ffi::select_bytes(n as u32).expect("bytes");
                assert!(scan <= scan_bytes_bound(n), "{n} words: {scan} bytes");
            }
        }
    }

    #[test]
    fn points_of_g2_take_more_and_no_scalars_next_to_nothing() {
        let demand = |ones| Demand {
            bases: 1 << 20,
            bases_stream: true,
            scalars: Scalars::Packed { len: 1 << 20, ones, dense: 0, stream: 0 },
        };
        let of = |ones| {
            let of = |memory: Memory| memory.least;
            (of(demand(ones).memory::<G1>(SMS, 0)), of(demand(ones).memory::<G2>(SMS, 0)))
        };
        let (g1, g2) = of(1 << 19);
        assert!(g1 < g2);
        let (g1, g2) = of(0);
        assert!(g1 == g2 && g1 < 1 << 20);
    }
}
