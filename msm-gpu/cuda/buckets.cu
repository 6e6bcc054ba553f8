// Digits of the scalars, their sort by bucket, and the extent of each bucket.
//
// The sort has two passes. The first one puts the points of each window into partitions of neighbouring buckets, some 32 thousand points
// each; the second one sorts a partition by its buckets in shared memory. Points of a bucket come in any order, so places are
// handed out by atomic counters in shared memory, and nothing is scanned but the counts.
#include "buckets.cuh"

#include <algorithm>

#include <cub/block/block_scan.cuh>

namespace msm {
namespace {

constexpr int THREADS = 256;

/// One thread for each scalar; for each window of the group the digit's size, with the sign of the point.
__global__ void __launch_bounds__(THREADS)
    split_into_digits(const __grid_constant__ Windows windows, const __grid_constant__ Group group,
                      const Scalars scalars, uint32_t* digits) {
    __shared__ uint32_t words[9][THREADS];
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= scalars.count) return;
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
    for (uint32_t j = 0; j < group.count; j++) {
        const uint32_t window = group.first + j, offset = windows.offset[window], width = windows.width[window];
        const uint32_t bits = __funnelshift_r(words[offset >> 5][threadIdx.x], words[(offset >> 5) + 1][threadIdx.x],
                                              offset & 31) & ((1u << width) - 1);
        const int32_t digit = static_cast<int32_t>(bits) - (window + 1 < windows.count ? 1 << (width - 1) : 0);
        digits[static_cast<uint64_t>(j) * scalars.count + i] =
            static_cast<uint32_t>(abs(digit)) | ((digit < 0) != negated ? SIGN : 0);
    }
}

/// Bucket of a digit within its window; all ones for the digit 0, which has none.
__device__ __forceinline__ uint32_t bucket_of(uint32_t digit) { return (digit & ~SIGN) - 1; }
constexpr uint32_t NO_BUCKET = 0xffffffff;

constexpr int TILE_THREADS = 512, TILE_EACH = 16, TILE = TILE_THREADS * TILE_EACH;
constexpr uint32_t TILES_COUNTED = 8;  // by one block

/// Counts the points of each partition. blockIdx.y is the window.
__global__ void __launch_bounds__(TILE_THREADS)
    count_partitions(const uint32_t* digits, uint32_t n, const __grid_constant__ Group group, uint32_t* counts) {
    extern __shared__ uint32_t local[];
    const uint32_t j = blockIdx.y, low = group.low_bits[j];
    const uint32_t first = group.partition_first[j], partitions = group.partition_first[j + 1] - first;
    for (uint32_t p = threadIdx.x; p < partitions; p += TILE_THREADS) local[p] = 0;
    __syncthreads();
    const uint32_t* const window = digits + static_cast<uint64_t>(j) * n;
    const uint32_t begin = blockIdx.x * (TILE * TILES_COUNTED), end = min(n, begin + TILE * TILES_COUNTED);
#pragma unroll 8
    for (uint32_t i = begin + threadIdx.x; i < end; i += TILE_THREADS) {
        const uint32_t bucket = bucket_of(window[i]);
        if (bucket != NO_BUCKET) atomicAdd(&local[bucket >> low], 1);
    }
    __syncthreads();
    for (uint32_t p = threadIdx.x; p < partitions; p += TILE_THREADS) {
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

constexpr uint32_t partition_shared_bytes(uint32_t partitions) { return TILE * 6 + partitions * 8; }

/// Moves one tile of digits to the partitions: points, and the low bits of their buckets. blockIdx.y is the window.
__global__ void __launch_bounds__(TILE_THREADS)
    partition_tile(const uint32_t* digits, const __grid_constant__ Group group, const Scalars scalars, uint32_t* next,
                   uint32_t* partitioned, uint16_t* low_bits) {
    const uint32_t j = blockIdx.y, low = group.low_bits[j];
    const uint32_t first = group.partition_first[j], partitions = group.partition_first[j + 1] - first;
    // The tile's digits in the order of partitions, and the place in the tile that each came from.
    extern __shared__ uint32_t shared[];
    uint32_t* const staged = shared;
    uint32_t* const local = staged + TILE;         // first place of each partition in `staged`
    uint32_t* const distance = local + partitions;  // from a place in `staged` to one in the partition
    uint16_t* const origin = reinterpret_cast<uint16_t*>(distance + partitions);
    for (uint32_t p = threadIdx.x; p < partitions; p += TILE_THREADS) local[p] = 0;
    __syncthreads();
    const uint32_t begin = blockIdx.x * TILE;
    const uint32_t* const window = digits + static_cast<uint64_t>(j) * scalars.count;
    uint32_t digit[TILE_EACH], rank[TILE_EACH];
#pragma unroll
    for (int k = 0; k < TILE_EACH; k++) {
        const uint32_t i = begin + k * TILE_THREADS + threadIdx.x;
        digit[k] = i < scalars.count ? window[i] : 0;
    }
#pragma unroll
    for (int k = 0; k < TILE_EACH; k++) {
        const uint32_t bucket = bucket_of(digit[k]);
        if (bucket != NO_BUCKET) rank[k] = atomicAdd(&local[bucket >> low], 1);
    }
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
#pragma unroll
    for (int k = 0; k < TILE_EACH; k++) {
        const uint32_t bucket = bucket_of(digit[k]);
        if (bucket == NO_BUCKET) continue;
        const uint32_t place = local[bucket >> low] + rank[k];
        staged[place] = digit[k];
        origin[place] = static_cast<uint16_t>(k * TILE_THREADS + threadIdx.x);
    }
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

/// Sorts one partition by bucket and measures its buckets. One with more than `capacity` points, which shared memory does not hold, is
/// written without staging; it is often one long bucket.
__global__ void __launch_bounds__(SORT_THREADS)
    sort_partition(const __grid_constant__ Group group, const uint32_t* partition_start, const uint32_t* partitioned,
                   const uint16_t* low_bits, uint32_t capacity, uint32_t* values, uint32_t* start, uint32_t* length,
                   uint32_t* heavy, uint32_t* heavy_count, uint32_t* longest) {
    uint32_t j = 0;
    while (blockIdx.x >= group.partition_first[j + 1]) j++;
    const uint32_t buckets = 1u << group.low_bits[j];
    const uint32_t first_bucket = group.bucket_offset[j] + ((blockIdx.x - group.partition_first[j]) << group.low_bits[j]);
    const uint32_t begin = partition_start[blockIdx.x], count = partition_start[blockIdx.x + 1] - begin;
    extern __shared__ uint32_t shared[];
    uint32_t* const next = shared;  // of each bucket
    uint32_t* const staged = shared + buckets;
    const bool stage = count <= capacity;
    auto take = [&](uint32_t bucket) { return stage ? atomicAdd(&next[bucket], 1) : take_together(next, bucket); };
    for (uint32_t b = threadIdx.x; b < buckets; b += SORT_THREADS) next[b] = 0;
    __syncthreads();
    const uint16_t* const bucket_of_point = low_bits + begin;
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < count; i += SORT_THREADS) take(bucket_of_point[i]);
    __syncthreads();
    uint32_t most = 0;
    for (uint32_t b = threadIdx.x; b < buckets; b += SORT_THREADS) {
        const uint32_t here = next[b];
        length[first_bucket + b] = here;
        if (here >= HEAVY) heavy[atomicAdd(heavy_count, 1)] = first_bucket + b;
        most = max(most, here);
    }
    most = __reduce_max_sync(0xffffffffu, most);
    if ((threadIdx.x & 31) == 0 && most > *static_cast<volatile uint32_t*>(longest)) atomicMax(longest, most);
    __syncthreads();
    scan_in_place<SORT_THREADS>(next, buckets);
    for (uint32_t b = threadIdx.x; b < buckets; b += SORT_THREADS) start[first_bucket + b] = begin + next[b];
    __syncthreads();
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < count; i += SORT_THREADS) {
        const uint32_t place = take(bucket_of_point[i]), value = partitioned[begin + i];
        if (stage) {
            staged[place] = value;
        } else {
            values[begin + place] = value;
        }
    }
    if (!stage) return;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += SORT_THREADS) values[begin + i] = staged[i];
}

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

}  // namespace

