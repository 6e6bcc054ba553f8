#pragma once
// From bucket sums to the windows' results: for each window the sum of (k + 1) S_k over its buckets k.
//
// Bucket index k = (row, column). Row sums and column sums come from halving both ways with batched affine additions, two
// additions for each bucket. What remains is one sum for each bit of k, and one of everything for the "+ 1":
//     sum (k + 1) S_k = T + sum over bits b of 2^b (sum of S_k with bit b of k set),
// where the low bits need column sums only and the high bits row sums only. Those last sums use XYZZ, a block each, and take over
// from the halving early when it would run nearly empty. The host joins them with about 255 doublings.
#include "tree.cuh"

namespace msm {

constexpr int SUMS_OF_WINDOW = 32;  // the host finds T at 32 j and bit b at 32 j + 1 + b
constexpr int SUM_THREADS = 128;

/// Rows and columns of a window of 2^(width - 1) buckets, and how many halvings each way leaves to the last sums.
struct Shape {
    uint32_t row_bits, column_bits, kept;
    GPU_HD uint32_t row_rounds() const { return column_bits > kept ? column_bits - kept : 0; }
    GPU_HD uint32_t column_rounds() const { return row_bits > kept ? row_bits - kept : 0; }
};
GPU_HD Shape shape_of(uint32_t width) {
    const uint32_t bits = width - 1, columns = (bits + 1) / 2, rows = bits - columns;
    return Shape{rows, columns, rows < 10 ? (rows > 7 ? 10 - rows : 3) : 0};
}

struct FoldPlan {
    uint32_t round;
    uint32_t bucket_slot[MAX_WINDOWS];  // of each window
    uint32_t half_slot[MAX_WINDOWS];    // of each window in the row region and in the column region
    uint32_t before[MAX_WINDOWS + 1];   // additions of the windows before
    uint32_t rows_region, columns_region;
};

/// The additions of one halving, rows and columns of all windows. blockIdx.y is the window.
static __global__ void describe_folds(const __grid_constant__ Windows windows, const __grid_constant__ FoldPlan plan,
                                      const Descriptors work) {
    const uint32_t j = blockIdx.y, t = plan.round;
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= plan.before[j + 1] - plan.before[j]) return;
    const uint32_t at = plan.before[j] + i;
    const Shape shape = shape_of(windows.width[j]);
    const uint32_t l = shape.column_bits, h = shape.row_bits;
    const uint32_t row_pairs = t < shape.row_rounds() ? 1u << (h + l - 1 - t) : 0;
    uint32_t from, far, to;
    if (i < row_pairs) {
        const uint32_t half_log = l - 1 - t, row = i >> half_log, column = i & ((1u << half_log) - 1);
        from = t == 0 ? plan.bucket_slot[j] + (row << l) : plan.rows_region + plan.half_slot[j] + (row << (l - 1));
        from += column;
        far = 1u << half_log;
        to = plan.rows_region + plan.half_slot[j] + (row << (l - 1)) + column;
    } else {
        i -= row_pairs;
        from = (t == 0 ? plan.bucket_slot[j] : plan.columns_region + plan.half_slot[j]) + i;
        far = 1u << (h - 1 - t + l);
        to = plan.columns_region + plan.half_slot[j] + i;
    }
    work.first[at] = from;
    work.second[at] = from + far;
    work.target[at] = to;
}

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

