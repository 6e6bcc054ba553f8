// Digits of the scalars, their sort by bucket, the extent of each bucket, and the additions of neighbours within each.
//
// The sort has two passes. The first one puts the points of each window into partitions of neighbouring buckets, up to some 32 thousand
// points each; the second one sorts a partition by its buckets in shared memory, and writes not the points but the pairs of them that are
// to be added. Points of a bucket come in any order, so places are handed out by atomic counters in shared memory, and nothing
// is scanned but the counts.
#include "buckets.cuh"

#include <algorithm>

#include <cub/block/block_scan.cuh>

namespace msm {
namespace {

/// Bucket of a digit within its window; all ones for the digit 0, which has none.
__device__ __forceinline__ uint32_t bucket_of(uint32_t digit) { return (digit & ~SIGN) - 1; }
constexpr uint32_t NO_BUCKET = 0xffffffff;

constexpr int DIGIT_THREADS = 1024;

/// For each scalar and each window of the group the digit's size, with the sign of the point; and how many points each partition gets.
/// Blocks stay and take one scalar after another for each thread. blockIdx.y names a part of the windows, whose partitions'
/// counters shared memory holds.
__global__ void __launch_bounds__(DIGIT_THREADS)
    split_into_digits(const __grid_constant__ Windows windows, const __grid_constant__ Group group, uint32_t windows_of_part,
                      const Scalars scalars, uint32_t* digits, uint32_t* counts) {
    __shared__ uint32_t words[9][DIGIT_THREADS];
    extern __shared__ uint32_t local[];
    const uint32_t begin = blockIdx.y * windows_of_part, end = min(group.count, begin + windows_of_part);
    const uint32_t first = group.partition_first[begin], partitions = group.partition_first[end] - first;
    for (uint32_t p = threadIdx.x; p < partitions; p += DIGIT_THREADS) local[p] = 0;
    __syncthreads();
    for (uint32_t i = blockIdx.x * DIGIT_THREADS + threadIdx.x; i < scalars.count; i += gridDim.x * DIGIT_THREADS) {
        const uint64_t at = scalars.scalar_index ? scalars.scalar_index[i] : i;
        const uint4* source = reinterpret_cast<const uint4*>(scalars.words) + 2 * at;
        const uint4 low = source[0], high = source[1];
        bool negated;
        const Fr biased = signed_scalar(Fr{{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}},
                                        scalars.montgomery, windows, &negated);
        // Each thread reads its own column at run-time indices, which registers do not offer.
#pragma unroll
        for (int k = 0; k < 8; k++) words[k][threadIdx.x] = biased.v[k];
        words[8][threadIdx.x] = 0;
        for (uint32_t j = begin; j < end; j++) {
            const uint32_t window = group.first + j, offset = windows.offset[window], width = windows.width[window];
            const uint32_t bits = __funnelshift_r(words[offset >> 5][threadIdx.x], words[(offset >> 5) + 1][threadIdx.x],
                                                  offset & 31) & ((1u << width) - 1);
            const int32_t signed_digit = static_cast<int32_t>(bits) - (window + 1 < windows.count ? 1 << (width - 1) : 0);
            const uint32_t digit = static_cast<uint32_t>(abs(signed_digit)) | ((signed_digit < 0) != negated ? SIGN : 0);
            digits[static_cast<uint64_t>(j) * scalars.count + i] = digit;
            const uint32_t bucket = bucket_of(digit);
            if (bucket != NO_BUCKET) atomicAdd(&local[group.partition_first[j] - first + (bucket >> group.low_bits[j])], 1);
        }
    }
    __syncthreads();
    for (uint32_t p = threadIdx.x; p < partitions; p += DIGIT_THREADS) {
        if (local[p] > 0) atomicAdd(&counts[first + p], local[p]);
    }
}

constexpr int SCAN_THREADS = 1024;

/// From counts in `next` to where partitions start, in both arrays, with the end behind the last.
__global__ void __launch_bounds__(SCAN_THREADS) scan_partitions(uint32_t partitions, uint32_t* start, uint32_t* next) {
    using Scan = cub::BlockScan<uint32_t, SCAN_THREADS>;
    __shared__ typename Scan::TempStorage scan;
    const uint32_t each = (partitions + SCAN_THREADS - 1) / SCAN_THREADS;
    const uint32_t begin = min(partitions, threadIdx.x * each), end = min(partitions, begin + each);
    uint32_t sum = 0, before, total;
    for (uint32_t p = begin; p < end; p++) sum += next[p];
    Scan(scan).ExclusiveSum(sum, before, total);
    for (uint32_t p = begin; p < end; p++) {
        const uint32_t count = next[p];
        start[p] = next[p] = before;
        before += count;
    }
    if (threadIdx.x == 0) start[partitions] = total;
}

/// Exclusive sums of `counts`, in place, by all threads; each thread's share is contiguous. Ends with a barrier.
template <int THREADS_OF_BLOCK>
__device__ __forceinline__ void scan_in_place(uint32_t* counts, uint32_t count) {
    using Scan = cub::BlockScan<uint32_t, THREADS_OF_BLOCK>;
    __shared__ typename Scan::TempStorage scan;
    const uint32_t each = (count + THREADS_OF_BLOCK - 1) / THREADS_OF_BLOCK;
    const uint32_t begin = min(count, threadIdx.x * each), end = min(count, begin + each);
    uint32_t sum = 0, before;
    for (uint32_t p = begin; p < end; p++) sum += counts[p];
    Scan(scan).ExclusiveSum(sum, before);
    for (uint32_t p = begin; p < end; p++) {
        const uint32_t here = counts[p];
        counts[p] = before;
        before += here;
    }
    __syncthreads();
}

constexpr int TILE_THREADS = 1024, TILE_STEP = 8;
/// Digits of a tile for each thread, at most: places in a tile have 15 bits.
constexpr uint32_t MOST_OF_TILE = 32;

/// Bytes of shared memory for a tile of so many digits.
constexpr uint32_t tile_bytes(uint32_t tile, uint32_t partitions) { return tile * 6 + partitions * 8; }

/// Moves one tile of digits, `each` for each thread, to the partitions: points, and the low bits of their buckets. blockIdx.y is the window.
/// What goes to a partition is written in one run, so tiles are as large as shared memory allows.
__global__ void __launch_bounds__(TILE_THREADS)
    partition_tile(const uint32_t* digits, const __grid_constant__ Group group, const Scalars scalars, uint32_t each, uint32_t* next,
                   uint32_t* partitioned, uint16_t* low_bits) {
    const uint32_t j = blockIdx.y, low = group.low_bits[j], tile = each * TILE_THREADS;
    const uint32_t first = group.partition_first[j], partitions = group.partition_first[j + 1] - first;
    // The tile's digits in the order of partitions, and the place in the tile that each came from.
    extern __shared__ uint32_t shared[];
    uint32_t* const staged = shared;
    uint32_t* const local = staged + tile;          // first place of each partition in `staged`
    uint32_t* const distance = local + partitions;  // from a place in `staged` to one in the partition
    uint16_t* const origin = reinterpret_cast<uint16_t*>(distance + partitions);
    for (uint32_t p = threadIdx.x; p < partitions; p += TILE_THREADS) local[p] = 0;
    __syncthreads();
    const uint32_t begin = blockIdx.x * tile;
    const uint32_t* const window = digits + static_cast<uint64_t>(j) * scalars.count;
    // Calls take(k, digit) for this thread's digits, with TILE_STEP of them under way. Twice: registers would not hold them.
    auto for_digits = [&](auto take) {
#pragma unroll
        for (int from = 0; from < MOST_OF_TILE; from += TILE_STEP) {
            if (from >= each) break;
            uint32_t digit[TILE_STEP];
#pragma unroll
            for (int k = 0; k < TILE_STEP; k++) {
                const uint32_t i = begin + (from + k) * TILE_THREADS + threadIdx.x;
                digit[k] = from + k < each && i < scalars.count ? window[i] : 0;
            }
#pragma unroll
            for (int k = 0; k < TILE_STEP; k++) {
                if (bucket_of(digit[k]) != NO_BUCKET) take(from + k, digit[k]);
            }
        }
    };
    uint32_t ranks[MOST_OF_TILE / 2] = {};  // 16 bits each
    for_digits([&](int k, uint32_t digit) { ranks[k / 2] |= atomicAdd(&local[bucket_of(digit) >> low], 1) << (k % 2 * 16); });
    __syncthreads();
    // Room for all points of a partition at once.
    for (uint32_t p = threadIdx.x; p < partitions; p += TILE_THREADS) {
        distance[p] = local[p] > 0 ? atomicAdd(&next[first + p], local[p]) : 0;
    }
    __syncthreads();
    __shared__ uint32_t total;
    if (threadIdx.x == 0) total = local[partitions - 1];
    __syncthreads();
    scan_in_place<TILE_THREADS>(local, partitions);
    for (uint32_t p = threadIdx.x; p < partitions; p += TILE_THREADS) distance[p] -= local[p];
    if (threadIdx.x == 0) total += local[partitions - 1];
    for_digits([&](int k, uint32_t digit) {
        const uint32_t place = local[bucket_of(digit) >> low] + (ranks[k / 2] >> (k % 2 * 16) & 0xffff);
        staged[place] = digit;
        origin[place] = static_cast<uint16_t>(k * TILE_THREADS + threadIdx.x);
    });
    __syncthreads();
    for (uint32_t place = threadIdx.x; place < total; place += TILE_THREADS) {
        const uint32_t value = staged[place], bucket = bucket_of(value), i = begin + origin[place];
        const uint32_t to = place + distance[bucket >> low];
        partitioned[to] = (scalars.point_index ? scalars.point_index[i] : i) | (value & SIGN);
        low_bits[to] = static_cast<uint16_t>(bucket & ((1u << low) - 1));
    }
}

constexpr int SORT_THREADS = 1024;

/// Takes the next place of a bucket. A warp whose lanes all want the same bucket asks once for all of them.
__device__ __forceinline__ uint32_t take_together(uint32_t* next, uint32_t bucket) {
    const uint32_t active = __activemask(), lane = threadIdx.x & 31;
    int same;
    __match_all_sync(active, bucket, &same);
    if (!same) return atomicAdd(&next[bucket], 1);
    const int leader = __ffs(active) - 1;
    uint32_t place = 0;
    if (lane == leader) place = atomicAdd(&next[bucket], __popc(active));
    return __shfl_sync(active, place, leader) + __popc(active & ((1u << lane) - 1));
}

/// Sorts one partition by bucket, measures its buckets, and describes the additions of neighbours: points 2i and 2i + 1 of a bucket are
/// its addition i. A partition's additions are numbered through its buckets, and lie together in the list, from `reserved` on. One with
/// more than `capacity` points, which shared memory does not hold, is described as its points come; it is often one long bucket.
/// `capacity` is no less than the buckets of a partition.
__global__ void __launch_bounds__(SORT_THREADS)
    sort_partition(const __grid_constant__ Group group, const uint32_t* partition_start, const uint32_t* partitioned,
                   const uint16_t* low_bits, uint32_t capacity, const Regions regions, const Descriptors work, uint32_t* additions,
                   uint32_t* start, uint32_t* length, uint32_t* last, uint32_t* heavy, uint32_t* heavy_count, uint32_t* longest) {
    uint32_t j = 0;
    while (blockIdx.x >= group.partition_first[j + 1]) j++;
    const uint32_t buckets = 1u << group.low_bits[j];
    const uint32_t first_bucket = group.bucket_offset[j] + ((blockIdx.x - group.partition_first[j]) << group.low_bits[j]);
    const uint32_t begin = partition_start[blockIdx.x], count = partition_start[blockIdx.x + 1] - begin;
    extern __shared__ uint32_t shared[];
    uint32_t* const next = shared;                // the next place of each bucket, in the end the one after its last
    uint32_t* const pairs = shared + buckets;     // additions of the buckets before
    uint32_t* const staged = pairs + buckets;     // the sorted points; or where each bucket starts
    const bool stage = count <= capacity;
    auto take = [&](uint32_t bucket) { return stage ? atomicAdd(&next[bucket], 1) : take_together(next, bucket); };
    for (uint32_t b = threadIdx.x; b < buckets; b += SORT_THREADS) next[b] = 0;
    __syncthreads();
    const uint16_t* const bucket_of_point = low_bits + begin;
#pragma unroll 8
    for (uint32_t i = threadIdx.x; i < count; i += SORT_THREADS) take(bucket_of_point[i]);
    __syncthreads();
    uint32_t most = 0;
    for (uint32_t b = threadIdx.x; b < buckets; b += SORT_THREADS) {
        const uint32_t here = next[b];
        length[first_bucket + b] = here;
        pairs[b] = here / 2;
        if (here >= HEAVY) heavy[atomicAdd(heavy_count, 1)] = first_bucket + b;
        most = max(most, here);
    }
    most = __reduce_max_sync(0xffffffffu, most);
    if ((threadIdx.x & 31) == 0 && most > *static_cast<volatile uint32_t*>(longest)) atomicMax(longest, most);
    __shared__ uint32_t total, reserved;
    __syncthreads();
    const uint32_t pairs_of_last = pairs[buckets - 1];
    scan_in_place<SORT_THREADS>(next, buckets);
    scan_in_place<SORT_THREADS>(pairs, buckets);
    if (threadIdx.x == 0) {
        total = pairs[buckets - 1] + pairs_of_last;
        reserved = atomicAdd(additions, total);
    }
    for (uint32_t b = threadIdx.x; b < buckets; b += SORT_THREADS) {
        start[first_bucket + b] = begin + next[b];
        if (!stage) staged[b] = next[b];
    }
    __syncthreads();
    // The target of addition i of a bucket with so many points from a place on.
    auto target = [&](uint32_t bucket, uint32_t from, uint32_t points, uint32_t i) {
        return points == 2 ? regions.buckets + first_bucket + bucket : regions.slot(begin + from, first_bucket + bucket) + i;
    };
#pragma unroll 8
    for (uint32_t i = threadIdx.x; i < count; i += SORT_THREADS) {
        const uint32_t bucket = bucket_of_point[i], place = take(bucket), value = partitioned[begin + i];
        if (stage) {
            staged[place] = value;
            continue;
        }
        const uint32_t from = staged[bucket], points = (bucket + 1 < buckets ? staged[bucket + 1] : count) - from, k = place - from;
        if (points % 2 == 1 && k == points - 1) {
            last[first_bucket + bucket] = value;
        } else {
            const uint32_t at = reserved + pairs[bucket] + k / 2;
            (k % 2 == 0 ? work.first : work.second)[at] = value;
            if (k % 2 == 0) work.target[at] = target(bucket, from, points, k / 2);
        }
    }
    if (!stage) return;
    __syncthreads();
    for (uint32_t b = threadIdx.x; b < buckets; b += SORT_THREADS) {
        const uint32_t from = b > 0 ? next[b - 1] : 0;
        if ((next[b] - from) % 2 == 1) last[first_bucket + b] = staged[next[b] - 1];
    }
    // Each warp describes additions next to one another, so that it finds the bucket of each by going on from the last one's.
    const uint32_t lane = threadIdx.x & 31, warps = SORT_THREADS / 32;
    const uint32_t share = (total + 32 * warps - 1) / (32 * warps) * 32, p_begin = threadIdx.x / 32 * share;
    const uint32_t p_end = min(total, p_begin + share);
    uint32_t bucket = 0;  // the last one that begins at or before the addition
    for (uint32_t step = buckets / 2; step >= 1; step /= 2)
        if (pairs[bucket + step] <= p_begin + lane) bucket += step;
    for (uint32_t p = p_begin + lane; p < p_end; p += 32) {
        while (bucket + 1 < buckets && pairs[bucket + 1] <= p) bucket++;
        const uint32_t from = bucket > 0 ? next[bucket - 1] : 0, i = p - pairs[bucket];
        work.first[reserved + p] = staged[from + 2 * i];
        work.second[reserved + p] = staged[from + 2 * i + 1];
        work.target[reserved + p] = target(bucket, from, next[bucket] - from, i);
    }
}

/// What a block may have on every device that knows the instructions used here, those of compute capability 8.0.
constexpr uint32_t LEAST_SHARED = 99 << 10;
constexpr uint32_t MOST_PARTITIONS = 1 << MAX_PARTITIONS_LOG, MOST_BUCKETS = 1 << MAX_LOW_BITS;
/// Of a kernel that scans, beside what its launch asks for.
template <int THREADS_OF_BLOCK>
constexpr uint32_t FIXED_SHARED = sizeof(typename cub::BlockScan<uint32_t, THREADS_OF_BLOCK>::TempStorage) + 64;
static_assert(9 * DIGIT_THREADS * 4 + MOST_PARTITIONS * 4 <= LEAST_SHARED, "split_into_digits takes one window at least");
static_assert(FIXED_SHARED<TILE_THREADS> + tile_bytes(TILE_THREADS, MOST_PARTITIONS) <= LEAST_SHARED,
              "partition_tile takes one digit for each thread at least");
static_assert(FIXED_SHARED<SORT_THREADS> + 3 * MOST_BUCKETS * 4 <= LEAST_SHARED, "sort_partition has three words for each bucket");

/// Lets launches of a kernel ask for all the shared memory there is, and says how much. The limit is the same each time: limits
/// belong to the current device, and another thread may be between setting its own and its launch.
template <class Kernel>
gpu_status allow_all_shared(Kernel kernel, uint32_t* bytes) {
    int device = 0, most = 0;
    cudaFuncAttributes attributes;
    GPU_TRY(cudaGetDevice(&device));
    GPU_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    GPU_TRY(cudaFuncGetAttributes(&attributes, kernel));
    most -= static_cast<int>(attributes.sharedSizeBytes);
    GPU_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    *bytes = static_cast<uint32_t>(most);
    return gpu_ok();
}

/// Splits by as many blocks as stay on the device; a window has `most` partitions at most.
gpu_status launch_split(const Windows& windows, const Group& group, const Scalars& scalars, uint32_t most, uint32_t* digits,
                        uint32_t* counts, cudaStream_t stream) {
    uint32_t shared = 0;
    int device = 0, multiprocessors = 0, resident = 0;
    GPU_TRY_STATUS(allow_all_shared(split_into_digits, &shared));
    const uint32_t windows_of_part = std::min(group.count, std::max(1u, shared / 4 / most));
    const uint32_t parts = (group.count + windows_of_part - 1) / windows_of_part, bytes = windows_of_part * most * 4;
    GPU_TRY(cudaGetDevice(&device));
    GPU_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, split_into_digits, DIGIT_THREADS, bytes));
    const uint32_t needed = (scalars.count + DIGIT_THREADS - 1) / DIGIT_THREADS;
    const uint32_t blocks = std::min<uint32_t>(needed, std::max(1, multiprocessors * resident));
    split_into_digits<<<dim3(blocks, parts), DIGIT_THREADS, bytes, stream>>>(windows, group, windows_of_part, scalars, digits, counts);
    GPU_TRY_LAUNCH("split_into_digits");
    return gpu_ok();
}

}  // namespace

