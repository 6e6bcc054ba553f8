#pragma once
// Points of a file, decoded where they lie.
#include "encoding.cuh"
#include "points.cuh"
#include "status.cuh"

namespace msm {

constexpr int DECODE_THREADS = 128;

/// Each thread its own point, which has as many bytes before as after. A bad one becomes infinity, and `bad` the least of its old value
/// and the point's index, counted from `index`.
template <class F>
__global__ void __launch_bounds__(DECODE_THREADS) decode_each(Affine<F>* points, uint32_t count, uint32_t index, uint32_t* bad) {
    const uint32_t i = blockIdx.x * DECODE_THREADS + threadIdx.x;
    if (i >= count) return;
    const PointRows<F, Points::PLAIN> rows(points, i);
    Affine<F> point;
    if (!decode_point(rows.load(), &point)) atomicMin(bad, index + i);
    rows.store(point.x, point.y);
}

template <class F>
gpu_status decode_points(Affine<F>* points, uint32_t count, uint32_t index, uint32_t* bad, cudaStream_t stream) {
    if (count == 0) return gpu_ok();
    const uint32_t blocks = count / DECODE_THREADS + (count % DECODE_THREADS != 0);
    decode_each<F><<<blocks, DECODE_THREADS, 0, stream>>>(points, count, index, bad);
    GPU_TRY_LAUNCH("decode_each");
    return gpu_ok();
}

}  // namespace msm
