#pragma once
// The sum of many points, each taken once: halving by batched affine additions, and a last step in XYZZ.
#include "reduce.cuh"

namespace msm {

constexpr uint32_t SUM_BLOCKS = 64;  // so many partial sums are left to the host
constexpr uint32_t SUM_DIRECTLY = SUM_BLOCKS * SUM_THREADS * 2;

/// Neighbours of a list of points, or of slots from `source` on.
static __global__ void describe_neighbours(const Descriptors work, const uint32_t* list, uint32_t source, uint32_t pairs,
                                           uint32_t target) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    work.first[i] = list ? list[2 * i] : source + 2 * i;
    work.second[i] = list ? list[2 * i + 1] : source + 2 * i + 1;
    work.target[i] = target + i;
}

template <class F, Points IN>
__global__ void copy_point(const Affine<F>* points, const uint32_t* list, uint32_t index, Affine<F>* slots, uint32_t to) {
    const Affine<F> point = PointRows<F, IN>(points, list ? list[index] : index).load();
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

/// Writes SUM_BLOCKS points whose sum is that of the listed bases. Needs descriptors and ping slots for half of `count`, and
/// pong slots for a quarter, each and one more.
template <class F>
gpu_status sum_list(const Workspace<F>& space, const Affine<F>* bases, const uint32_t* list, uint32_t count, Jacobian<F>* sums,
                    cudaStream_t stream) {
    if (count <= SUM_DIRECTLY) {
        sum_points<F, Points::PLAIN><<<SUM_BLOCKS, SUM_THREADS, 0, stream>>>(bases, list, 0, count, sums);
        GPU_TRY_LAUNCH("sum_points");
        return gpu_ok();
    }
    uint32_t source = 0, left = count;
    for (uint32_t level = 0; left > SUM_DIRECTLY; level++) {
        const uint32_t pairs = left / 2, target = level % 2 == 0 ? space.ping : space.pong;
        const uint32_t* const names = level == 0 ? list : nullptr;
        describe_neighbours<<<(pairs + 255) / 256, 256, 0, stream>>>(space.work, names, source, pairs, target);
        GPU_TRY_LAUNCH("describe_neighbours");
        if (level == 0) {
            GPU_TRY_STATUS((launch_batch_add<F, Points::PLAIN, Points::TILED>(space, bases, bases, space.slots, nullptr, pairs, stream)));
        } else {
            GPU_TRY_STATUS(launch_in_slots<F>(space, nullptr, pairs, stream));
        }
        if (left % 2 == 1) {
            const uint32_t to = target + pairs;
            if (level == 0) {
                copy_point<F, Points::PLAIN><<<1, 1, 0, stream>>>(bases, list, left - 1, space.slots, to);
            } else {
                copy_point<F, Points::TILED><<<1, 1, 0, stream>>>(space.slots, nullptr, source + left - 1, space.slots, to);
            }
            GPU_TRY_LAUNCH("copy_point");
        }
        source = target;
        left = (left + 1) / 2;
    }
    sum_points<F, Points::TILED><<<SUM_BLOCKS, SUM_THREADS, 0, stream>>>(space.slots, nullptr, source, left, sums);
    GPU_TRY_LAUNCH("sum_points");
    return gpu_ok();
}

}  // namespace msm
