#pragma once
// Many multiples of one point, as affine points.
//
// The table holds d 2^offset P for each window and each d from 1 to 2^(width - 1), after one entry for infinity. A multiple is
// the sum of one entry from each window, by batched affine additions.
#include "tree.cuh"

namespace msm {

/// Entry of digit d > 0 of window j. All windows have the width of window 0, or less.
GPU_HD uint32_t table_entry(const Windows& windows, uint32_t j, uint32_t d) { return (j << (windows.width[0] - 1)) + d; }

template <class F>
__global__ void place_powers(const __grid_constant__ Windows windows, const Affine<F>* powers, Affine<F>* table) {
    const uint32_t j = threadIdx.x;
    if (j == 0) table[0] = Affine<F>{zero<F>(), zero<F>()};
    if (j < windows.count) table[table_entry(windows, j, 1)] = powers[j];
}

/// d = 2^k + e for e from 1 to 2^k: entry d is entry 2^k plus entry e. blockIdx.y is the window.
static __global__ void describe_table(const __grid_constant__ Windows windows, uint32_t k, const Descriptors work) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y, count = 1u << k;
    if (i >= count) return;
    const uint32_t at = (j << k) + i;
    work.first[at] = table_entry(windows, j, count);
    work.second[at] = table_entry(windows, j, i + 1);
    work.target[at] = table_entry(windows, j, count + i + 1);
}

/// The table from powers[j] = 2^offset[j] P. Needs descriptors for half the table.
template <class F>
gpu_status build_table(const Workspace<F>& space, const Windows& windows, const Affine<F>* powers, Affine<F>* table,
                       cudaStream_t stream) {
    place_powers<F><<<1, MAX_WINDOWS, 0, stream>>>(windows, powers, table);
    GPU_TRY_LAUNCH("place_powers");
    for (uint32_t k = 0; k + 1 < windows.width[0]; k++) {
        describe_table<<<dim3(((1u << k) + 255) / 256, windows.count), 256, 0, stream>>>(windows, k, space.work);
        GPU_TRY_LAUNCH("describe_table");
        GPU_TRY_STATUS((launch_batch_add<F, Points::PLAIN, Points::PLAIN>(space, table, table, table, nullptr, windows.count << k, stream)));
    }
    return gpu_ok();
}

__device__ __forceinline__ uint32_t entry_of(const Windows& windows, uint32_t j, const Fr& biased, bool negated) {
    const uint32_t offset = windows.offset[j], width = windows.width[j];
    uint32_t low = 0, high = 0;
#pragma unroll
    for (uint32_t k = 0; k < 8; k++) {
        if (k == offset >> 5) {
            low = biased.v[k];
            high = k < 7 ? biased.v[k + 1] : 0;
        }
    }
    const uint32_t bits = __funnelshift_r(low, high, offset & 31) & ((1u << width) - 1);
    const int32_t digit = static_cast<int32_t>(bits) - (j + 1 < windows.count ? 1 << (width - 1) : 0);
    if (digit == 0) return 0;
    return table_entry(windows, j, static_cast<uint32_t>(abs(digit))) | ((digit < 0) != negated ? SIGN : 0);
}

/// The additions of window j; of windows 0 and 1 together for j = 1.
static __global__ void __launch_bounds__(256)
    describe_multiples(const __grid_constant__ Windows windows, uint32_t j, const uint32_t* scalars, uint32_t montgomery,
                       uint32_t count, const Descriptors work) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const uint4* source = reinterpret_cast<const uint4*>(scalars) + 2 * static_cast<uint64_t>(i);
    const uint4 low = source[0], high = source[1];
    bool negated;
    const Fr biased = signed_scalar(Fr{{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}}, montgomery, windows, &negated);
    work.first[i] = j == 1 ? entry_of(windows, 0, biased, negated) : i;
    work.second[i] = entry_of(windows, j, biased, negated);
    work.target[i] = i;
}

/// out[i] = scalars[i] P. Needs descriptors for `count`.
template <class F>
gpu_status multiply_fixed(const Workspace<F>& space, const Windows& windows, const Affine<F>* table, const uint32_t* scalars,
                          uint32_t montgomery, uint32_t count, Affine<F>* out, cudaStream_t stream) {
    for (uint32_t j = 1; j < windows.count; j++) {
        describe_multiples<<<(count + 255) / 256, 256, 0, stream>>>(windows, j, scalars, montgomery, count, space.work);
        GPU_TRY_LAUNCH("describe_multiples");
        GPU_TRY_STATUS((launch_batch_add<F, Points::PLAIN, Points::PLAIN>(space, j == 1 ? table : out, table, out, nullptr, count, stream)));
    }
    return gpu_ok();
}

}  // namespace msm
