//! Plans against their budgets and the kernels' needs.

use proptest::prelude::*;

use super::*;

const GIB: u64 = 1 << 30;

fn task(bases: u64, budget: u64) -> Task {
    Task { shape: Shape::G1, multiprocessors: 132, bases, dense: bases, ones: 0, streamed_bytes: 0, budget }
}

#[test]
fn chunks_are_a_partition() {
    for (total, size, ramp) in [
        (0, 5, false),
        (1, 1, true),
        (10, 3, true),
        (1000, 1000, true),
        (1001, 250, true),
        (1 << 26, 1 << 24, true),
    ] {
        let all: Vec<usize> = chunks(total, size, ramp).into_iter().flatten().collect();
        assert_eq!(all, (0..total as usize).collect::<Vec<_>>());
        assert!(chunks(total, size, ramp).iter().all(|range| range.len() as u64 <= size));
    }
}

#[test]
fn plans_stay_within_their_budget() {
    for budget in [120 * GIB, 16 * GIB, 8 * GIB, 2 * GIB] {
        for bases in [1, 100, 1 << 18, (3 << 22) + 1, 1 << 26, (1 << 27) - 1] {
            let plan = Plan::new(&task(bases, budget)).expect("fits");
            let longest = plan.chunks.iter().map(|range| range.len() as u64).max();
            assert!(
                plan.layout.bytes() <= plan.bytes && plan.bytes <= budget,
                "{bases} bases in {budget} bytes: {plan:?}"
            );
            assert!(longest.is_some_and(|longest| longest * u64::from(plan.pass) <= plan.layout.entries));
            assert!(plan.layout.slots()[4] <= MAX_INDEX);
        }
    }
}

#[test]
fn a_budget_below_the_least_is_refused_with_the_least() {
    for (bases, streamed_bytes) in [(1, 0), (1 << 20, 0), ((1 << 27) - 1, 128)] {
        let task = Task { streamed_bytes, ..task(bases, 0) };
        let least = Plan::new(&task).expect_err("nothing fits nothing");
        assert!(Plan::new(&Task { budget: least, ..task }).is_ok_and(|plan| plan.bytes == least));
        assert_eq!(Plan::new(&Task { budget: least - 1, ..task }).err(), Some(least));
    }
}

#[test]
fn a_large_budget_takes_many_windows_at_once_and_a_small_one_splits_them_before_the_points() {
    let plan = Plan::new(&task(1 << 25, 120 * GIB)).expect("fits");
    assert_eq!((plan.windows.count, plan.pass, plan.chunks.len()), (12, 12, 1));
    let plan = Plan::new(&task(1 << 27, 120 * GIB)).expect("fits");
    assert_eq!((plan.pass, plan.chunks.len()), (4, 1));
    assert!(plan.bytes < 60 * GIB);
    let plan = Plan::new(&task(1 << 26, 16 * GIB)).expect("fits");
    assert_eq!(plan.chunks.len(), 1);
    assert!(plan.pass < 12);
}

#[test]
fn a_host_resident_input_starts_with_a_short_chunk() {
    let task = Task { streamed_bytes: 128, ..task(1 << 26, 16 * GIB) };
    let plan = Plan::new(&task).expect("fits");
    assert!(plan.chunks.len() >= 5, "{plan:?}");
    assert!(plan.chunks[0].len() < plan.chunks[1].len());
}

/// Of each bucket of a pass, where the tree of additions leaves its sums: as in tree.cuh. A single point goes to the bucket array.
fn slots_of_buckets(lengths: &[u64]) -> Vec<Range<u64>> {
    let mut start = 0;
    let slots = |(bucket, &length): (usize, &u64)| {
        let first = (start + bucket as u64) / 2;
        start += length;
        if length < 2 { first..first } else { first..first + length.div_ceil(2) }
    };
    lengths.iter().enumerate().map(slots).collect()
}

/// Points fall into buckets as they like: none, one or all of them into the same.
fn lengths(entries: u64, buckets: usize) -> impl Strategy<Value = Vec<u64>> {
    (prop::collection::vec(0..buckets, 0..=entries as usize), any::<bool>(), 0..buckets).prop_map(
        move |(digits, together, last)| {
            let mut lengths = vec![0; buckets];
            let crowd = entries - digits.len() as u64;
            digits.into_iter().for_each(|bucket| lengths[bucket] += 1);
            lengths[if together { last } else { buckets - 1 }] += crowd;
            lengths
        },
    )
}

proptest! {
    /// The places of buckets do not overlap, and the last one ends within what is planned, however few points there are for the buckets.
    #[test]
    fn the_tree_of_each_bucket_has_its_own_slots(
        lengths in (0u64..3000, prop_oneof![Just(1usize), Just(64), Just(4096)])
            .prop_flat_map(|(points, buckets)| lengths(points, buckets))
    ) {
        let room = tree_slots(lengths.iter().sum(), lengths.len() as u64);
        let mut end = 0;
        for slots in slots_of_buckets(&lengths).into_iter().filter(|slots| !slots.is_empty()) {
            prop_assert!(end <= slots.start && slots.end <= room, "{:?} behind {}, of {}", slots, end, room);
            end = slots.end;
        }
    }

    /// The first region holds all that works in it.
    #[test]
    fn the_first_region_is_long_enough(
        dense in prop_oneof![0u64..100, 0u64..1 << 27],
        ones in 0u64..1 << 27,
        count in 10u32..=32,
        pass in 1u32..=32,
        shape in prop_oneof![Just(Shape::G1), Just(Shape::G2)],
    ) {
        let task = Task { shape, ones, ..task(dense, 0) };
        let (windows, bases) = (Windows::new(count), dense.max(ones));
        let layout = task.layout(&windows, pass.min(count), bases, false, 32);
        let needed = [
            tree_slots(layout.entries, layout.pass_buckets),
            layout.sort_slots(),
            layout.buckets / 2,
            ones.min(SUM_AT_ONCE).div_ceil(2),
        ];
        prop_assert!(needed.into_iter().all(|slots| slots <= layout.ping), "{:?} of {:?}", needed, layout);
        prop_assert!(layout.sort_slots() * layout.slot_bytes >= layout.entries * 6);
    }
}
