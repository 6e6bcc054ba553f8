#pragma once
// The rows from which a Montgomery multiplication is built, for numbers of N 32-bit words (N even).
//
// A word times a number gives N two-word products that overlap by one word. Kept in two accumulators, one for the
// products of the even words and one for those of the odd words, the products of each no longer overlap, and a row is one
// unbroken carry chain. `odd[j]` has the weight of `even[j + 1]`. After each row the value moves down by one word, and the
// accumulators change roles.
#include "carry.cuh"

namespace mont {

/// acc = a[0], a[2], a[4], ... times b. Pass `a + 1` for the odd words.
template <int N>
GPU_HD void mul_row(uint32_t* acc, const uint32_t* a, uint32_t b) {
    GPU_UNROLL
    for (int j = 0; j < N; j += 2) {
        acc[j] = carry::mul_lo(a[j], b);
        acc[j + 1] = carry::mul_hi(a[j], b);
    }
}

/// acc += a[0], a[2], ... times b; the carry out of the last word stays in the flag.
template <int N>
GPU_HD void mad_row(uint32_t* acc, const uint32_t* a, uint32_t b) {
    acc[0] = carry::mad_lo_cc(a[0], b, acc[0]);
    acc[1] = carry::madc_hi_cc(a[0], b, acc[1]);
    GPU_UNROLL
    for (int j = 2; j < N; j += 2) {
        acc[j] = carry::madc_lo_cc(a[j], b, acc[j]);
        acc[j + 1] = carry::madc_hi_cc(a[j], b, acc[j + 1]);
    }
}

/// acc = (acc >> 64) + a[0], a[2], ... times b, plus the flag; nothing may carry out of the last word.
template <int N>
GPU_HD void mad_row_shift(uint32_t* acc, const uint32_t* a, uint32_t b) {
    GPU_UNROLL
    for (int j = 0; j < N - 2; j += 2) {
        acc[j] = carry::madc_lo_cc(a[j], b, acc[j + 2]);
        acc[j + 1] = carry::madc_hi_cc(a[j], b, acc[j + 3]);
    }
    acc[N - 2] = carry::madc_lo_cc(a[N - 2], b, 0);
    acc[N - 1] = carry::madc_hi(a[N - 2], b, 0);
}

/// The first half of a row: even + odd·2^32 = that value shifted down one word, plus a times b. On entry the lowest word of
/// `even` (the former odd accumulator) has to take in `odd[1]`; the carry runs on into the odd products.
template <int N, bool FIRST>
GPU_HD void product_row(uint32_t* even, uint32_t* odd, const uint32_t* a, uint32_t b) {
    if (FIRST) {
        mul_row<N>(odd, a + 1, b);
        mul_row<N>(even, a, b);
        return;
    }
    even[0] = carry::add_cc(even[0], odd[1]);
    mad_row_shift<N>(odd, a + 1, b);
    mad_row<N>(even, a, b);
    odd[N - 1] = carry::addc(odd[N - 1], 0);
}

/// out = even + (odd shifted down one word): the two accumulators joined after the last row. Returns the carry.
template <int N>
GPU_HD uint32_t join(uint32_t* out, const uint32_t* even, const uint32_t* odd) {
    out[0] = carry::add_cc(even[0], odd[1]);
    GPU_UNROLL
    for (int i = 1; i < N - 1; i++) out[i] = carry::addc_cc(even[i], odd[i + 1]);
    out[N - 1] = carry::addc_cc(even[N - 1], 0);
    return carry::addc(0, 0);
}

}  // namespace mont
