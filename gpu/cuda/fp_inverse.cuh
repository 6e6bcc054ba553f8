#pragma once
// Inversion in Fp and Fp2 by one warp for one value. Device only.
//
// Bernstein and Yang's division steps (https://eprint.iacr.org/2019/266) in the variable-time, half-delta form: 30 steps
// on the low words of f and g give a 2 x 2 transition matrix, which is then applied to all words of (f, g) and, modulo p,
// of (d, e). Invariant: x d = f and x e = g modulo p, up to the powers of two that the steps divide by. The four numbers live in the four lanes
// of a quad as two's complement of 13 words; a lane's partner is its neighbour. (d, e) gain a multiple of p that makes them
// divisible by 2^30, and are not otherwise reduced: |d| < 16 p at the end. All eight quads of the warp do the same work, so
// that every lane has the result. The input is public data of the prover or is thrown away: time depends on it.
#include "fp2.cuh"

#if defined(__CUDACC__)

namespace bls12_381 {

// R³ mod p: a Montgomery product with it turns (x R)^-1 into x^-1 R.
GPU_HD constexpr uint32_t fp_radix_cubed(int i) {
    constexpr uint32_t words[Fp::WORDS] = {0xd94ca1e0, 0xed48ac6b, 0x03a7adf8, 0x315f831e, 0x615e29dd, 0x9a53352a,
                                           0x921e1761, 0x34c04e5e, 0x65724728, 0x2512d435, 0x91755d4d, 0x0aa63460};
    return words[i];
}

struct Transition {
    int u, v, s, t;
};

// 30 division steps on the low words. `eta` is minus the half-delta of the paper.
__device__ __forceinline__ Transition division_steps(uint32_t f, uint32_t g, int& eta) {
    Transition m{1, 0, 0, 1};
    int left = 30;
    for (;;) {
        int zeros = __ffs(g | (0xffffffffu << left)) - 1;
        g >>= zeros;
        m.u <<= zeros;
        m.v <<= zeros;
        eta -= zeros;
        left -= zeros;
        if (left == 0) return m;
        if (eta < 0) {
            eta = ~eta;
            uint32_t old_f = f;
            f = g;
            g = 0u - old_f;
            int old_u = m.u, old_v = m.v;
            m.u = m.s;
            m.s = -old_u;
            m.v = m.t;
            m.t = -old_v;
        }
        // Cancel up to six low bits of g at once: w = -g / f modulo 2^6, by f^-1 = f (f² - 2) mod 2^6 up to sign.
        int limit = min(eta + 1, left);
        uint32_t mask = 0xffffffffu >> (32 - min(limit, 6));
        uint32_t w = (f * g * (f * f - 2)) & mask;
        g += f * w;
        m.s += m.u * static_cast<int>(w);
        m.t += m.v * static_cast<int>(w);
    }
}

// The inverse of x, the same nonzero value in all lanes; in Montgomery form, in range. Every lane of the warp must call.
static __device__ __noinline__ void invert_by_warp(Fp* x) {
    constexpr unsigned ALL = 0xffffffffu;
    constexpr int N = Fp::WORDS;
    const int role = threadIdx.x & 3;  // 0: f, 1: g, 2: d, 3: e
    const bool modular = role >= 2;
    Fp value = canonical(*x);
    uint32_t own[N + 1];
#pragma unroll
    for (int i = 0; i < N; i++)
        own[i] = role == 0 ? fp_modulus(i) : role == 1 ? value.limb[i] : (role == 3 && i == 0) ? 1u : 0u;
    own[N] = 0;
    int eta = -1;
    // 40 rounds cover the proven bound for 384-bit inputs (about 900 steps); g reaches zero after about 25.
    for (int round = 0; round < 40; round++) {
        uint32_t f = __shfl_sync(ALL, own[0], 0, 4), g = __shfl_sync(ALL, own[0], 1, 4);
        Transition m = division_steps(f, g, eta);
        // This lane computes (a own + b partner + k p) / 2^30, with magnitudes times numbers flipped by their signs:
        // c x = |c| (x ^ s) + |c| (s & 1), s the sign mask of c.
        int a = (role & 1) ? m.t : m.u, b = (role & 1) ? m.s : m.v;
        uint32_t sign_a = a >> 31, sign_b = b >> 31;
        uint32_t size_a = (a ^ sign_a) - sign_a, size_b = (b ^ sign_b) - sign_b;
        uint32_t partner0 = __shfl_xor_sync(ALL, own[0], 1);
        uint32_t low = static_cast<uint32_t>(a) * own[0] + static_cast<uint32_t>(b) * partner0;
        int k = modular ? static_cast<int>((low * FP_INVERSE_WORD) << 2) >> 2 : 0;
        uint32_t sign_k = k >> 31, size_k = (k ^ sign_k) - sign_k;
        uint64_t c = static_cast<uint64_t>(sign_a & size_a) + (sign_b & size_b) + (sign_k & size_k);
        uint32_t before = 0, nonzero = 0;
#pragma unroll
        for (int j = 0; j < N; j++) {
            uint32_t partner = j ? __shfl_xor_sync(ALL, own[j], 1) : partner0;
            c += static_cast<uint64_t>(size_a) * (own[j] ^ sign_a);
            c += static_cast<uint64_t>(size_b) * (partner ^ sign_b);
            c += static_cast<uint64_t>(size_k) * (fp_modulus(j) ^ sign_k);
            uint32_t word = static_cast<uint32_t>(c);
            c >>= 32;
            if (j) {
                own[j - 1] = __funnelshift_r(before, word, 30);
                nonzero |= own[j - 1];
            }
            before = word;
        }
        // The top words are signed.
        uint32_t partner = __shfl_xor_sync(ALL, own[N], 1);
        int64_t top = static_cast<int64_t>(c) + static_cast<int64_t>(static_cast<int32_t>(own[N] ^ sign_a)) * size_a +
                      static_cast<int64_t>(static_cast<int32_t>(partner ^ sign_b)) * size_b +
                      static_cast<int64_t>(static_cast<int32_t>(sign_k)) * size_k;
        uint32_t top_low = static_cast<uint32_t>(top), top_high = static_cast<uint32_t>(top >> 32);
        own[N - 1] = __funnelshift_r(before, top_low, 30);
        own[N] = __funnelshift_r(top_low, top_high, 30);
        nonzero |= own[N - 1] | own[N];
        if (__shfl_sync(ALL, nonzero, 1, 4) == 0) break;  // g = 0: f = +-1 and x d = f
    }
    uint32_t negative = __shfl_sync(ALL, own[N], 0, 4);  // all ones when f = -1
    uint32_t d[N + 1];
    uint64_t c = negative & 1;
#pragma unroll
    for (int j = 0; j <= N; j++) {
        c += static_cast<uint64_t>(__shfl_sync(ALL, own[j], 2, 4) ^ negative);
        d[j] = static_cast<uint32_t>(c);
        c >>= 32;
    }
    // d + 16 p is positive and below 32 p: subtract 16 p, 8 p, .., p where it does not go below zero.
    uint32_t multiple[N + 1];
#pragma unroll
    for (int j = 0; j <= N; j++)
        multiple[j] = ((j < N ? fp_modulus(j) : 0) << 4) | (j > 0 ? fp_modulus(j - 1) >> 28 : 0);
    c = 0;
#pragma unroll
    for (int j = 0; j <= N; j++) {
        c += static_cast<uint64_t>(d[j]) + multiple[j];
        d[j] = static_cast<uint32_t>(c);
        c >>= 32;
    }
#pragma unroll 1
    for (int shift = 4; shift >= 0; shift--) {
        uint32_t less[N + 1];
        int64_t borrow = 0;
#pragma unroll
        for (int j = 0; j <= N; j++) {
            borrow += static_cast<int64_t>(d[j]) - static_cast<int64_t>(multiple[j]);
            less[j] = static_cast<uint32_t>(borrow);
            borrow >>= 32;
        }
#pragma unroll
        for (int j = 0; j <= N; j++) {
            d[j] = borrow < 0 ? d[j] : less[j];
            multiple[j] = (multiple[j] >> 1) | (j < N ? multiple[j + 1] << 31 : 0);
        }
    }
    Fp inverse, radix_cubed;
#pragma unroll
    for (int j = 0; j < N; j++) {
        inverse.limb[j] = d[j];
        radix_cubed.limb[j] = fp_radix_cubed(j);
    }
    *x = mul(inverse, radix_cubed);
}

// The same in Fp2, by the norm.
__device__ __forceinline__ void invert_by_warp(Fp2* x) {
    Fp n = norm(*x);
    invert_by_warp(&n);
    *x = inverse_from_norm(*x, n);
}

}  // namespace bls12_381

#endif
