#pragma once
// The kernel under everything here: many independent affine additions, out[target] = ±a[first] ± b[second].
//
// An affine addition costs one inversion, 2 M and 1 S; Montgomery's trick shares the inversion at 3 M each. Every warp is
// on its own, with no block barrier: its lanes take up to `max_per_lane` additions each, multiply their denominators up
// (forward pass, prefixes to scratch), combine the 32 products by a butterfly, invert once, and walk back. All reads are
// cp.async ahead of their use: the descriptor two additions ahead into a ring of four, points and prefix one ahead. x1 and y1
// are double-buffered in shared memory and read again where they are needed, which is what keeps the kernel
// free of spills.
//
// Equal or opposite points, infinity, and x = 0 go through one out-of-line function behind a test. Any of them gives a
// nonzero denominator (1 or 2y), so the batch stays valid.
#include "curve.cuh"
#include "fp_inverse.cuh"
#include "windows.cuh"

namespace msm {

using namespace bls12_381;

struct Descriptors {
    uint32_t* first;
    uint32_t* second;
    uint32_t* target;
};

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

// Field elements as rows of 16 bytes, STRIDE rows apart.
template <class F, int STRIDE>
struct Rows;
template <int STRIDE>
struct Rows<Fp, STRIDE> {
    static constexpr int COUNT = 3;
    static __device__ __forceinline__ Fp load(const uint4* p) {
        uint4 a = p[0], b = p[STRIDE], c = p[2 * STRIDE];
        return Fp{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w}};
    }
    static __device__ __forceinline__ void store(uint4* p, const Fp& v) {
        p[0] = make_uint4(v.limb[0], v.limb[1], v.limb[2], v.limb[3]);
        p[STRIDE] = make_uint4(v.limb[4], v.limb[5], v.limb[6], v.limb[7]);
        p[2 * STRIDE] = make_uint4(v.limb[8], v.limb[9], v.limb[10], v.limb[11]);
    }
};
template <int STRIDE>
struct Rows<Fp2, STRIDE> {
    static constexpr int COUNT = 6;
    static __device__ __forceinline__ Fp2 load(const uint4* p) {
        return Fp2{Rows<Fp, STRIDE>::load(p), Rows<Fp, STRIDE>::load(p + 3 * STRIDE)};
    }
    static __device__ __forceinline__ void store(uint4* p, const Fp2& v) {
        Rows<Fp, STRIDE>::store(p, v.c0);
        Rows<Fp, STRIDE>::store(p + 3 * STRIDE, v.c1);
    }
};

/// Where points lie. PLAIN: one after another, blst's layout. TILED: 32 points to a tile, each 32 bytes of all of them together, so
/// that a warp that reads or writes neighbours touches few lines of the cache, and every write fills a sector; only the kernels
/// here see it.
enum class Points { PLAIN, TILED };

/// The rows of 16 bytes of a point: 0 to COUNT - 1 are x, the next COUNT are y.
template <class F, Points HOW>
struct PointRows {
    static constexpr int COUNT = Rows<F, 1>::COUNT;
    uint4* first;

    __device__ __forceinline__ PointRows(const Affine<F>* points, uint32_t index)
        : first(const_cast<uint4*>(reinterpret_cast<const uint4*>(points)) +
                (HOW == Points::TILED ? static_cast<uint64_t>(index >> 5) * (64 * COUNT) + (index & 31) * 2
                                      : static_cast<uint64_t>(index) * (2 * COUNT))) {}
    __device__ __forceinline__ uint4* row(int r) const {
        return HOW == Points::TILED ? first + (r >> 1) * 64 + (r & 1) : first + r;
    }
    __device__ __forceinline__ Affine<F> load() const {
        uint4 rows[2 * COUNT];
#pragma unroll
        for (int r = 0; r < 2 * COUNT; r++) rows[r] = *row(r);
        return Affine<F>{Rows<F, 1>::load(rows), Rows<F, 1>::load(rows + COUNT)};
    }
    __device__ __forceinline__ void store(const F& x, const F& y) const {
        uint4 rows[2 * COUNT];
        Rows<F, 1>::store(rows, x);
        Rows<F, 1>::store(rows + COUNT, y);
#pragma unroll
        for (int r = 0; r < 2 * COUNT; r++) *row(r) = rows[r];
    }
};

__device__ __forceinline__ void copy_async_16(uint4* shared, const uint4* global) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(shared))),
                 "l"(global)
                 : "memory");
}
__device__ __forceinline__ void copy_async_4(uint32_t* shared, const uint32_t* global) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(shared))),
                 "l"(global)
                 : "memory");
}
__device__ __forceinline__ void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ __forceinline__ void copy_wait() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }
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

// Scratch bytes for the prefixes of a grid of `blocks`.
template <class F>
constexpr uint64_t batch_add_scratch_bytes(uint32_t blocks, uint32_t max_per_lane) {
    return static_cast<uint64_t>(blocks) * BatchShape<F>::THREADS * max_per_lane * sizeof(F);
}

