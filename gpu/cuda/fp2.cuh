#pragma once
// The quadratic extension Fp2 = Fp[u] / (u² + 1), as c0 + c1 u; blst's `blst_fp2` in memory. Ranges are Fp's: canonical
// in memory, [0, 2p) in registers.
#include "fp.cuh"

namespace bls12_381 {

struct alignas(16) Fp2 {
    Fp c0, c1;
};

GPU_HD Fp2 zero_of(const Fp2*) {
    Fp zero = zero_of(static_cast<const Fp*>(nullptr));
    return Fp2{zero, zero};
}
GPU_HD Fp2 one_of(const Fp2*) {
    return Fp2{one_of(static_cast<const Fp*>(nullptr)), zero_of(static_cast<const Fp*>(nullptr))};
}

// Differences of products of double width.
namespace wide {

// a - b, wrapping modulo 2^768.
GPU_HD FpWide sub(const FpWide& a, const FpWide& b) {
    FpWide r;
    r.limb[0] = carry::sub_cc(a.limb[0], b.limb[0]);
    GPU_UNROLL for (int i = 1; i < 2 * Fp::WORDS - 1; i++) r.limb[i] = carry::subc_cc(a.limb[i], b.limb[i]);
    r.limb[2 * Fp::WORDS - 1] = carry::subc(a.limb[2 * Fp::WORDS - 1], b.limb[2 * Fp::WORDS - 1]);
    return r;
}
// a - b + 2^384 p when a < b, a - b otherwise: non-negative and the same modulo p.
GPU_HD FpWide sub_modulo(const FpWide& a, const FpWide& b) {
    FpWide r;
    r.limb[0] = carry::sub_cc(a.limb[0], b.limb[0]);
    GPU_UNROLL for (int i = 1; i < 2 * Fp::WORDS; i++) r.limb[i] = carry::subc_cc(a.limb[i], b.limb[i]);
    uint32_t borrow = carry::subc(0, 0);
    r.limb[Fp::WORDS] = carry::add_cc(r.limb[Fp::WORDS], fp_modulus(0) & borrow);
    GPU_UNROLL for (int i = 1; i < Fp::WORDS - 1; i++)
        r.limb[Fp::WORDS + i] = carry::addc_cc(r.limb[Fp::WORDS + i], fp_modulus(i) & borrow);
    r.limb[2 * Fp::WORDS - 1] = carry::addc(r.limb[2 * Fp::WORDS - 1], fp_modulus(Fp::WORDS - 1) & borrow);
    return r;
}

}  // namespace wide

// Karatsuba over products of double width: three products, two reductions.
// c1 = a0 b1 + a1 b0 < 8 p², so it reduces to below 1.82 p. c0 = a0 b0 - a1 b1 is either non-negative and below 4 p²
// (1.41 p) or lifted by p R to below p R (2 p): both in range.
GPU_HD Fp2 mul(const Fp2& a, const Fp2& b) {
    FpWide low = mul_wide(a.c0, b.c0);
    FpWide high = mul_wide(a.c1, b.c1);
    FpWide cross = mul_wide(add_unreduced(a.c0, a.c1), add_unreduced(b.c0, b.c1));
    Fp2 r;
    r.c1 = reduce(wide::sub(wide::sub(cross, low), high));
    r.c0 = reduce(wide::sub_modulo(low, high));
    return r;
}

// (a0 + a1)(a0 - a1) + 2 a0 a1 u.
GPU_HD Fp2 sqr(const Fp2& a) {
    Fp2 r;
    r.c0 = mul(sub(a.c0, a.c1), add_unreduced(a.c0, a.c1));
    r.c1 = mul(a.c1, add_unreduced(a.c0, a.c0));
    return r;
}

GPU_HD Fp2 add(const Fp2& a, const Fp2& b) { return Fp2{add(a.c0, b.c0), add(a.c1, b.c1)}; }
GPU_HD Fp2 sub(const Fp2& a, const Fp2& b) { return Fp2{sub(a.c0, b.c0), sub(a.c1, b.c1)}; }
GPU_HD Fp2 sub_canonical(const Fp2& a, const Fp2& b) {
    return Fp2{sub_canonical(a.c0, b.c0), sub_canonical(a.c1, b.c1)};
}
GPU_HD Fp2 neg(const Fp2& a) { return Fp2{neg(a.c0), neg(a.c1)}; }
GPU_HD Fp2 neg_canonical(const Fp2& a) { return Fp2{neg_canonical(a.c0), neg_canonical(a.c1)}; }
GPU_HD Fp2 twice(const Fp2& a) { return add(a, a); }
GPU_HD Fp2 canonical(const Fp2& a) { return Fp2{canonical(a.c0), canonical(a.c1)}; }
GPU_HD bool is_zero_canonical(const Fp2& a) { return is_zero_canonical(a.c0) && is_zero_canonical(a.c1); }
GPU_HD bool equal_words(const Fp2& a, const Fp2& b) { return equal_words(a.c0, b.c0) && equal_words(a.c1, b.c1); }
GPU_HD bool is_zero(const Fp2& a) { return is_zero(a.c0) && is_zero(a.c1); }

// a0² + a1² in Fp: the norm, whose inverse gives (a0 - a1 u) / norm.
GPU_HD Fp norm(const Fp2& a) { return add(sqr(a.c0), sqr(a.c1)); }
GPU_HD Fp2 inverse_from_norm(const Fp2& a, const Fp& inverse_norm) {
    return Fp2{mul(a.c0, inverse_norm), mul(neg(a.c1), inverse_norm)};
}
GPU_HD Fp2 inverse(const Fp2& a) { return inverse_from_norm(a, inverse(norm(a))); }

}  // namespace bls12_381
