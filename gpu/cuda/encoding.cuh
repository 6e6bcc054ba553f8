#pragma once
// Points as files have them, turned into Montgomery form: Zcash's uncompressed encoding, which has as many bytes as a point in memory.
//
// A coordinate is 48 bytes, big-endian; of an element of Fp2, c1 comes before c0. The three top bits of a point's first byte are flags:
// compressed, at infinity, sign. An uncompressed point that is not at infinity has none of them. p has 381 bits, so a coordinate with
// one of these bits is not below p, and one comparison refuses flags and values that are not canonical.
#include "curve.cuh"

namespace bls12_381 {

// R² mod p: times this, a plain integer becomes its Montgomery form.
GPU_HD constexpr uint32_t fp_r_squared_word(int i) {
    constexpr uint32_t words[Fp::WORDS] = {0x1c341746, 0xf4df1f34, 0x09d104f1, 0x0a76e6a6, 0x4c95b6d5, 0x8de5476c,
                                           0x939d83c0, 0x67eb88a9, 0xb519952d, 0x9a793e85, 0x92cae3aa, 0x11988fe5};
    return words[i];
}

// b of the curve y² = x³ + b: 4 in G1, 4 (1 + u) in G2.
GPU_HD Fp curve_b(const Fp* a) { return twice(twice(one_of(a))); }
GPU_HD Fp2 curve_b(const Fp2*) {
    const Fp four = curve_b(static_cast<const Fp*>(nullptr));
    return Fp2{four, four};
}

GPU_HD uint32_t reverse_bytes(uint32_t word) {
    return (word >> 24) | ((word >> 8) & 0xff00u) | ((word & 0xff00u) << 8) | (word << 24);
}

// Takes the words of a coordinate as they lie in memory. False, and some value in range, when the integer is not below p.
GPU_HD bool decode_coordinate(const Fp& bytes, Fp* value) {
    Fp plain, factor;
    GPU_UNROLL for (int i = 0; i < Fp::WORDS; i++) {
        plain.limb[i] = reverse_bytes(bytes.limb[Fp::WORDS - 1 - i]);
        factor.limb[i] = fp_r_squared_word(i);
    }
    uint32_t below;
    sub_borrow(plain, fp_prime(), below);
    // The second factor of `mul` may be any number of 384 bits.
    *value = canonical(product(factor, plain));
    return below != 0;
}
GPU_HD bool decode_coordinate(const Fp2& bytes, Fp2* value) {
    const bool first = decode_coordinate(bytes.c0, &value->c1), second = decode_coordinate(bytes.c1, &value->c0);
    return first && second;
}

// Takes the words of a point as they lie in memory. False, and infinity, for what is no point: flags, a coordinate that is not below p, not
// on the curve. (0, ±2) on G1's curve are refused too, as blst does: they have order three. On G2's no point has x = 0.
template <class F>
GPU_HD bool decode_point(const Affine<F>& bytes, Affine<F>* point) {
    const bool x = decode_coordinate(bytes.x, &point->x), y = decode_coordinate(bytes.y, &point->y);
    const F right = add(product(product(point->x, point->x), point->x), curve_b(static_cast<const F*>(nullptr)));
    const F left = product(point->y, point->y);
    if (x && y && is_zero(sub(left, right)) && !is_zero_canonical(point->x)) return true;
    *point = Affine<F>{zero<F>(), zero<F>()};
    return false;
}

}  // namespace bls12_381
