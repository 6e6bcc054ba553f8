#pragma once
// The sum of many points, each taken once: halving by batched affine additions, and a last step in XYZZ.
#include "reduce.cuh"

namespace msm {

constexpr int SUM_THREADS = 128;
constexpr uint32_t SUM_BLOCKS = 64;  // so many partial sums are left to the host
constexpr uint32_t SUM_DIRECTLY = SUM_BLOCKS * SUM_THREADS * 2;

/// The sum of a block's values in thread 0.
template <class F>
__device__ void sum_block(Xyzz<F>* value, Xyzz<F>* shared) {
    for (uint32_t half = SUM_THREADS / 2; half >= 1; half >>= 1) {
        if (threadIdx.x >= half && threadIdx.x < 2 * half) shared[threadIdx.x - half] = *value;
        __syncthreads();
        if (threadIdx.x < half) add_in_place(value, &shared[threadIdx.x]);
        __syncthreads();
    }
}

/// Neighbours of the list into slots from `slot` on; without a list, the second half of `left` slots to the first half, in place.
static __global__ void describe_halving(const Descriptors work, const uint32_t* list, uint32_t slot, uint32_t left) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= left / 2) return;
    work.first[i] = list ? list[2 * i] : slot + i;
    work.second[i] = list ? list[2 * i + 1] : slot + (left + 1) / 2 + i;
    work.target[i] = slot + i;
}

template <class F>
__global__ void copy_point(const Affine<F>* points, const uint32_t* index, Affine<F>* slots, uint32_t to) {
    const Affine<F> point = PointRows<F, Points::PLAIN>(points, *index).load();
    PointRows<F, Points::TILED>(slots, to).store(point.x, point.y);
}

template <class F, Points IN>
__global__ void __launch_bounds__(SUM_THREADS)
    sum_points(const Affine<F>* points, const uint32_t* list, uint32_t first, uint32_t count, Jacobian<F>* sums) {
    __shared__ Xyzz<F> shared[SUM_THREADS / 2];
    Xyzz<F> value = xyzz_infinity<F>();
    for (uint32_t i = blockIdx.x * SUM_THREADS + threadIdx.x; i < count; i += SUM_BLOCKS * SUM_THREADS) {
        const Affine<F> point = PointRows<F, IN>(points, list ? list[i] : first + i).load();
        add_affine_in_place(&value, &point);
    }
    sum_block(&value, shared);
    if (threadIdx.x == 0) sums[blockIdx.x] = to_jacobian(value);
}

/// Writes SUM_BLOCKS points whose sum is that of the listed bases. Needs descriptors and ping slots for half of `count` and one
/// more.
template <class F>
gpu_status sum_list(const Workspace<F>& space, const Affine<F>* bases, const uint32_t* list, uint32_t count, Jacobian<F>* sums,
                    cudaStream_t stream) {
    if (count <= SUM_DIRECTLY) {
        sum_points<F, Points::PLAIN><<<SUM_BLOCKS, SUM_THREADS, 0, stream>>>(bases, list, 0, count, sums);
        GPU_TRY_LAUNCH("sum_points");
        return gpu_ok();
    }
    uint32_t left = count;
    for (uint32_t level = 0; left > SUM_DIRECTLY; level++) {
        const uint32_t pairs = left / 2;
        describe_halving<<<(pairs + 255) / 256, 256, 0, stream>>>(space.work, level == 0 ? list : nullptr, space.ping, left);
        GPU_TRY_LAUNCH("describe_halving");
        if (level == 0) {
            GPU_TRY_STATUS((launch_batch_add<F, Points::PLAIN, Points::TILED>(space, bases, bases, space.slots, nullptr, pairs, stream)));
            if (left % 2 == 1) {
                copy_point<F><<<1, 1, 0, stream>>>(bases, list + left - 1, space.slots, space.ping + pairs);
                GPU_TRY_LAUNCH("copy_point");
            }
        } else {
            GPU_TRY_STATUS(launch_in_slots<F>(space, nullptr, pairs, stream));
        }
        left = (left + 1) / 2;
    }
    sum_points<F, Points::TILED><<<SUM_BLOCKS, SUM_THREADS, 0, stream>>>(space.slots, nullptr, space.ping, left, sums);
    GPU_TRY_LAUNCH("sum_points");
    return gpu_ok();
}

}  // namespace msm