// `count` on the device, or `fixed_count` where it is null. `out` may be `a` or `b`: an addition may overwrite its own
// operands, not another's.
template <class F, Points IN, Points OUT>
__global__ void __launch_bounds__(BatchShape<F>::THREADS, BatchShape<F>::BLOCKS)
    batch_add(const Affine<F>* a, const Affine<F>* b, Affine<F>* out, const Descriptors work, const uint32_t* count,
              uint32_t fixed_count, uint32_t max_per_lane, uint4* scratch) {
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
    // An equal share for each warp, in equal batches, both multiples of the warp's width.
    const uint32_t share = ((n + warps - 1) / warps + 31) & ~31u;
    const uint32_t batches = (share + 32 * max_per_lane - 1) / (32 * max_per_lane);
    const uint32_t per_lane = (share + 32 * batches - 1) / (32 * batches);
    uint32_t begin = static_cast<uint32_t>(min(static_cast<uint64_t>(n), static_cast<uint64_t>(warp) * share));
    const uint32_t end = static_cast<uint32_t>(min(static_cast<uint64_t>(n), static_cast<uint64_t>(begin) + share));
    uint4* const prefixes = scratch + static_cast<uint64_t>(warp) * max_per_lane * (32 * Q) + lane;

    auto point1 = [&](int j) { return PointRows<F, IN>(a, slot(j)[0] & ~SIGN); };
    auto point2 = [&](int j) { return PointRows<F, IN>(b, slot(j)[T] & ~SIGN); };

#pragma unroll 1
    for (; begin < end; begin += per_lane * 32) {
        const uint32_t base = begin + lane, stop = min(end, begin + per_lane * 32);
        const int mine = base >= stop ? 0 : (stop - base + 31) / 32;
        auto fetch_descriptor = [&](int j, bool with_target) {
            const uint32_t i = base + j * 32;
            copy_async_4(slot(j), work.first + i);
            copy_async_4(slot(j) + T, work.second + i);
            if (with_target) copy_async_4(slot(j) + 2 * T, work.target + i);
        };

        // Forward: the running product of denominators.
        auto fetch_x = [&](int j) {
            const auto p = point1(j), q = point2(j);
#pragma unroll
            for (int t = 0; t < Q; t++) {
                copy_async_16(first_rows + t * T, p.row(t));
                copy_async_16(x2_rows + t * T, q.row(t));
            }
        };
        F product = one<F>();
        if (mine > 0) {
            fetch_descriptor(0, false);
            if (mine > 1) fetch_descriptor(1, false);
            copy_commit();
            copy_wait();
            fetch_x(0);
            copy_commit();
#pragma unroll 1
            for (int j = 0; j < mine; j++) {
                copy_wait();
                F x1 = Shared::load(first_rows), x2 = Shared::load(x2_rows);
                const bool rare = equal_words(x1, x2) || is_zero_canonical(x1) || is_zero_canonical(x2);
                F denominator = sub_canonical(x2, x1);
                if (j + 1 < mine) {
                    fetch_x(j + 1);
                    if (j + 2 < mine) fetch_descriptor(j + 2, false);
                }
                copy_commit();
                if (rare) {
                    F changed = denominator, unused;
                    unusual(point1(j), point2(j), slot(j)[0] & SIGN, slot(j)[T] & SIGN, &changed, &unused);
                    denominator = changed;
                }
                Rows<F, 32>::store(prefixes + j * (32 * Q), product);
                product = mul(product, denominator);
            }
        }

        auto fetch_all = [&](int j) {
            const auto p = point1(j), q = point2(j);
            const uint4* const w = prefixes + j * (32 * Q);
            uint4* const first = first_rows + (j & 1) * 2 * Q * T;
#pragma unroll
            for (int t = 0; t < Q; t++) {
                copy_async_16(first + t * T, p.row(t));
                copy_async_16(x2_rows + t * T, q.row(t));
                copy_async_16(first + (Q + t) * T, p.row(Q + t));
                copy_async_16(y2_rows + t * T, q.row(Q + t));
                copy_async_16(prefix_rows + t * T, w + t * 32);
            }
        };
        if (mine > 0) {
            fetch_descriptor(mine - 1, true);
            if (mine > 1) fetch_descriptor(mine - 2, true);
            copy_commit();
            copy_wait();
            fetch_all(mine - 1);
            copy_commit();
        }

        // One inversion for the warp: each lane's product times all others, inverted, times the others again.
        __syncwarp();
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
        for (int j = mine - 1; j >= 0; j--) {
            copy_wait();
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
            if (j > 0) {
                fetch_all(j - 1);
                if (j > 1) fetch_descriptor(j - 2, true);
            }
            copy_commit();
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
