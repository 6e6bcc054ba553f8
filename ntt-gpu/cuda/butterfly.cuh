#pragma once
// Three layers of a transform on eight elements in registers.
//
// The transform is a tree of polynomial remainders. With n = 2^L and g a primitive 2n-th root of unity, a block of m
// elements holds a polynomial modulo x^m - z^2, and splits into the remainders modulo x^(m/2) - z and x^(m/2) + z:
//     top down   (u, v) -> (u + z·v, u - z·v)      natural order in, bit-reversed out
//     bottom up  (u, v) -> (u + v, (u - v)·z)      its transpose: bit-reversed in, natural out
// z depends on the block's number alone: z = g^rev(j), from the same table for every layer. Block j has the
// children 2j and 2j + 1. Block 0 of layer 0 is x^n - 1, the domain; starting from block 1 of the layer above instead, which is
// x^n + 1, gives the transform over the coset g·H, at no cost.
#include "fr_factor.cuh"

/// Whether a multiplication is a call or stands in place. A pass from block 0 on has two kinds of rounds, which together
/// overflow the instruction cache when every multiplication stands in place; elsewhere that is a little faster.
enum class Code { CALLED, IN_PLACE };

static __device__ __noinline__ Fr multiply(Fr a, Fr b) { return Fr::mul(a, b); }
static __device__ __noinline__ Fr multiply(FrFactor w, Fr x) { return w * x; }

/// Keeps the compiler from interleaving the carry chains of several butterflies, for which it has too few predicates: it
/// would move carries through registers. The number of warp slots is never 0, which the compiler cannot know. Bottom up it
/// interleaves less by itself, and a fence costs more than it saves.
__device__ __forceinline__ bool fence() {
    uint32_t slots;
    asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(slots));
    return slots != 0;
}

/// A twiddle z: an entry of the table, and where the table has no such block, another factor.
template <bool WHOLE>
struct Twiddle {
    FrFactor entry;
    const FrFactor* beyond;

    /// z·x, canonical, for x below 2r.
    template <Code CODE>
    __device__ __forceinline__ Fr times(Fr x) const {
        if (!WHOLE && beyond != nullptr) x = multiply(*beyond, x);
        return CODE == Code::CALLED ? multiply(entry, x) : entry * x;
    }
};

/// The table of twiddles. Its 2^log_length entries are followed by -1, and by the factors g^rev(h·2^log_length), h > 0, by which
/// entry j has to be multiplied to give the twiddle of block h·2^log_length + j. `WHOLE`: only blocks below 2^log_length are asked for.
template <bool WHOLE>
struct Table {
    const FrFactor* entries;
    uint32_t log_length;

    /// z = g^rev(j), or -z^-1 for the inverse. In [2^k, 2^(k+1)) the exponents mirror each other: z(j)·z(j ^ (2^k - 1)) = g^n = -1.
    /// The inverse of z(0) = 1 has no mirror but the entry behind the table.
    template <bool INVERSE>
    __device__ __forceinline__ Twiddle<WHOLE> get(uint32_t j) const {
        const uint32_t length = 1u << log_length;
        if (INVERSE && j == 0) return {entries[length], nullptr};
        const uint32_t at = INVERSE ? j ^ ((0x80000000u >> __clz(j)) - 1) : j;
        if (WHOLE || at < length) return {entries[at], nullptr};
        return {entries[at & (length - 1)], entries + length + (at >> log_length)};
    }
};

/// What becomes of the results of a top-down butterfly next: they are multiplied, so that any value below 2r will do, or
/// they are added, and have to be canonical.
enum class Next { MULTIPLIED, ADDED };

/// Top down. u is canonical, v below 2r.
template <bool INVERSE, Code CODE, Next NEXT, bool WHOLE>
__device__ __forceinline__ void split(Fr& u, Fr& v, const Twiddle<WHOLE>& z) {
    if (CODE == Code::IN_PLACE && !fence()) return;
    const Fr t = z.template times<CODE>(v);
    const Fr sum = NEXT == Next::ADDED ? u + t : Fr::add_lazy(u, t);
    const Fr difference = NEXT == Next::ADDED ? u - t : Fr::sub_lazy(u, t);
    u = INVERSE ? difference : sum;
    v = INVERSE ? sum : difference;
}

/// Bottom up. u and v are canonical, and so are the results.
template <bool INVERSE, Code CODE, bool WHOLE>
__device__ __forceinline__ void join(Fr& u, Fr& v, const Twiddle<WHOLE>& z) {
    const Fr difference = INVERSE ? Fr::sub_lazy(v, u) : Fr::sub_lazy(u, v);
    u = u + v;
    v = z.template times<CODE>(difference);
}

