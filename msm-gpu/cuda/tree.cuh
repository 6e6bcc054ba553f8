#pragma once
// The sum of each bucket by a tree of pairwise additions, one `batch_add` for each level.
//
// Bucket b holds m points, before which those of the buckets before come to s. Level 0 adds neighbours (2i, 2i + 1), as the sort has
// described them, into the slots of the bucket, ceil(m / 2) from slot (s + b) / 2 on, and an odd last point is moved there unchanged.
// Those regions never overlap ((s + b) / 2 grows by at least ceil(m / 2) from one bucket to the next), so nothing needs a prefix
// sum. A later level adds the second half of what is left to the first half, in place: i and h + i into i, with h = ceil(left / 2), so
// an odd point in the middle stays where it is and what is left stays together. A bucket's last addition goes straight to
// its place in the bucket array.
#include <algorithm>

#include <cub/block/block_scan.cuh>

#include "batch_add.cuh"
#include "buckets.cuh"

namespace msm {

/// Counters of a workspace: a level's additions at its number, and its queue QUEUES further on; the sort's; and the queue of
/// launches whose count the host knows. The sort clears all of them.
constexpr uint32_t QUEUES = 32, FIXED_QUEUE = 66;

/// Device memory of a multiplication. Slots are points, tiled; regions are named by their first slot.
template <class F>
struct Workspace {
    Affine<F>* slots;
    uint32_t ping, pong;  // first slots of two regions: the tree works in the first, the reduction in both
    Descriptors work;     // room for max(E / 2, buckets of all windows)
    uint32_t* counters;   // COUNTERS of buckets.cuh
    uint32_t* heavy_base; // as many as the heavy list
    uint4* scratch;       // of batch_add, and of the last step of the reduction
    uint32_t blocks, max_per_lane;
};

template <class F, Points IN, Points OUT>
gpu_status launch_batch_add(const Workspace<F>& space, const Affine<F>* a, const Affine<F>* b, Affine<F>* out,
                            const uint32_t* count, uint32_t fixed_count, cudaStream_t stream) {
    constexpr int SHARED = batch_add_shared_bytes<F>();
    uint32_t* const queue = space.counters + (count ? count - space.counters + QUEUES : FIXED_QUEUE);
    if (!count && fixed_count > space.blocks * BatchShape<F>::THREADS * space.max_per_lane) {
        GPU_TRY(cudaMemsetAsync(queue, 0, sizeof(*queue), stream));
    }
    // Set at every launch: it is a property of the current device, and costs a microsecond.
    GPU_TRY(cudaFuncSetAttribute(batch_add<F, IN, OUT>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    batch_add<F, IN, OUT><<<space.blocks, BatchShape<F>::THREADS, SHARED, stream>>>(
        a, b, out, space.work, count, fixed_count, queue, space.max_per_lane, space.scratch);
    GPU_TRY_LAUNCH("batch_add");
    return gpu_ok();
}

/// From slots to slots.
template <class F>
gpu_status launch_in_slots(const Workspace<F>& space, const uint32_t* count, uint32_t fixed_count, cudaStream_t stream) {
    return launch_batch_add<F, Points::TILED, Points::TILED>(space, space.slots, space.slots, space.slots, count, fixed_count, stream);
}

/// Points of a bucket of `length` before a level, from 1 on; 0 when they have been one already.
__device__ __forceinline__ uint32_t left_at(uint32_t level, uint32_t length) {
    const uint32_t less = length > 0 ? (length - 1) >> level : 0;
    return less > 0 ? less + 1 : 0;
}

/// The i-th addition of a bucket with so many points left: its two points, and its target.
__device__ __forceinline__ void describe(const Descriptors& work, uint32_t at, const Regions& regions, uint32_t bucket, uint32_t start,
                                         uint32_t left, uint32_t i) {
    const uint32_t slot = regions.slot(start, bucket) + i;
    work.first[at] = slot;
    work.second[at] = slot + (left + 1) / 2;
    work.target[at] = left == 2 ? regions.buckets + bucket : slot;
}

/// Moves the last of an odd number of points of each bucket into its slots, or to the bucket array when it is the only one.
template <class F>
__global__ void move_last(const Regions regions, uint32_t buckets, const uint32_t* start, const uint32_t* length,
                          const uint32_t* last, const Affine<F>* bases, Affine<F>* slots) {
    const uint32_t bucket = blockIdx.x * blockDim.x + threadIdx.x;
    if (bucket >= buckets) return;
    const uint32_t points = length[bucket];
    if (points % 2 == 0) return;
    const uint32_t value = last[bucket];
    const uint32_t to = points == 1 ? regions.buckets + bucket : regions.slot(start[bucket], bucket) + points / 2;
    Affine<F> point = PointRows<F, Points::PLAIN>(bases, value & ~SIGN).load();
    if (value & SIGN) point.y = canonical(neg(point.y));
    PointRows<F, Points::TILED>(slots, to).store(point.x, point.y);
}

constexpr int PLAN_THREADS = 256, PLAN_BUCKETS = 1024;

/// Writes the additions of a level above 0. A block takes 1024 buckets, counts their pairs, reserves room for them at once, and lets
/// each thread find the bucket of its pair by bisection, so that long and short buckets cost the same for each pair.
static __global__ void __launch_bounds__(PLAN_THREADS)
    plan_level(uint32_t level, const Regions regions, uint32_t buckets, const uint32_t* start, const uint32_t* length,
               const Descriptors work, uint32_t* counter) {
    constexpr int EACH = PLAN_BUCKETS / PLAN_THREADS;
    using Scan = cub::BlockScan<uint32_t, PLAN_THREADS>;
    __shared__ typename Scan::TempStorage scan;
    __shared__ uint32_t before[PLAN_BUCKETS + 1];
    __shared__ uint32_t starts[PLAN_BUCKETS], lefts[PLAN_BUCKETS];
    __shared__ uint32_t reserved;
    const uint32_t block_first = blockIdx.x * PLAN_BUCKETS;
    uint32_t pairs[EACH], sum = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint32_t mine = threadIdx.x * EACH + k, bucket = block_first + mine;
        const uint32_t all = bucket < buckets ? length[bucket] : 0;
        const uint32_t left = left_at(level, all);
        starts[mine] = left ? start[bucket] : 0;
        lefts[mine] = left;
        pairs[k] = all >= HEAVY ? 0 : left / 2;  // heavy buckets are planned by plan_heavy
        sum += pairs[k];
    }
    uint32_t mine_before, total;
    Scan(scan).ExclusiveSum(sum, mine_before, total);
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        before[threadIdx.x * EACH + k] = mine_before;
        mine_before += pairs[k];
    }
    if (threadIdx.x == 0) {
        before[PLAN_BUCKETS] = total;
        reserved = total ? atomicAdd(counter, total) : 0;
    }
    __syncthreads();
    for (uint32_t p = threadIdx.x; p < total; p += PLAN_THREADS) {
        uint32_t k = 0;  // the last bucket that begins at or before p
#pragma unroll
        for (int step = PLAN_BUCKETS / 2; step >= 1; step /= 2)
            if (before[k + step] <= p) k += step;
        describe(work, reserved + p, regions, block_first + k, starts[k], lefts[k], p - before[k]);
    }
}

/// Reserves room for the additions of each heavy bucket.
static __global__ void reserve_heavy(uint32_t level, uint32_t heavy_count, const uint32_t* heavy, const uint32_t* length,
                                     uint32_t* base, uint32_t* counter) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= heavy_count) return;
    const uint32_t pairs = left_at(level, length[heavy[i]]) / 2;
    base[i] = pairs ? atomicAdd(counter, pairs) : 0;
}

