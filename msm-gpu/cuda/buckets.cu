// Digits of the scalars, their sort by bucket (CUB's radix sort), and the extent of each bucket.
#include "buckets.cuh"

#include <cub/device/device_radix_sort.cuh>

namespace msm {
namespace {

constexpr int THREADS = 256;

/// One thread for each scalar; one key and one value for each window of the group.
__global__ void __launch_bounds__(THREADS)
    split_into_digits(const __grid_constant__ Windows windows, const __grid_constant__ Group group,
                      const Scalars scalars, uint32_t* keys, uint32_t* values) {
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
    const uint32_t point = scalars.point_index ? scalars.point_index[i] : i;
    for (uint32_t j = 0; j < group.count; j++) {
        const uint32_t window = group.first + j, offset = windows.offset[window], width = windows.width[window];
        const uint32_t bits = __funnelshift_r(words[offset >> 5][threadIdx.x], words[(offset >> 5) + 1][threadIdx.x],
                                              offset & 31) & ((1u << width) - 1);
        const int32_t digit = static_cast<int32_t>(bits) - (window + 1 < windows.count ? 1 << (width - 1) : 0);
        const uint64_t out = static_cast<uint64_t>(j) * scalars.count + i;
        keys[out] = static_cast<uint32_t>(abs(digit)) + group.key_offset[j];
        values[out] = point | ((digit < 0) != negated ? SIGN : 0);
    }
}

/// Marks where each key's run begins and ends. blockIdx.y is the window.
__global__ void __launch_bounds__(THREADS)
    find_runs(const uint32_t* keys, uint32_t count, const __grid_constant__ Group group, uint32_t* start, uint32_t* end) {
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x, j = blockIdx.y;
    if (i >= count) return;
    const uint32_t* window = keys + static_cast<uint64_t>(j) * count;
    const uint32_t key = window[i], digit = key - group.key_offset[j];
    if (digit == 0) return;
    const uint32_t bucket = group.bucket_offset[j] + digit - 1, position = j * count + i;
    if (i == 0 || window[i - 1] != key) start[bucket] = position;
    if (i == count - 1 || window[i + 1] != key) end[bucket] = position + 1;
}

/// Turns ends into lengths, lists the heavy buckets and finds the longest.
__global__ void __launch_bounds__(THREADS)
    measure_runs(const uint32_t* start, uint32_t* end_to_length, uint32_t buckets, uint32_t* heavy, uint32_t* heavy_count,
                 uint32_t* longest) {
    const uint32_t b = blockIdx.x * THREADS + threadIdx.x;
    uint32_t length = 0;
    if (b < buckets) {
        length = end_to_length[b] - start[b];
        end_to_length[b] = length;
        if (length >= HEAVY) heavy[atomicAdd(heavy_count, 1)] = b;
    }
    const uint32_t most = __reduce_max_sync(0xffffffffu, length);
    if ((threadIdx.x & 31) == 0 && most > *static_cast<volatile uint32_t*>(longest)) atomicMax(longest, most);
}

}  // namespace

gpu_status sort_into_buckets(const Windows& windows, const Group& group, const Scalars& scalars,
                             const SortBuffers& buffers, cudaStream_t stream, Sorted* sorted) {
    const uint32_t n = scalars.count, blocks = (n + THREADS - 1) / THREADS;
    split_into_digits<<<blocks, THREADS, 0, stream>>>(windows, group, scalars, buffers.keys, buffers.values);
    GPU_TRY_LAUNCH("split_into_digits");
    // The sort swaps between the two halves of each buffer as often as its passes need; the bits are the same for all windows, so
    // all of them end in the same half.
    uint32_t *keys = nullptr, *values = nullptr;
    for (uint32_t j = 0; j < (group.merged ? 1 : group.count); j++) {
        const uint64_t at = static_cast<uint64_t>(j) * n;
        const int64_t pairs = group.merged ? static_cast<int64_t>(n) * group.count : n;
        cub::DoubleBuffer<uint32_t> key(buffers.keys + at, buffers.keys_other + at);
        cub::DoubleBuffer<uint32_t> value(buffers.values + at, buffers.values_other + at);
        size_t temporary = buffers.temporary_bytes;
        GPU_TRY(cub::DeviceRadixSort::SortPairs(buffers.temporary, temporary, key, value, pairs, 0, group.key_bits, stream));
        keys = key.Current() - at;
        values = value.Current() - at;
    }
    uint32_t* const found = buffers.counters + 62;  // heavy buckets, longest bucket
    GPU_TRY(cudaMemsetAsync(buffers.start, 0, group.buckets * 4ull, stream));
    GPU_TRY(cudaMemsetAsync(buffers.length, 0, group.buckets * 4ull, stream));
    GPU_TRY(cudaMemsetAsync(buffers.counters, 0, 64 * 4, stream));
    find_runs<<<dim3(blocks, group.count), THREADS, 0, stream>>>(keys, n, group, buffers.start, buffers.length);
    GPU_TRY_LAUNCH("find_runs");
    measure_runs<<<(group.buckets + THREADS - 1) / THREADS, THREADS, 0, stream>>>(
        buffers.start, buffers.length, group.buckets, buffers.heavy, found, found + 1);
    GPU_TRY_LAUNCH("measure_runs");
    uint32_t host[2];
    GPU_TRY(cudaMemcpyAsync(host, found, sizeof(host), cudaMemcpyDeviceToHost, stream));
    GPU_TRY(cudaStreamSynchronize(stream));
    *sorted = Sorted{values, host[1], host[0]};
    return gpu_ok();
}

}  // namespace msm

/// Bytes that the sort of `pairs` pairs needs beside its buffers.
extern "C" gpu_status msm_sort_bytes(uint64_t pairs, uint64_t* bytes) {
    size_t needed = 0;
    cub::DoubleBuffer<uint32_t> none;
    GPU_TRY(cub::DeviceRadixSort::SortPairs(nullptr, needed, none, none, static_cast<int64_t>(pairs), 0, 32));
    *bytes = needed;
    return gpu_ok();
}
