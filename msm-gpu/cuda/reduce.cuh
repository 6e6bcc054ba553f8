#pragma once
// From bucket sums to the windows' results: for each window the sum of (k + 1) S_k over its buckets k.
//
// Bucket index k = (row, column). Row sums and column sums come from halving both ways with batched affine additions, two
// additions for each bucket. What remains is one sum for each bit of k, and one of everything for the "+ 1":
//     sum (k + 1) S_k = T + sum over bits b of 2^b (sum of S_k with bit b of k set),
// where the low bits need column sums only and the high bits row sums only. Those last sums use XYZZ, a block for the rows of a
// window and one for its columns, and take over from the halving early when it would run nearly empty. The host joins them with about
// 255 doublings.
#include "tree.cuh"

namespace msm {

constexpr int SUMS_OF_WINDOW = 32;  // the host finds T at 32 j and bit b at 32 j + 1 + b
template <class F>
constexpr int BIT_THREADS = 2 * BatchShape<F>::THREADS;

struct FoldPlan {
    uint32_t round;
    uint32_t bucket_slot[MAX_WINDOWS];  // of each window
    uint32_t half_slot[MAX_WINDOWS];    // of each window in the row region and in the column region
    uint32_t before[MAX_WINDOWS + 1];   // additions of the windows before
    uint32_t rows_region, columns_region;
    uint32_t line_points_log;  // of most_line_points_log
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

/// The rows (x = 0) or columns (x = 1) of window j for block (x, j): their sums by bit of their number, and the sum of all rows.
///
/// A line is still `1 << kept` points, so that point i belongs to line i >> kept, and bit c >= kept of i is bit c - kept of the line's
/// number. Step s adds point p + 2^s to point p wherever bit s of p is clear and of the bits below it at most one is set, a bit of the
/// line's number. After it, for every multiple m of 2^(s + 1), point m is the sum of the 2^(s + 1) points from m on, and point m + 2^c,
/// for each c from kept to s, the sum of those among them whose bit c is set: step c leaves it alone as the second half of what it
/// adds up, and the later steps join such halves. In the end point 0 is the sum of all, and point 2^c that of the lines with
/// this bit. That is one addition for each point and at most one more, in as many steps as a single sum takes.
template <class F>
__global__ void __launch_bounds__(BIT_THREADS<F>)
    sum_by_bit(const __grid_constant__ Windows windows, const __grid_constant__ FoldPlan plan, const Affine<F>* slots,
               Xyzz<F>* scratch, Jacobian<F>* sums) {
    const uint32_t j = blockIdx.y;
    const bool by_column = blockIdx.x == 1;
    const Shape shape = shape_of(windows.width[j]);
    const uint32_t lines_log = by_column ? shape.column_bits : shape.row_bits;
    const uint32_t rounds = by_column ? shape.column_rounds() : shape.row_rounds();
    const uint32_t kept = (by_column ? shape.row_bits : shape.column_bits) - rounds, bits = lines_log + kept;
    const uint32_t region = by_column ? plan.columns_region : plan.rows_region;
    const uint32_t first = rounds == 0 ? plan.bucket_slot[j] : region + plan.half_slot[j];
    const uint32_t line_log = by_column ? 0 : shape.column_bits - (rounds == 0 ? 0 : 1);  // of the slots from a line to the next
    const uint32_t step_log = by_column ? shape.column_bits : 0;                          // and from a point of a line to the next
    auto add_point = [&](Xyzz<F>* value, uint32_t i) {
        const uint32_t slot = first + ((i >> kept) << line_log) + ((i & ((1u << kept) - 1)) << step_log);
        const Affine<F> point = PointRows<F, Points::TILED>(slots, slot).load();
        add_affine_in_place(value, &point);
    };
    Xyzz<F>* const points = scratch + ((2 * j + blockIdx.x) << plan.line_points_log);
    for (uint32_t i = threadIdx.x; i < 1u << (bits - 1); i += BIT_THREADS<F>) {
        Xyzz<F> value = xyzz_infinity<F>();
        add_point(&value, 2 * i + 1);
        if (kept == 0) points[2 * i + 1] = value;
        add_point(&value, 2 * i);
        points[2 * i] = value;
    }
    for (uint32_t s = 1; s < bits; s++) {
        __syncthreads();
        const uint32_t classes = s > kept ? s - kept + 1 : 1, each_log = bits - 1 - s;
        for (uint32_t i = threadIdx.x; i < classes << each_log; i += BIT_THREADS<F>) {
            const uint32_t which = i >> each_log, low = which == 0 ? 0 : 1u << (kept + which - 1);
            const uint32_t p = ((i & ((1u << each_log) - 1)) << (s + 1)) | low;
            Xyzz<F> value = points[p];
            add_in_place(&value, &points[p | (1u << s)]);
            points[p] = value;
        }
    }
    __syncthreads();
    if (threadIdx.x <= lines_log) {
        const uint32_t b = threadIdx.x - 1;  // all ones for the sum of all
        const uint32_t place = threadIdx.x == 0 ? 0 : 1 + b + (by_column ? 0 : shape.column_bits);
        if (threadIdx.x > 0 || !by_column) {
            sums[j * SUMS_OF_WINDOW + place] = to_jacobian(points[threadIdx.x == 0 ? 0 : 1u << (kept + b)]);
        }
    }
}

/// Reduces the buckets of all windows, at `bucket_slot` one window after another, to SUMS_OF_WINDOW sums for each window.
/// Needs half as many slots as there are buckets in each region, room for as many descriptors as there are buckets, and in the scratch
/// line_points(windows) points in XYZZ.
template <class F>
gpu_status reduce_buckets(const Workspace<F>& space, const Windows& windows, uint32_t bucket_slot, Jacobian<F>* sums,
                          cudaStream_t stream) {
    FoldPlan plan{};
    plan.rows_region = space.ping;
    plan.columns_region = space.pong;
    plan.line_points_log = most_line_points_log(windows);
    uint32_t buckets = 0, rounds = 0;
    for (uint32_t j = 0; j < windows.count; j++) {
        const Shape shape = shape_of(windows.width[j]);
        plan.bucket_slot[j] = bucket_slot + buckets;
        plan.half_slot[j] = buckets / 2;
        buckets += 1u << (windows.width[j] - 1);
        rounds = std::max({rounds, shape.row_rounds(), shape.column_rounds()});
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
    sum_by_bit<F><<<dim3(2, windows.count), BIT_THREADS<F>, 0, stream>>>(windows, plan, space.slots,
                                                                        reinterpret_cast<Xyzz<F>*>(space.scratch), sums);
    GPU_TRY_LAUNCH("sum_by_bit");
    return gpu_ok();
}

}  // namespace msm