/// The butterfly of block 0, whose z is 1, is the same in all directions. u and v are canonical, and so are the results.
__device__ __forceinline__ void sum_and_difference(Fr& u, Fr& v) {
    const Fr t = v;
    v = u - t;
    u = u + t;
}

/// The last `layers` of three layers, top down, on a block of eight; `node` is the number that the block has, or would
/// have, in the first of the three.
template <bool INVERSE, Code CODE, bool WHOLE>
__device__ __forceinline__ void split_layers(Fr* x, const Table<WHOLE>& table, uint32_t node, uint32_t layers) {
    if (layers >= 3) {
        const Twiddle<WHOLE> z = table.template get<INVERSE>(node);
        split<INVERSE, CODE, Next::ADDED>(x[0], x[4], z);
        split<INVERSE, CODE, Next::ADDED>(x[1], x[5], z);
        split<INVERSE, CODE, Next::MULTIPLIED>(x[2], x[6], z);
        split<INVERSE, CODE, Next::MULTIPLIED>(x[3], x[7], z);
    }
    if (layers >= 2) {
        GPU_UNROLL
        for (int half = 0; half < 2; half++) {
            const Twiddle<WHOLE> z = table.template get<INVERSE>(2 * node + half);
            Fr* y = x + 4 * half;
            split<INVERSE, CODE, Next::ADDED>(y[0], y[2], z);
            split<INVERSE, CODE, Next::MULTIPLIED>(y[1], y[3], z);
        }
    }
    GPU_UNROLL
    for (int pair = 0; pair < 4; pair++) {
        split<INVERSE, CODE, Next::ADDED>(x[2 * pair], x[2 * pair + 1], table.template get<INVERSE>(4 * node + pair));
    }
}

/// The last `layers` of three layers, bottom up: the transpose of `split_layers`.
template <bool INVERSE, Code CODE, bool WHOLE>
__device__ __forceinline__ void join_layers(Fr* x, const Table<WHOLE>& table, uint32_t node, uint32_t layers) {
    GPU_UNROLL
    for (int pair = 0; pair < 4; pair++) {
        join<INVERSE, CODE>(x[2 * pair], x[2 * pair + 1], table.template get<INVERSE>(4 * node + pair));
    }
    if (layers >= 2) {
        GPU_UNROLL
        for (int half = 0; half < 2; half++) {
            const Twiddle<WHOLE> z = table.template get<INVERSE>(2 * node + half);
            Fr* y = x + 4 * half;
            join<INVERSE, CODE>(y[0], y[2], z);
            join<INVERSE, CODE>(y[1], y[3], z);
        }
    }
    if (layers >= 3) {
        const Twiddle<WHOLE> z = table.template get<INVERSE>(node);
        GPU_UNROLL
        for (int i = 0; i < 4; i++) join<INVERSE, CODE>(x[i], x[i + 4], z);
    }
}

/// Three layers from block 0 on, where seven of the twelve multiplications are by 1.
template <bool INVERSE, bool WHOLE>
__device__ __forceinline__ void split_layers_at_zero(Fr* x, const Table<WHOLE>& table) {
    GPU_UNROLL
    for (int i = 0; i < 4; i++) sum_and_difference(x[i], x[i + 4]);
    sum_and_difference(x[0], x[2]);
    sum_and_difference(x[1], x[3]);
    const Twiddle<WHOLE> z = table.template get<INVERSE>(1);
    split<INVERSE, Code::CALLED, Next::ADDED>(x[4], x[6], z);
    split<INVERSE, Code::CALLED, Next::MULTIPLIED>(x[5], x[7], z);
    sum_and_difference(x[0], x[1]);
    GPU_UNROLL
    for (int pair = 1; pair < 4; pair++) {
        split<INVERSE, Code::CALLED, Next::ADDED>(x[2 * pair], x[2 * pair + 1], table.template get<INVERSE>(pair));
    }
}

template <bool INVERSE, bool WHOLE>
__device__ __forceinline__ void join_layers_at_zero(Fr* x, const Table<WHOLE>& table) {
    sum_and_difference(x[0], x[1]);
    GPU_UNROLL
    for (int pair = 1; pair < 4; pair++) {
        join<INVERSE, Code::CALLED>(x[2 * pair], x[2 * pair + 1], table.template get<INVERSE>(pair));
    }
    sum_and_difference(x[0], x[2]);
    sum_and_difference(x[1], x[3]);
    const Twiddle<WHOLE> z = table.template get<INVERSE>(1);
    join<INVERSE, Code::CALLED>(x[4], x[6], z);
    join<INVERSE, Code::CALLED>(x[5], x[7], z);
    GPU_UNROLL
    for (int i = 0; i < 4; i++) sum_and_difference(x[i], x[i + 4]);
}
