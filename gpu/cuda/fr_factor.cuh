#pragma once
// Multiplication in Fr by a factor that is known beforehand, after Shoup.
//
// With w the factor, w' = floor(w·2^256/r) and q = floor(w'·x/2^256),
//     0 <= w·x - q·r < (1 + x/2^256)·r,
// which is below 2r and so below 2^256 where x is below 2r: only the low words of both products are needed. Of w'·x the products
// of words i and j with i + j < 6 are left out. Together they are below 2^-29 of q's unit: q may be one less, and the bound is
// (1 + x/2^256 + 2^-29)·r, still below 2r. That makes 86 wide products and 14 low ones, where a Montgomery product takes 112 wide
// ones. Montgomery's factor 2^256 does not appear: x in Montgomery form gives w·x in Montgomery form.
#include "fr.cuh"

namespace factor {

/// Whether the pair of words that a row ends in is new, so that the row's carry cannot leave it. Rows end one word further
/// each time; the pairs of one accumulator overlap no others.
GPU_HD constexpr bool ends_in_new_pair(int row, bool odd) { return row == 0 || (row % 2 == 1) != odd; }

/// Adds the products of b and the words of a whose position `row + j` has the parity and is at least 6. acc[0] is at `odd ? 7 : 6`.
GPU_HD void high_row(uint32_t* acc, bool odd, int row, const uint32_t* a, uint32_t b) {
    const int lowest = odd ? 7 : 6;
    bool first = true;
    int end = 0;
    GPU_UNROLL
    for (int j = 0; j < 8; j++) {
        const int at = row + j - lowest;
        if (at < 0 || at % 2 != 0) continue;
        acc[at] = first ? carry::mad_lo_cc(a[j], b, acc[at]) : carry::madc_lo_cc(a[j], b, acc[at]);
        const bool closed = j + 2 > 7 && ends_in_new_pair(row, odd);
        acc[at + 1] = closed ? carry::madc_hi(a[j], b, acc[at + 1]) : carry::madc_hi_cc(a[j], b, acc[at + 1]);
        first = false;
        end = at + 2;
    }
    if (!ends_in_new_pair(row, odd)) acc[end] = carry::addc(0, 0);
}

/// Adds the products of b and the N words of a, the first of which has the position `row`, as far as they concern the words
/// 0 to 7. even[0] is at 0, odd[0] at 1. `CARRIED`: the flag is added too.
template <int N, bool CARRIED>
GPU_HD void low_row(uint32_t* even, uint32_t* odd, int row, const uint32_t* a, uint32_t b) {
    bool first = !CARRIED;
    GPU_UNROLL
    for (int j = 0; j < N; j++) {
        const int at = row + j;
        if (at > 6 || at % 2 != 0) continue;
        even[at] = first ? carry::mad_lo_cc(a[j], b, even[at]) : carry::madc_lo_cc(a[j], b, even[at]);
        even[at + 1] = at == 6 ? carry::madc_hi(a[j], b, even[at + 1]) : carry::madc_hi_cc(a[j], b, even[at + 1]);
        first = false;
    }
    first = true;
    GPU_UNROLL
    for (int j = 0; j < N; j++) {
        const int at = row + j;
        if (at > 7 || at % 2 != 1) continue;
        if (at == 7) {
            odd[6] = first ? a[j] * b + odd[6] : carry::madc_lo(a[j], b, odd[6]);
            continue;
        }
        odd[at - 1] = first ? carry::mad_lo_cc(a[j], b, odd[at - 1]) : carry::madc_lo_cc(a[j], b, odd[at - 1]);
        odd[at] = carry::madc_hi_cc(a[j], b, odd[at]);
        first = false;
    }
}

}  // namespace factor

struct alignas(16) FrFactor {
    /// w, canonical, not in Montgomery form.
    Fr value;
    /// w'.
    Fr quotient;

    /// For w in Montgomery form. That is w·2^256 - w'·r, so that modulo 2^256 it gives w' when multiplied by -1/r.
    GPU_HD static FrFactor of(const Fr& w) {
        constexpr uint32_t negative_inverse[8] = {0xffffffffu, 0xfffffffeu, 0xfffe5bfdu, 0x53ba5bffu,
                                                  0x0004ec06u, 0x181b2c17u, 0xd7bf2839u, 0x3d443ab0u};
        uint32_t even[8] = {0, 0, 0, 0, 0, 0, 0, 0}, odd[7] = {0, 0, 0, 0, 0, 0, 0};
        GPU_UNROLL
        for (int i = 0; i < 8; i++) factor::low_row<8, false>(even, odd, i, negative_inverse, w.v[i]);
        return FrFactor{Fr::to_canonical(w), joined(even, odd)};
    }

    /// w·x + (0 or r), for x below 2r.
    GPU_HD static Fr mul_lazy(const FrFactor& w, const Fr& x) {
        const Fr q = high(w.quotient.v, x.v);
        // -q·r = -q + 2^32·q + 2^64·q·c modulo 2^256, with c as in fr.cuh. The first two terms, with -q = ~q + 1, are what the
        // accumulators begin with.
        uint32_t even[8], odd[7];
        even[0] = ~q.v[0];
        GPU_UNROLL
        for (int i = 0; i < 7; i++) {
            even[i + 1] = q.v[i];
            odd[i] = ~q.v[i + 1];
        }
        carry::add_cc(0xffffffffu, 1);
        factor::low_row<8, true>(even, odd, 0, w.value.v, x.v[0]);
        GPU_UNROLL
        for (int i = 1; i < 8; i++) factor::low_row<8, false>(even, odd, i, w.value.v, x.v[i]);
        const uint32_t c[6] = {Fr::fold(0), Fr::fold(1), Fr::fold(2), Fr::fold(3), Fr::fold(4), Fr::fold(5)};
        GPU_UNROLL
        for (int i = 0; i < 6; i++) factor::low_row<6, false>(even, odd, i + 2, c, q.v[i]);
        return joined(even, odd);
    }

    /// w·x, canonical, for x below 2r.
    GPU_HD friend Fr operator*(const FrFactor& w, const Fr& x) { return Fr::reduce(mul_lazy(w, x)); }

  private:
    /// even + 2^32·odd modulo 2^256.
    GPU_HD static Fr joined(const uint32_t* even, const uint32_t* odd) {
        Fr sum;
        sum.v[0] = even[0];
        sum.v[1] = carry::add_cc(even[1], odd[0]);
        GPU_UNROLL
        for (int i = 2; i < 7; i++) sum.v[i] = carry::addc_cc(even[i], odd[i - 1]);
        sum.v[7] = carry::addc(even[7], odd[6]);
        return sum;
    }

    /// The words from 8 on of a·b, or one less.
    GPU_HD static Fr high(const uint32_t* a, const uint32_t* b) {
        uint32_t even[10] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, odd[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
        GPU_UNROLL
        for (int i = 0; i < 8; i++) {
            factor::high_row(even, false, i, a, b[i]);
            factor::high_row(odd, true, i, a, b[i]);
        }
        Fr sum;
        carry::add_cc(even[1], odd[0]);
        GPU_UNROLL
        for (int i = 0; i < 7; i++) sum.v[i] = carry::addc_cc(even[i + 2], odd[i + 1]);
        sum.v[7] = carry::addc(even[9], odd[8]);
        return sum;
    }
};
