#pragma once
// Three layers of a transform on eight elements in registers.
//
// The transform is a tree of polynomial remainders. With n = 2^L and g a primitive 2n-th root of unity, a block of m
// elements holds a polynomial modulo x^m - z^2, and splits into the remainders modulo x^(m/2) - z and x^(m/2) + z:
//     top down   (u, v) -> (u + z·v, u - z·v)      natural order in, bit-reversed out
//     bottom up  (u, v) -> (u + v, (u - v)·z)      its transpose: bit-reversed in, natural out
// z depends on the block's number alone: z = table[j], table[j] = g^rev(j), the same table for every layer. Block j has the
// children 2j and 2j + 1. Block 0 of layer 0 is x^n - 1, the domain; starting from block 1 of the layer above instead, which is
// x^n + 1, gives the transform over the coset g·H, at no cost.
#include "fr.cuh"

/// table[j], or its inverse. In [2^k, 2^(k+1)) the exponents mirror each other: table[j]·table[j ^ (2^k - 1)] = g^n = -1.
template <bool INVERSE>
__device__ __forceinline__ Fr twiddle(const Fr* __restrict__ table, uint32_t j) {
    if (!INVERSE) return table[j];
    const uint32_t mirror = j < 2 ? 0 : (0x80000000u >> __clz(j)) - 1;
    const Fr z = table[j ^ mirror];
    return j == 0 ? z : Fr::neg(z);
}

/// What becomes of the results of a top-down butterfly next: they are multiplied, so that any value below 2^256 will do, or
/// they are added, and have to be canonical.
enum class Next { MULTIPLIED, ADDED };

template <Next NEXT>
__device__ __forceinline__ void split(Fr& u, Fr& v, const Fr& z) {
    const Fr t = Fr::mul(z, v);
    v = NEXT == Next::ADDED ? u - t : Fr::sub_lazy(u, t);
    u = NEXT == Next::ADDED ? u + t : Fr::add_lazy(u, t);
}

__device__ __forceinline__ void join(Fr& u, Fr& v, const Fr& z) {
    const Fr difference = Fr::sub_lazy(u, v);
    u = u + v;
    v = Fr::mul(z, difference);
}

/// The butterfly of block 0, whose z is 1, is the same in both directions.
__device__ __forceinline__ void sum_and_difference(Fr& u, Fr& v) {
    const Fr t = v;
    v = u - t;
    u = u + t;
}

/// The last `layers` of three layers, top down, on a block of eight; `node` is the number that the block has, or would
/// have, in the first of the three.
template <bool INVERSE>
__device__ __forceinline__ void split_layers(Fr* x, const Fr* __restrict__ table, uint32_t node, uint32_t layers) {
    if (layers >= 3) {
        const Fr z = twiddle<INVERSE>(table, node);
        split<Next::ADDED>(x[0], x[4], z);
        split<Next::ADDED>(x[1], x[5], z);
        split<Next::MULTIPLIED>(x[2], x[6], z);
        split<Next::MULTIPLIED>(x[3], x[7], z);
    }
    if (layers >= 2) {
        GPU_UNROLL
        for (int half = 0; half < 2; half++) {
            const Fr z = twiddle<INVERSE>(table, 2 * node + half);
            Fr* y = x + 4 * half;
            split<Next::ADDED>(y[0], y[2], z);
            split<Next::MULTIPLIED>(y[1], y[3], z);
        }
    }
    GPU_UNROLL
    for (int pair = 0; pair < 4; pair++) {
        split<Next::ADDED>(x[2 * pair], x[2 * pair + 1], twiddle<INVERSE>(table, 4 * node + pair));
    }
}

/// The last `layers` of three layers, bottom up: the transpose of `split_layers`.
template <bool INVERSE>
__device__ __forceinline__ void join_layers(Fr* x, const Fr* __restrict__ table, uint32_t node, uint32_t layers) {
    GPU_UNROLL
    for (int pair = 0; pair < 4; pair++) {
        join(x[2 * pair], x[2 * pair + 1], twiddle<INVERSE>(table, 4 * node + pair));
    }
    if (layers >= 2) {
        GPU_UNROLL
        for (int half = 0; half < 2; half++) {
            const Fr z = twiddle<INVERSE>(table, 2 * node + half);
            Fr* y = x + 4 * half;
            join(y[0], y[2], z);
            join(y[1], y[3], z);
        }
    }
    if (layers >= 3) {
        const Fr z = twiddle<INVERSE>(table, node);
        GPU_UNROLL
        for (int i = 0; i < 4; i++) join(x[i], x[i + 4], z);
    }
}

/// Three layers from block 0 on, where seven of the twelve multiplications are by 1.
template <bool INVERSE>
__device__ __forceinline__ void split_layers_at_zero(Fr* x, const Fr* __restrict__ table) {
    GPU_UNROLL
    for (int i = 0; i < 4; i++) sum_and_difference(x[i], x[i + 4]);
    sum_and_difference(x[0], x[2]);
    sum_and_difference(x[1], x[3]);
    const Fr z = twiddle<INVERSE>(table, 1);
    split<Next::ADDED>(x[4], x[6], z);
    split<Next::MULTIPLIED>(x[5], x[7], z);
    sum_and_difference(x[0], x[1]);
    GPU_UNROLL
    for (int pair = 1; pair < 4; pair++) {
        split<Next::ADDED>(x[2 * pair], x[2 * pair + 1], twiddle<INVERSE>(table, pair));
    }
}

template <bool INVERSE>
__device__ __forceinline__ void join_layers_at_zero(Fr* x, const Fr* __restrict__ table) {
    sum_and_difference(x[0], x[1]);
    GPU_UNROLL
    for (int pair = 1; pair < 4; pair++) {
        join(x[2 * pair], x[2 * pair + 1], twiddle<INVERSE>(table, pair));
    }
    sum_and_difference(x[0], x[2]);
    sum_and_difference(x[1], x[3]);
    const Fr z = twiddle<INVERSE>(table, 1);
    join(x[4], x[6], z);
    join(x[5], x[7], z);
    GPU_UNROLL
    for (int i = 0; i < 4; i++) sum_and_difference(x[i], x[i + 4]);
}