/// Writes the additions of heavy buckets, blockIdx.y naming the bucket.
static __global__ void __launch_bounds__(PLAN_THREADS)
    plan_heavy(uint32_t level, const Regions regions, const uint32_t* heavy, const uint32_t* base, const uint32_t* start,
               const uint32_t* length, const Descriptors work) {
    const uint32_t bucket = heavy[blockIdx.y], left = left_at(level, length[bucket]);
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < left / 2; i += gridDim.x * blockDim.x)
        describe(work, base[blockIdx.y] + i, regions, bucket, start[bucket], left, i);
}

/// Sums every bucket of a sorted group into the bucket array, empty ones to infinity.
template <class F>
gpu_status accumulate(const Workspace<F>& space, const SortBuffers& buffers, const Group& group, const Sorted& sorted,
                      const Regions& regions, const Affine<F>* bases, cudaStream_t stream) {
    // The array begins and ends with whole tiles.
    GPU_TRY(cudaMemsetAsync(space.slots + regions.buckets, 0, group.buckets * sizeof(Affine<F>), stream));
    move_last<F><<<(group.buckets + 127) / 128, 128, 0, stream>>>(regions, group.buckets, buffers.start, buffers.length, buffers.last,
                                                                bases, space.slots);
    GPU_TRY_LAUNCH("move_last");
    for (uint32_t level = 0; (1ull << level) < sorted.longest; level++) {
        uint32_t* const counter = space.counters + level;
        if (level == 0) {
            GPU_TRY_STATUS((launch_batch_add<F, Points::PLAIN, Points::TILED>(space, bases, bases, space.slots, counter, 0, stream)));
            continue;
        }
        plan_level<<<(group.buckets + PLAN_BUCKETS - 1) / PLAN_BUCKETS, PLAN_THREADS, 0, stream>>>(
            level, regions, group.buckets, buffers.start, buffers.length, space.work, counter);
        GPU_TRY_LAUNCH("plan_level");
        if (sorted.heavy > 0) {
            reserve_heavy<<<(sorted.heavy + 127) / 128, 128, 0, stream>>>(level, sorted.heavy, buffers.heavy, buffers.length,
                                                                          space.heavy_base, counter);
            GPU_TRY_LAUNCH("reserve_heavy");
            constexpr uint32_t MOST = 65535;  // blocks along y
            for (uint32_t at = 0; at < sorted.heavy; at += MOST) {
                const uint32_t here = std::min(MOST, sorted.heavy - at);
                const uint32_t wide = std::max(1u, 2048 / here);
                plan_heavy<<<dim3(wide, here), PLAN_THREADS, 0, stream>>>(level, regions, buffers.heavy + at, space.heavy_base + at,
                                                                          buffers.start, buffers.length, space.work);
                GPU_TRY_LAUNCH("plan_heavy");
            }
        }
        GPU_TRY_STATUS(launch_in_slots<F>(space, counter, 0, stream));
    }
    return gpu_ok();
}

static __global__ void describe_merge(const Descriptors work, uint32_t into, uint32_t from, uint32_t count) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    work.first[i] = into + i;
    work.second[i] = from + i;
    work.target[i] = into + i;
}

/// Adds one bucket array to another, bucket by bucket.
template <class F>
gpu_status merge_buckets(const Workspace<F>& space, uint32_t into, uint32_t from, uint32_t count, cudaStream_t stream) {
    describe_merge<<<(count + 255) / 256, 256, 0, stream>>>(space.work, into, from, count);
    GPU_TRY_LAUNCH("describe_merge");
    return launch_in_slots<F>(space, nullptr, count, stream);
}

}  // namespace msm
