#pragma once
// The base field of BLS12-381: integers modulo the 381-bit prime p, as 12 words of 32 bits.
//
// Representation: Montgomery form with R = 2^384, little-endian words. In memory this is blst's `blst_fp` (6 x u64)
// bit for bit, so points and field elements move between host and device without conversion.
//
// Range: values in memory are canonical, below p. Values in registers may be anywhere in [0, 2p): every operation
// here takes and returns that range, which saves the conditional subtraction after each product (R > 9.8 p, so a
// product of two such values reduces to below 4p²/R + p < 1.41 p). `canonical` brings a value back before it is stored.
#include "mont.cuh"

namespace bls12_381 {

struct alignas(16) Fp {
    static constexpr int WORDS = 12;
    uint32_t limb[WORDS];
};

// p, one word at a time: folds to an immediate in unrolled code.
GPU_HD constexpr uint32_t fp_modulus(int i) {
    constexpr uint32_t words[Fp::WORDS] = {0xffffaaab, 0xb9feffff, 0xb153ffff, 0x1eabfffe, 0xf6b0f624, 0x6730d2a0,
                                           0xf38512bf, 0x64774b84, 0x434bacd7, 0x4b1ba7b6, 0x397fe69a, 0x1a0111ea};
    return words[i];
}
// 2p.
GPU_HD constexpr uint32_t fp_modulus_twice(int i) {
    return (fp_modulus(i) << 1) | (i > 0 ? fp_modulus(i - 1) >> 31 : 0);
}
// R mod p, the Montgomery form of 1.
GPU_HD constexpr uint32_t fp_one_word(int i) {
    constexpr uint32_t words[Fp::WORDS] = {0x0002fffd, 0x76090000, 0xc40c0002, 0xebf4000b, 0x53c758ba, 0x5f489857,
                                           0x70525745, 0x77ce5853, 0xa256ec6d, 0x5c071a97, 0xfa80e493, 0x15f65ec3};
    return words[i];
}
// -p^-1 mod 2^32.
constexpr uint32_t FP_INVERSE_WORD = 0xfffcfffd;

GPU_HD Fp zero_of(const Fp*) {
    Fp r;
    GPU_UNROLL for (int i = 0; i < Fp::WORDS; i++) r.limb[i] = 0;
    return r;
}
GPU_HD Fp one_of(const Fp*) {
    Fp r;
    GPU_UNROLL for (int i = 0; i < Fp::WORDS; i++) r.limb[i] = fp_one_word(i);
    return r;
}

// One row of Montgomery multiplication: (even, odd) = ((even, odd) + a b + m p) / 2^32 with m chosen to make the
// division exact. The division swaps the roles of the two accumulators, so callers alternate them.
template <bool FIRST>
GPU_HD void fp_mul_row(uint32_t* even, uint32_t* odd, const uint32_t* a, uint32_t b) {
    constexpr int N = Fp::WORDS;
    uint32_t p[N];
    GPU_UNROLL for (int i = 0; i < N; i++) p[i] = fp_modulus(i);
    mont::product_row<N, FIRST>(even, odd, a, b);
    uint32_t m = even[0] * FP_INVERSE_WORD;
    mont::mad_row<N>(odd, p + 1, m);
    mont::mad_row<N>(even, p, m);
    odd[N - 1] = carry::addc(odd[N - 1], 0);
}

// a b / R, below a b / R + p. Holds for any a < 8p and b < R; the result is in range when a b < p R, as for a, b <= 2p, or
// for a sum of two values in range times a value in range.
GPU_HD Fp mul(const Fp& a, const Fp& b) {
    uint32_t even[Fp::WORDS], odd[Fp::WORDS];
    fp_mul_row<true>(even, odd, a.limb, b.limb[0]);
    fp_mul_row<false>(odd, even, a.limb, b.limb[1]);
    GPU_UNROLL for (int i = 2; i < Fp::WORDS; i += 2) {
        fp_mul_row<false>(even, odd, a.limb, b.limb[i]);
        fp_mul_row<false>(odd, even, a.limb, b.limb[i + 1]);
    }
    Fp r;
    mont::join<Fp::WORDS>(r.limb, even, odd);
    return r;
}

// ---- products of double width, reduced later: for squares and for sums of products in Fp2 ---------------------------
struct FpWide {
    uint32_t limb[2 * Fp::WORDS];
};

// t / R, below t / R + p. Needs t < 2^383 R.
GPU_HD Fp reduce(const FpWide& t) {
    constexpr int N = Fp::WORDS;
    uint32_t p[N], x[N], y[N];
    GPU_UNROLL for (int i = 0; i < N; i++) {
        p[i] = fp_modulus(i);
        x[i] = t.limb[i];
    }
    GPU_UNROLL for (int i = 0; i < N; i++) {
        uint32_t* even = (i & 1) ? y : x;
        uint32_t* odd = (i & 1) ? x : y;
        if (i == 0) {
            mont::mul_row<N>(odd, p + 1, even[0] * FP_INVERSE_WORD);
            mont::mad_row<N>(even, p, even[0] * FP_INVERSE_WORD);
        } else {
            even[0] = carry::add_cc(even[0], odd[1]);
            uint32_t m = even[0] * FP_INVERSE_WORD;
            mont::mad_row_shift<N>(odd, p + 1, m);
            mont::mad_row<N>(even, p, m);
        }
        odd[N - 1] = carry::addc(odd[N - 1], 0);
    }
    uint32_t low[N];
    mont::join<N>(low, x, y);
    Fp r;
    r.limb[0] = carry::add_cc(low[0], t.limb[N]);
    GPU_UNROLL for (int i = 1; i < N - 1; i++) r.limb[i] = carry::addc_cc(low[i], t.limb[N + i]);
    r.limb[N - 1] = carry::addc(low[N - 1], t.limb[2 * N - 1]);
    return r;
}

// a b, not reduced.
GPU_HD FpWide mul_wide(const Fp& a, const Fp& b) {
    constexpr int N = Fp::WORDS;
    uint32_t even[2 * N], odd[2 * N];  // odd word k weighs 2^(32 (k + 1))
    mont::mul_row<N>(even, a.limb, b.limb[0]);
    mont::mul_row<N>(odd, a.limb + 1, b.limb[0]);
    even[N] = odd[N] = 0;
    GPU_UNROLL for (int j = 1; j < N; j++) {
        // Even words of a go to the accumulator of j's parity, odd words to the other one; each row's last product
        // opens two new words, the first of which may hold the carry of the row before.
        uint32_t* same = (j & 1) ? odd + (j - 1) : even + j;
        uint32_t* other = (j & 1) ? even + (j + 1) : odd + j;
        mont::mad_row<N>(same, a.limb, b.limb[j]);
        same[N] = carry::addc(0, 0);
        other[0] = carry::mad_lo_cc(a.limb[1], b.limb[j], other[0]);
        other[1] = carry::madc_hi_cc(a.limb[1], b.limb[j], other[1]);
        GPU_UNROLL for (int i = 2; i < N - 2; i += 2) {
            other[i] = carry::madc_lo_cc(a.limb[i + 1], b.limb[j], other[i]);
            other[i + 1] = carry::madc_hi_cc(a.limb[i + 1], b.limb[j], other[i + 1]);
        }
        other[N - 2] = carry::madc_lo_cc(a.limb[N - 1], b.limb[j], other[N - 2]);
        other[N - 1] = carry::madc_hi(a.limb[N - 1], b.limb[j], 0);
    }
    FpWide r;
    r.limb[0] = even[0];
    r.limb[1] = carry::add_cc(even[1], odd[0]);
    GPU_UNROLL for (int i = 2; i < 2 * N - 1; i++) r.limb[i] = carry::addc_cc(even[i], odd[i - 1]);
    r.limb[2 * N - 1] = carry::addc(even[2 * N - 1], odd[2 * N - 2]);
    return r;
}

// a², not reduced: the products of different words once, doubled, and the squares of words on top.
GPU_HD FpWide sqr_wide(const Fp& a) {
    constexpr int N = Fp::WORDS;
    uint32_t even[2 * N], odd[2 * N];
    GPU_UNROLL for (int i = 0; i < 2 * N; i++) even[i] = odd[i] = 0;
    GPU_UNROLL for (int i = 0; i < N - 1; i++) {
        GPU_UNROLL for (int s = 1; s <= 2; s++) {  // words i + s, i + s + 2, ..
            const int parity = s & 1;              // of the position 2 i + s
            uint32_t* acc = parity ? odd : even;
            if (i + s >= N) continue;
            GPU_UNROLL for (int j = i + s; j < N; j += 2) {
                const int k = i + j - parity;
                acc[k] = j == i + s ? carry::mad_lo_cc(a.limb[i], a.limb[j], acc[k])
                                    : carry::madc_lo_cc(a.limb[i], a.limb[j], acc[k]);
                acc[k + 1] = carry::madc_hi_cc(a.limb[i], a.limb[j], acc[k + 1]);
            }
            const int last = i + (i + s + (N - 1 - i - s) / 2 * 2) - parity + 2;
            if (last < 2 * N) acc[last] = carry::addc(acc[last], 0);
        }
    }
    uint32_t t[2 * N];
    t[0] = 0;
    t[1] = odd[0];
    t[2] = carry::add_cc(even[2], odd[1]);
    GPU_UNROLL for (int i = 3; i < 2 * N - 1; i++) t[i] = carry::addc_cc(even[i], odd[i - 1]);
    t[2 * N - 1] = carry::addc(0, 0);
    GPU_UNROLL for (int i = 2 * N - 1; i > 0; i--) t[i] = (t[i] << 1) | (t[i - 1] >> 31);
    FpWide r;
    r.limb[0] = carry::mad_lo_cc(a.limb[0], a.limb[0], 0);
    r.limb[1] = carry::madc_hi_cc(a.limb[0], a.limb[0], t[1]);
    GPU_UNROLL for (int i = 1; i < N; i++) {
        r.limb[2 * i] = carry::madc_lo_cc(a.limb[i], a.limb[i], t[2 * i]);
        r.limb[2 * i + 1] = i < N - 1 ? carry::madc_hi_cc(a.limb[i], a.limb[i], t[2 * i + 1])
                                      : carry::madc_hi(a.limb[i], a.limb[i], t[2 * i + 1]);
    }
    return r;
}

GPU_HD Fp sqr(const Fp& a) { return reduce(sqr_wide(a)); }

// ---- sums ----------------------------------------------------------------------------------------------------------

// a + b with no reduction: in [0, 4p), a factor for `mul` only.
GPU_HD Fp add_unreduced(const Fp& a, const Fp& b) {
    Fp r;
    r.limb[0] = carry::add_cc(a.limb[0], b.limb[0]);
    GPU_UNROLL for (int i = 1; i < Fp::WORDS - 1; i++) r.limb[i] = carry::addc_cc(a.limb[i], b.limb[i]);
    r.limb[Fp::WORDS - 1] = carry::addc(a.limb[Fp::WORDS - 1], b.limb[Fp::WORDS - 1]);
    return r;
}

// a - b as a 384-bit number, and all ones when it borrowed.
GPU_HD Fp sub_borrow(const Fp& a, const Fp& b, uint32_t& borrow) {
    Fp r;
    r.limb[0] = carry::sub_cc(a.limb[0], b.limb[0]);
    GPU_UNROLL for (int i = 1; i < Fp::WORDS; i++) r.limb[i] = carry::subc_cc(a.limb[i], b.limb[i]);
    borrow = carry::subc(0, 0);
    return r;
}

GPU_HD Fp fp_select(uint32_t mask, const Fp& when_set, const Fp& when_clear) {
    Fp r;
    GPU_UNROLL for (int i = 0; i < Fp::WORDS; i++) r.limb[i] = mask ? when_set.limb[i] : when_clear.limb[i];
    return r;
}
GPU_HD Fp fp_prime() {
    Fp r;
    GPU_UNROLL for (int i = 0; i < Fp::WORDS; i++) r.limb[i] = fp_modulus(i);
    return r;
}
GPU_HD Fp fp_prime_twice() {
    Fp r;
    GPU_UNROLL for (int i = 0; i < Fp::WORDS; i++) r.limb[i] = fp_modulus_twice(i);
    return r;
}

GPU_HD Fp add(const Fp& a, const Fp& b) {
    Fp sum = add_unreduced(a, b);
    uint32_t borrow;
    Fp less = sub_borrow(sum, fp_prime_twice(), borrow);
    return fp_select(borrow, sum, less);
}

GPU_HD Fp sub(const Fp& a, const Fp& b) {
    uint32_t borrow;
    Fp r = sub_borrow(a, b, borrow), fix;
    GPU_UNROLL for (int i = 0; i < Fp::WORDS; i++) fix.limb[i] = fp_modulus_twice(i) & borrow;
    return add_unreduced(r, fix);
}

// a - b for canonical a and b, with no comparison. Also takes a = p or b = p, the negation of zero; p - 0 then gives 2p,
// which is still a factor for `mul`.
GPU_HD Fp sub_canonical(const Fp& a, const Fp& b) {
    uint32_t borrow;
    return add_unreduced(sub_borrow(a, b, borrow), fp_prime());
}

// The value below p.
GPU_HD Fp canonical(const Fp& a) {
    uint32_t borrow;
    Fp less = sub_borrow(a, fp_prime(), borrow);
    return fp_select(borrow, a, less);
}

// Whether all words are zero: the test for canonical values.
GPU_HD bool is_zero_canonical(const Fp& a) {
    uint32_t any = 0;
    GPU_UNROLL for (int i = 0; i < Fp::WORDS; i++) any |= a.limb[i];
    return any == 0;
}
GPU_HD bool equal_words(const Fp& a, const Fp& b) {
    uint32_t any = 0;
    GPU_UNROLL for (int i = 0; i < Fp::WORDS; i++) any |= a.limb[i] ^ b.limb[i];
    return any == 0;
}
GPU_HD bool is_zero(const Fp& a) { return is_zero_canonical(canonical(a)); }

GPU_HD Fp neg(const Fp& a) { return sub(zero_of(&a), a); }
GPU_HD Fp twice(const Fp& a) { return add(a, a); }
// -a for canonical a: in [0, p], where p stands for zero.
GPU_HD Fp neg_canonical(const Fp& a) {
    uint32_t borrow;
    return sub_borrow(fp_prime(), a, borrow);
}

// a^-1 by Fermat, 0 for 0. Slow: for tests and one-time work; kernels share inversions (see fp_inverse.cuh).
GPU_HD Fp inverse(const Fp& a) {
    Fp r = one_of(&a);
    // p - 2 differs from p in the lowest word only.
    for (int bit = 380; bit >= 0; bit--) {
        r = sqr(r);
        uint32_t word = fp_modulus(bit / 32) - (bit < 32 ? 2 : 0);
        if ((word >> (bit % 32)) & 1) r = mul(r, a);
    }
    return r;
}

}  // namespace bls12_381
