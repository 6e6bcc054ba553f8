#pragma once
// The kernel under everything here: many independent affine additions, out[target] = ±a[first] ± b[second].
//
// An affine addition costs one inversion, 2 M and 1 S; Montgomery's trick shares the inversion at 3 M each. Every warp is
// on its own, with no block barrier: its lanes take up to `max_per_lane` additions each, multiply their denominators up
// (forward pass, prefixes to scratch), combine the 32 products by a butterfly, invert once, and walk back. All reads are
// cp.async ahead of their use: the descriptor two additions ahead into a ring of four, points and prefix one ahead. x1 and y1
// are double-buffered in shared memory and read again where they are needed, which is what keeps the kernel
// free of spills. G1's bases, which lie apart, are copied by all lanes of a warp together.
//
// Equal or opposite points, infinity, and x = 0 go through one out-of-line function behind a test. Any of them gives a
// nonzero denominator (1 or 2y), so the batch stays valid.
#include <type_traits>

#include "buckets.cuh"
#include "fp_inverse.cuh"
#include "points.cuh"

namespace msm {

using namespace bls12_381;

// Threads of a block and blocks of a multiprocessor, by field. Fp: 128 registers. Fp2: 255.
template <class F>
struct BatchShape;
template <>
struct BatchShape<Fp> {
    static constexpr int THREADS = 256, BLOCKS = 2;
};
template <>
struct BatchShape<Fp2> {
    static constexpr int THREADS = 128, BLOCKS = 2;
};

// Makes the compiler read shared memory again instead of keeping a value in registers.
__device__ __forceinline__ void forget_registers() { asm volatile("" ::: "memory"); }

template <class F>
__device__ __forceinline__ F shuffle_xor(const F& v, int mask);
template <>
__device__ __forceinline__ Fp shuffle_xor(const Fp& v, int mask) {
    Fp r;
#pragma unroll
    for (int i = 0; i < Fp::WORDS; i++) r.limb[i] = __shfl_xor_sync(0xffffffffu, v.limb[i], mask);
    return r;
}
template <>
__device__ __forceinline__ Fp2 shuffle_xor(const Fp2& v, int mask) {
    return Fp2{shuffle_xor(v.c0, mask), shuffle_xor(v.c1, mask)};
}

/// Additions for each lane below which fewer warps work.
constexpr uint32_t LEAST_PER_LANE = 5;
/// Additions for each lane in the last batches of a queue: an inversion costs as much as five.
constexpr uint32_t LEAST_OF_QUEUE = 32;

// How an addition's result comes about.
enum class Case : int { ORDINARY, DOUBLED, IS_FIRST, IS_SECOND, IS_INFINITY };

// Decides the case of two points with equal x, or one with x = 0; the denominator is 1 or 2 y1 unless ordinary.
template <class F, Points IN>
__device__ __noinline__ Case unusual(PointRows<F, IN> first, PointRows<F, IN> second, bool negate_first, bool negate_second,
                                     F* denominator, F* numerator) {
    Affine<F> p = first.load(), q = second.load();
    bool p_infinite = is_infinity(p), q_infinite = is_infinity(q);
    if (!p_infinite && !q_infinite && !equal_words(p.x, q.x)) return Case::ORDINARY;  // x = 0 on a finite point
    *denominator = one<F>();
    if (q_infinite) return Case::IS_FIRST;
    if (p_infinite) return Case::IS_SECOND;
    if (equal_words(p.y, q.y) != (negate_first == negate_second) || is_zero_canonical(p.y)) return Case::IS_INFINITY;
    F y = negate_first ? neg(p.y) : p.y;
    F xx = sqr(p.x);
    *denominator = twice(y);
    *numerator = add(xx, twice(xx));
    return Case::DOUBLED;
}

template <class F>
constexpr int batch_add_shared_bytes() {
    return BatchShape<F>::THREADS * (7 * Rows<F, 1>::COUNT * 16 + 4 * 3 * 4);
}

/// A warp's next additions: begin .. begin + 32 length, as far as there are any.
struct Batch {
    uint32_t begin, length;
};

/// The next batch from the queue: half of what is left for each warp, so that all warps end at about the same time.
__device__ __forceinline__ Batch next_batch(uint32_t* queue, uint32_t n, uint32_t warps, uint32_t max_per_lane) {
    Batch batch{0, 0};
    if ((threadIdx.x & 31) == 0) {
        const uint32_t taken = *static_cast<volatile uint32_t*>(queue);
        const uint32_t half = (taken < n ? n - taken : 0) / (64 * warps);
        batch.length = min(max_per_lane, max(LEAST_OF_QUEUE, half));
        batch.begin = atomicAdd(queue, 32 * batch.length);
    }
    return Batch{__shfl_sync(0xffffffffu, batch.begin, 0), __shfl_sync(0xffffffffu, batch.length, 0)};
}

// `count` on the device, or `fixed_count` where it is null. `queue` is zero on entry. `out` may be `a` or `b`: an addition may
// overwrite its own operands, not another's.
template <class F, Points IN, Points OUT>
__global__ void __launch_bounds__(BatchShape<F>::THREADS, BatchShape<F>::BLOCKS)
    batch_add(const Affine<F>* a, const Affine<F>* b, Affine<F>* out, const Descriptors work, const uint32_t* count,
              uint32_t fixed_count, uint32_t* queue, uint32_t max_per_lane, uint4* scratch) {
    constexpr int T = BatchShape<F>::THREADS;
    constexpr int Q = Rows<F, 1>::COUNT;
    using Shared = Rows<F, T>;
    extern __shared__ uint4 dynamic[];
    // Rows of shared memory: x2, y2, prefix, then twice x1, y1.
    uint4* const rows = dynamic + threadIdx.x;
    uint4* const x2_rows = rows;
    uint4* const y2_rows = rows + Q * T;
    uint4* const prefix_rows = rows + 2 * Q * T;
    uint4* const first_rows = rows + 3 * Q * T;
    uint32_t* const ring = reinterpret_cast<uint32_t*>(dynamic + 7 * Q * T) + threadIdx.x;
    auto slot = [&](int j) { return ring + (j & 3) * 3 * T; };

    const uint32_t n = count ? *count : fixed_count;
    if (n == 0) return;
    const uint32_t lane = threadIdx.x & 31;
    // Little work goes to few warps, spread over all blocks: an inversion takes a warp as long as five additions, and warps
    // of one multiprocessor delay each other.
    const uint32_t warp = (threadIdx.x >> 5) * gridDim.x + blockIdx.x;
    const uint32_t warps = min(gridDim.x * (T / 32), max(gridDim.x * 2, n / (32 * LEAST_PER_LANE)));
    if (warp >= warps) return;
    // One batch for each warp, or as many as it comes to: the scheduler favours some warps, which would be done early.
    const uint32_t share = (n + 32 * warps - 1) / (32 * warps);
    const bool once = share <= max_per_lane;
    uint4* const prefixes = scratch + static_cast<uint64_t>(warp) * max_per_lane * (32 * Q) + lane;

    auto point1 = [&](int j) { return PointRows<F, IN>(a, slot(j)[0] & ~SIGN); };
    auto point2 = [&](int j) { return PointRows<F, IN>(b, slot(j)[T] & ~SIGN); };
    // Lanes of a warp copy for one another where points lie apart, and wait for one another then: an instruction touches fewer
    // pages, which counts once the bases have gigabytes. In G2 the waiting costs more than that gains.
    constexpr bool TOGETHER = IN == Points::PLAIN && std::is_same_v<F, Fp>;
    auto meet = [] {
        if (TOGETHER) __syncwarp();
    };

#pragma unroll 1
    for (bool more = true; more; more = !once) {
        const Batch batch = once ? Batch{warp * share * 32, share} : next_batch(queue, n, warps, max_per_lane);
        if (batch.begin >= n) break;
        const uint32_t stop = min(n, batch.begin + 32 * batch.length);
        const int rounds = static_cast<int>((stop - batch.begin + 31) / 32);
        // In the last round some lanes have nothing to do.
        auto has = [&](int j) { return batch.begin + 32 * j + lane < stop; };
        auto fetch_descriptor = [&](int j, bool with_target) {
            if (!has(j)) return;
            const uint32_t i = batch.begin + 32 * j + lane;
            copy_async_4(slot(j), work.first + i);
            copy_async_4(slot(j) + T, work.second + i);
            if (with_target) copy_async_4(slot(j) + 2 * T, work.target + i);
        };

        // Forward: the running product of denominators.
        auto fetch_x = [&](int j) {
            if constexpr (TOGETHER) {
                const uint32_t valid = stop - batch.begin - 32 * j;
                gather<F, Q, T>(a, slot(j) - lane, first_rows - lane, valid);
                gather<F, Q, T>(b, slot(j) + T - lane, x2_rows - lane, valid);
            } else if (has(j)) {
                const auto p = point1(j), q = point2(j);
#pragma unroll
                for (int t = 0; t < Q; t++) {
                    copy_async_16(first_rows + t * T, p.row(t));
                    copy_async_16(x2_rows + t * T, q.row(t));
                }
            }
        };
        fetch_descriptor(0, false);
        if (rounds > 1) fetch_descriptor(1, false);
        copy_commit();
        copy_wait();
        meet();
        fetch_x(0);
        copy_commit();
        F product = one<F>();
#pragma unroll 1
        for (int j = 0; j < rounds; j++) {
            copy_wait();
            meet();
            const F x1 = Shared::load(first_rows), x2 = Shared::load(x2_rows);
            const bool rare = equal_words(x1, x2) || is_zero_canonical(x1) || is_zero_canonical(x2);
            F denominator = sub_canonical(x2, x1);
            meet();
            if (j + 1 < rounds) {
                fetch_x(j + 1);
                if (j + 2 < rounds) fetch_descriptor(j + 2, false);
            }
            copy_commit();
            if (!has(j)) break;
            if (rare) {
                F changed = denominator, unused;
                unusual(point1(j), point2(j), slot(j)[0] & SIGN, slot(j)[T] & SIGN, &changed, &unused);
                denominator = changed;
            }
            Rows<F, 32>::store(prefixes + j * (32 * Q), product);
            product = mul(product, denominator);
        }

        auto fetch_all = [&](int j) {
            const uint4* const w = prefixes + j * (32 * Q);
            uint4* const first = first_rows + (j & 1) * 2 * Q * T;
            if constexpr (TOGETHER) {
                const uint32_t valid = stop - batch.begin - 32 * j;
                gather<F, 2 * Q, T>(a, slot(j) - lane, first - lane, valid);
                gather<F, 2 * Q, T>(b, slot(j) + T - lane, x2_rows - lane, valid);
            }
            if (!has(j)) return;
            if constexpr (!TOGETHER) {
                const auto p = point1(j), q = point2(j);
#pragma unroll
                for (int t = 0; t < 2 * Q; t++) {
                    copy_async_16(first + t * T, p.row(t));
                    copy_async_16(x2_rows + t * T, q.row(t));
                }
            }
#pragma unroll
            for (int t = 0; t < Q; t++) copy_async_16(prefix_rows + t * T, w + t * 32);
        };
        fetch_descriptor(rounds - 1, true);
        if (rounds > 1) fetch_descriptor(rounds - 2, true);
        copy_commit();
        copy_wait();
        __syncwarp();
        fetch_all(rounds - 1);
        copy_commit();

        // One inversion for the warp: each lane's product times all others, inverted, times the others again.
        {
            F others = shuffle_xor(product, 1);
            product = mul(product, others);
#pragma unroll 1
            for (int m = 2; m < 32; m <<= 1) {
                F theirs = shuffle_xor(product, m);
                others = mul(others, theirs);
                product = mul(product, theirs);
            }
            F inverted = product;  // a copy: only this one's address is taken
            invert_by_warp(&inverted);
            product = mul(inverted, others);
        }

        // Backward: one denominator's inverse at a time, and its addition.
#pragma unroll 1
        for (int j = rounds - 1; j >= 0; j--) {
            copy_wait();
            meet();
            const uint4* const x1_rows = first_rows + (j & 1) * 2 * Q * T;
            const uint4* const y1_rows = x1_rows + Q * T;
            const bool negate1 = slot(j)[0] & SIGN;
            F x2 = Shared::load(x2_rows), prefix = Shared::load(prefix_rows), numerator = Shared::load(y2_rows);
            F denominator;
            bool rare;
            {
                F x1 = Shared::load(x1_rows);
                rare = equal_words(x1, x2) || is_zero_canonical(x1) || is_zero_canonical(x2);
                denominator = sub_canonical(x2, x1);
            }
            {
                F y1 = Shared::load(y1_rows);
                if (slot(j)[T] & SIGN) numerator = neg_canonical(numerator);
                if (negate1) y1 = neg_canonical(y1);
                numerator = sub_canonical(numerator, y1);
            }
            meet();
            if (j > 0) {
                fetch_all(j - 1);
                if (j > 1) fetch_descriptor(j - 2, true);
            }
            copy_commit();
            if (!has(j)) continue;
            Case how = Case::ORDINARY;
            if (rare) {
                F changed = denominator, other = numerator;
                how = unusual(point1(j), point2(j), negate1, slot(j)[T] & SIGN, &changed, &other);
                denominator = changed;
                numerator = other;
            }
            prefix = mul(product, prefix);  // 1 / denominator
            product = mul(product, denominator);
            F slope = mul(numerator, prefix);
            F x3 = sub(sqr(slope), x2);
            forget_registers();
            F x1 = Shared::load(x1_rows);
            x3 = canonical(sub(x3, x1));
            F y3 = mul(slope, sub_canonical(x1, x3));
            forget_registers();
            F y1 = Shared::load(y1_rows);
            if (negate1) y1 = neg_canonical(y1);
            y3 = canonical(sub(y3, y1));
            if (how > Case::DOUBLED) {
                if (how == Case::IS_FIRST) {
                    x3 = x1;
                    y3 = canonical(y1);
                } else if (how == Case::IS_SECOND) {
                    const Affine<F> q = point2(j).load();
                    x3 = q.x;
                    y3 = q.y;
                    if (slot(j)[T] & SIGN) y3 = canonical(neg_canonical(y3));
                } else {
                    x3 = zero<F>();
                    y3 = x3;
                }
            }
            PointRows<F, OUT>(out, slot(j)[2 * T]).store(x3, y3);
        }
    }
}

}  // namespace msm