gpu_status sort_into_buckets(const Windows& windows, const Group& group, const Scalars& scalars,
                             const SortBuffers& buffers, cudaStream_t stream, Sorted* sorted) {
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
    split_into_digits<<<(n + THREADS - 1) / THREADS, THREADS, 0, stream>>>(windows, group, scalars, buffers.values);
    GPU_TRY_LAUNCH("split_into_digits");
    const uint32_t tiles = (n + TILE - 1) / TILE;
    count_partitions<<<dim3((tiles + TILES_COUNTED - 1) / TILES_COUNTED, group.count), TILE_THREADS, most * 4, stream>>>(
        buffers.values, n, group, buffers.partition_next);
    GPU_TRY_LAUNCH("count_partitions");
    scan_partitions<<<1, SCAN_THREADS, 0, stream>>>(partitions, buffers.partition_start, buffers.partition_next);
    GPU_TRY_LAUNCH("scan_partitions");
    uint32_t shared = 0;
    GPU_TRY_STATUS(allow_all_shared(partition_tile, &shared));
    partition_tile<<<dim3(tiles, group.count), TILE_THREADS, partition_shared_bytes(most), stream>>>(
        buffers.values, group, scalars, buffers.partition_next, buffers.partitioned, buffers.low_bits);
    GPU_TRY_LAUNCH("partition_tile");
    GPU_TRY_STATUS(allow_all_shared(sort_partition, &shared));
    // Room for a quarter more than the mean: the top window fills nine tenths of its partitions.
    const uint32_t room = shared / 4 - most_buckets, mean = n / fewest;
    const uint32_t capacity = std::min(room, mean + mean / 4 + 1024), sort_bytes = (most_buckets + capacity) * 4;
    sort_partition<<<partitions, SORT_THREADS, sort_bytes, stream>>>(
        group, buffers.partition_start, buffers.partitioned, buffers.low_bits, capacity, buffers.values, buffers.start,
        buffers.length, buffers.heavy, found, found + 1);
    GPU_TRY_LAUNCH("sort_partition");
    uint32_t host[2];
    GPU_TRY(cudaMemcpyAsync(host, found, sizeof(host), cudaMemcpyDeviceToHost, stream));
    GPU_TRY(cudaStreamSynchronize(stream));
    *sorted = Sorted{buffers.values, host[1], host[0]};
    return gpu_ok();
}

}  // namespace msm