gpu_status sort_into_buckets(const Windows& windows, const Group& group, const Scalars& scalars, const Regions& regions,
                             const SortBuffers& buffers, cudaStream_t stream, Sorted* sorted) {
    uint32_t* const digits = buffers.work.first;
    const uint32_t n = scalars.count, partitions = group.partition_first[group.count];
    uint32_t most = 0, most_buckets = 0, fewest = n;
    for (uint32_t j = 0; j < group.count; j++) {
        const uint32_t here = group.partition_first[j + 1] - group.partition_first[j];
        most = std::max(most, here);
        fewest = std::min(fewest, here);
        most_buckets = std::max(most_buckets, 1u << group.low_bits[j]);
    }
    static_assert(LONGEST_COUNTER == HEAVY_COUNTER + 1, "read together");
    uint32_t* const found = buffers.counters + HEAVY_COUNTER;
    GPU_TRY(cudaMemsetAsync(buffers.counters, 0, COUNTERS * 4, stream));
    GPU_TRY(cudaMemsetAsync(buffers.partition_next, 0, partitions * 4ull, stream));
    GPU_TRY_STATUS(launch_split(windows, group, scalars, most, digits, buffers.partition_next, stream));
    scan_partitions<<<1, SCAN_THREADS, 0, stream>>>(partitions, buffers.partition_start, buffers.partition_next);
    GPU_TRY_LAUNCH("scan_partitions");
    uint32_t shared = 0;
    GPU_TRY_STATUS(allow_all_shared(partition_tile, &shared));
    // Few digits are spread over some five hundred blocks.
    const uint32_t room_for = (shared - most * 8) / (6 * TILE_THREADS), spread = n / (512 / group.count + 1) / TILE_THREADS + 1;
    const uint32_t each = std::min({MOST_OF_TILE, room_for, spread}), tile = each * TILE_THREADS;
    partition_tile<<<dim3((n + tile - 1) / tile, group.count), TILE_THREADS, tile_bytes(tile, most), stream>>>(
        digits, group, scalars, each, buffers.partition_next, buffers.partitioned, buffers.low_bits);
    GPU_TRY_LAUNCH("partition_tile");
    GPU_TRY_STATUS(allow_all_shared(sort_partition, &shared));
    // Room for a quarter more than the mean: the top window fills nine tenths of its partitions. And for where each bucket starts.
    const uint32_t room = shared / 4 - 2 * most_buckets, mean = n / fewest;
    const uint32_t capacity = std::min(room, std::max(most_buckets, mean + mean / 4 + 1024));
    sort_partition<<<partitions, SORT_THREADS, (2 * most_buckets + capacity) * 4, stream>>>(
        group, buffers.partition_start, buffers.partitioned, buffers.low_bits, capacity, regions, buffers.work, buffers.counters,
        buffers.start, buffers.length, buffers.last, buffers.heavy, found, found + 1);
    GPU_TRY_LAUNCH("sort_partition");
    uint32_t host[2];
    GPU_TRY(cudaMemcpyAsync(host, found, sizeof(host), cudaMemcpyDeviceToHost, stream));
    GPU_TRY(cudaStreamSynchronize(stream));
    *sorted = Sorted{host[1], host[0]};
    return gpu_ok();
}

}  // namespace msm