/// Block (x, j): window j's sum of everything (x = 0) or of the buckets with bit x - 1 set.
template <class F>
__global__ void __launch_bounds__(SUM_THREADS)
    sum_by_bit(const __grid_constant__ Windows windows, const __grid_constant__ FoldPlan plan, const Affine<F>* slots,
               Jacobian<F>* sums) {
    __shared__ Xyzz<F> shared[SUM_THREADS / 2];
    const uint32_t j = blockIdx.y, x = blockIdx.x;
    if (x > windows.width[j] - 1) return;
    const Shape shape = shape_of(windows.width[j]);
    const uint32_t l = shape.column_bits, h = shape.row_bits;
    const bool by_column = x >= 1 && x - 1 < l;
    const int bit = x == 0 ? -1 : static_cast<int>(by_column ? x - 1 : x - 1 - l);
    // Lines (rows or columns) of `kept` points each, `step` apart.
    const uint32_t rounds = by_column ? shape.column_rounds() : shape.row_rounds();
    const uint32_t kept_log = (by_column ? h : l) - rounds;
    const uint32_t lines = 1u << ((by_column ? l : h) - (bit < 0 ? 0 : 1));
    uint32_t first, line_step, step;
    if (by_column) {
        first = rounds == 0 ? plan.bucket_slot[j] : plan.columns_region + plan.half_slot[j];
        line_step = 1;
        step = 1u << l;
    } else {
        first = rounds == 0 ? plan.bucket_slot[j] : plan.rows_region + plan.half_slot[j];
        line_step = rounds == 0 ? 1u << l : 1u << (l - 1);
        step = 1;
    }
    Xyzz<F> value = xyzz_infinity<F>();
    for (uint32_t i = threadIdx.x; i < lines << kept_log; i += SUM_THREADS) {
        uint32_t line = i >> kept_log;
        if (bit >= 0) line = ((line >> bit) << (bit + 1)) | (1u << bit) | (line & ((1u << bit) - 1));
        const Affine<F> point = PointRows<F, Points::TILED>(slots, first + line * line_step + (i & ((1u << kept_log) - 1)) * step).load();
        add_affine_in_place(&value, &point);
    }
    sum_block(&value, shared);
    if (threadIdx.x == 0) sums[j * SUMS_OF_WINDOW + x] = to_jacobian(value);
}

/// Reduces the buckets of all windows, at `bucket_slot` one window after another, to SUMS_OF_WINDOW sums for each window.
/// Needs half as many slots as there are buckets in each region, and room for as many descriptors as there are buckets.
template <class F>
gpu_status reduce_buckets(const Workspace<F>& space, const Windows& windows, uint32_t bucket_slot, Jacobian<F>* sums,
                          cudaStream_t stream) {
    FoldPlan plan{};
    plan.rows_region = space.ping;
    plan.columns_region = space.pong;
    uint32_t buckets = 0, rounds = 0, most_bits = 0;
    for (uint32_t j = 0; j < windows.count; j++) {
        const Shape shape = shape_of(windows.width[j]);
        plan.bucket_slot[j] = bucket_slot + buckets;
        plan.half_slot[j] = buckets / 2;
        buckets += 1u << (windows.width[j] - 1);
        rounds = std::max({rounds, shape.row_rounds(), shape.column_rounds()});
        most_bits = std::max(most_bits, windows.width[j] - 1);
    }
    for (uint32_t t = 0; t < rounds; t++) {
        plan.round = t;
        uint32_t most = 0;
        for (uint32_t j = 0; j < windows.count; j++) {
            const Shape shape = shape_of(windows.width[j]);
            const uint32_t pairs = 1u << (windows.width[j] - 2 - t);
            const uint32_t here = (t < shape.row_rounds() ? pairs : 0) + (t < shape.column_rounds() ? pairs : 0);
            plan.before[j + 1] = plan.before[j] + here;
            most = std::max(most, here);
        }
        describe_folds<<<dim3((most + 255) / 256, windows.count), 256, 0, stream>>>(windows, plan, space.work);
        GPU_TRY_LAUNCH("describe_folds");
        GPU_TRY_STATUS(launch_in_slots<F>(space, nullptr, plan.before[windows.count], stream));
    }
    sum_by_bit<F><<<dim3(most_bits + 1, windows.count), SUM_THREADS, 0, stream>>>(windows, plan, space.slots, sums);
    GPU_TRY_LAUNCH("sum_by_bit");
    return gpu_ok();
}

}  // namespace msm
