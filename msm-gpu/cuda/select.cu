// From packed scalars to two lists of bases: those to add once, and those with a dense scalar. Both in the order of the bases.
#include <cub/device/device_scan.cuh>

#include "status.cuh"

namespace msm {
namespace {

constexpr int THREADS = 256;

/// What a 64-bit word of the bitmaps holds; after the scan, what all words before it hold.
struct Counts {
    uint32_t bases;       // variables with a base
    uint32_t dense;       // dense scalars, with a base or not
    uint32_t ones;        // ones with a base
    uint32_t dense_used;  // dense scalars with a base
};

struct AddCounts {
    __host__ __device__ Counts operator()(const Counts& a, const Counts& b) const {
        return Counts{a.bases + b.bases, a.dense + b.dense, a.ones + b.ones, a.dense_used + b.dense_used};
    }
};

/// The bitmaps of `words` 64-bit words. No density: every scalar has a base.
struct Bitmaps {
    const uint64_t* ones;
    const uint64_t* is_dense;
    const uint64_t* density;
    uint32_t words;

    __device__ __forceinline__ uint64_t with_base(uint32_t w) const { return density ? density[w] : ~0ull; }
};

/// One entry more than there are words: the scan leaves the totals there.
__global__ void __launch_bounds__(THREADS) count_words(const Bitmaps maps, Counts* counts) {
    const uint32_t w = blockIdx.x * THREADS + threadIdx.x;
    if (w > maps.words) return;
    Counts here{0, 0, 0, 0};
    if (w < maps.words) {
        const uint64_t with_base = maps.with_base(w), dense = maps.is_dense[w];
        here = Counts{static_cast<uint32_t>(__popcll(with_base)), static_cast<uint32_t>(__popcll(dense)),
                      static_cast<uint32_t>(__popcll(maps.ones[w] & with_base)),
                      static_cast<uint32_t>(__popcll(dense & with_base))};
    }
    counts[w] = here;
}

/// One thread for each variable.
__global__ void __launch_bounds__(THREADS)
    list_selected(const Bitmaps maps, const Counts* counts, uint32_t* ones, uint32_t* dense_bases, uint32_t* dense_scalars) {
    const uint64_t v = blockIdx.x * static_cast<uint64_t>(THREADS) + threadIdx.x;
    const uint32_t w = static_cast<uint32_t>(v >> 6);
    if (w >= maps.words) return;
    const uint64_t with_base = maps.with_base(w), one = maps.ones[w] & with_base, dense = maps.is_dense[w];
    const uint64_t bit = 1ull << (v & 63), below = bit - 1;
    if (((one | (dense & with_base)) & bit) == 0) return;
    const Counts before = counts[w];
    const uint32_t base = before.bases + __popcll(with_base & below);
    if (one & bit) {
        ones[before.ones + __popcll(one & below)] = base;
    } else {
        const uint32_t at = before.dense_used + __popcll(dense & with_base & below);
        dense_bases[at] = base;
        dense_scalars[at] = before.dense + __popcll(dense & below);
    }
}

/// How many entries of a rising list are below each bound.
__global__ void find_bounds(const uint32_t* list, uint32_t count, const uint32_t* bounds, uint32_t bound_count, uint32_t* found) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= bound_count) return;
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (list[middle] < bounds[i]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    found[i] = low;
}

}  // namespace
}  // namespace msm

using namespace msm;

extern "C" {

/// Bytes of the scan over `words` words.
gpu_status msm_select_bytes(uint32_t words, uint64_t* bytes) {
    size_t needed = 0;
    Counts* none = nullptr;
    GPU_TRY(cub::DeviceScan::ExclusiveScan(nullptr, needed, none, AddCounts{}, Counts{}, static_cast<int64_t>(words) + 1));
    *bytes = needed;
    return gpu_ok();
}

/// Fills `counts` (words + 1 entries of four u32; the last one holds the totals: bases, dense, ones, dense with a base).
gpu_status msm_select_count(const uint64_t* ones, const uint64_t* is_dense, const uint64_t* density, uint32_t words,
                            void* counts, void* temporary, uint64_t temporary_bytes, void* stream) {
    const auto on = static_cast<cudaStream_t>(stream);
    const Bitmaps maps{ones, is_dense, density, words};
    Counts* const all = static_cast<Counts*>(counts);
    count_words<<<words / THREADS + 1, THREADS, 0, on>>>(maps, all);
    GPU_TRY_LAUNCH("count_words");
    size_t bytes = temporary_bytes;
    GPU_TRY(cub::DeviceScan::ExclusiveScan(temporary, bytes, all, AddCounts{}, Counts{}, static_cast<int64_t>(words) + 1, on));
    return gpu_ok();
}

/// Lists the bases of ones, and base and scalar of each dense one.
gpu_status msm_select_list(const uint64_t* ones, const uint64_t* is_dense, const uint64_t* density, uint32_t words,
                           const void* counts, uint32_t* ones_list, uint32_t* dense_bases, uint32_t* dense_scalars, void* stream) {
    if (words == 0) return gpu_ok();
    const uint64_t blocks = (64ull * words + THREADS - 1) / THREADS;
    list_selected<<<static_cast<uint32_t>(blocks), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
        Bitmaps{ones, is_dense, density, words}, static_cast<const Counts*>(counts), ones_list, dense_bases, dense_scalars);
    GPU_TRY_LAUNCH("list_selected");
    return gpu_ok();
}

/// found[i] = how many entries of the rising list are below bounds[i].
gpu_status msm_find_bounds(const uint32_t* list, uint32_t count, const uint32_t* bounds, uint32_t bound_count, uint32_t* found,
                           void* stream) {
    if (bound_count == 0) return gpu_ok();
    find_bounds<<<(bound_count + 63) / 64, 64, 0, static_cast<cudaStream_t>(stream)>>>(list, count, bounds, bound_count, found);
    GPU_TRY_LAUNCH("find_bounds");
    return gpu_ok();
}

}  // extern "C"
