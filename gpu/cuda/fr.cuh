#pragma once
// The scalar field of BLS12-381, r = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001.
//
// An element is 8 little-endian 32-bit words in Montgomery form with R = 2^256: in memory the same 32 bytes as
// `blstrs::Scalar`. Unless a function says otherwise, operands and results are canonical, that is, below r.
//
// Multiplication uses the shape of r. Its two lowest words are 1 and 2^32 - 1, so -r^-1 mod 2^32 = -1 and the quotient
// digit of a Montgomery step is (minus) the lowest word q of the running value T: no multiplication finds it. With
// r = 1 - 2^32 + 2^64·r'' and c = 2^192 - r'',
//     T - q·r = (T - q) + 2^32·q + 2^64·q·c - 2^256·q,
// so a step is an addition and a product with the six words of c. The terms -2^256·q of the eight steps fall on the
// words of the result and are subtracted together at the end: 64 + 48 wide products instead of 64 + 64 and 8 more.
#include "mont.cuh"

struct alignas(16) Fr {
    uint32_t v[8];

    static constexpr int WORDS = 8;

    /// Word i of r.
    GPU_HD static constexpr uint32_t modulus(int i) {
        constexpr uint32_t words[8] = {0x00000001u, 0xffffffffu, 0xfffe5bfeu, 0x53bda402u,
                                       0x09a1d805u, 0x3339d808u, 0x299d7d48u, 0x73eda753u};
        return words[i];
    }

    /// Word i of c = 2^192 - r''.
    GPU_HD static constexpr uint32_t fold(int i) {
        constexpr uint32_t words[6] = {0x0001a401u, 0xac425bfdu, 0xf65e27fau, 0xccc627f7u, 0xd66282b7u, 0x8c1258acu};
        return words[i];
    }

    GPU_HD static Fr zero() { return Fr{{0, 0, 0, 0, 0, 0, 0, 0}}; }

    /// 1 in Montgomery form: 2^256 mod r.
    GPU_HD static Fr one() {
        return Fr{{0xfffffffeu, 0x00000001u, 0x00034802u, 0x5884b7fau, 0xecbc4ff5u, 0x998c4fefu, 0xacc5056fu, 0x1824b159u}};
    }

    /// 2^512 mod r: multiplying by it brings a canonical integer into Montgomery form.
    GPU_HD static Fr r_squared() {
        return Fr{{0xf3f29c6du, 0xc999e990u, 0x87925c23u, 0x2b6cedcbu, 0x7254398fu, 0x05d31496u, 0x9f59ff11u, 0x0748d9d9u}};
    }

    GPU_HD friend bool operator==(const Fr& a, const Fr& b) {
        uint32_t difference = 0;
        GPU_UNROLL
        for (int i = 0; i < 8; i++) difference |= a.v[i] ^ b.v[i];
        return difference == 0;
    }
    GPU_HD bool is_zero() const { return *this == zero(); }

    /// a - r if a >= r, else a; for a below 2r.
    GPU_HD static Fr reduce(const Fr& a) {
        Fr d;
        d.v[0] = carry::sub_cc(a.v[0], modulus(0));
        GPU_UNROLL
        for (int i = 1; i < 8; i++) d.v[i] = carry::subc_cc(a.v[i], modulus(i));
        const uint32_t keep = carry::subc(0, 0);
        GPU_UNROLL
        for (int i = 0; i < 8; i++) d.v[i] = keep ? a.v[i] : d.v[i];
        return d;
    }

    /// a + b without reduction, below 2r < 2^256.
    GPU_HD static Fr add_lazy(const Fr& a, const Fr& b) {
        Fr s;
        s.v[0] = carry::add_cc(a.v[0], b.v[0]);
        GPU_UNROLL
        for (int i = 1; i < 7; i++) s.v[i] = carry::addc_cc(a.v[i], b.v[i]);
        s.v[7] = carry::addc(a.v[7], b.v[7]);
        return s;
    }

    /// a - b + r, between 1 and 2r - 1: no comparison.
    GPU_HD static Fr sub_lazy(const Fr& a, const Fr& b) {
        Fr d;
        d.v[0] = carry::add_cc(a.v[0], modulus(0));
        GPU_UNROLL
        for (int i = 1; i < 7; i++) d.v[i] = carry::addc_cc(a.v[i], modulus(i));
        d.v[7] = carry::addc(a.v[7], modulus(7));
        d.v[0] = carry::sub_cc(d.v[0], b.v[0]);
        GPU_UNROLL
        for (int i = 1; i < 7; i++) d.v[i] = carry::subc_cc(d.v[i], b.v[i]);
        d.v[7] = carry::subc(d.v[7], b.v[7]);
        return d;
    }

    GPU_HD friend Fr operator+(const Fr& a, const Fr& b) { return reduce(add_lazy(a, b)); }

    GPU_HD friend Fr operator-(const Fr& a, const Fr& b) {
        Fr d;
        d.v[0] = carry::sub_cc(a.v[0], b.v[0]);
        GPU_UNROLL
        for (int i = 1; i < 8; i++) d.v[i] = carry::subc_cc(a.v[i], b.v[i]);
        return d.add_modulus_if(carry::subc(0, 0));
    }

    GPU_HD static Fr neg(const Fr& a) { return zero() - a; }

    /// a·b/2^256 mod r, canonical, for a below r and any 256-bit b. The order matters: with a above r a row overflows.
    GPU_HD static Fr mul(const Fr& a, const Fr& b) {
        uint32_t even[8], odd[8], q[8];
        q[0] = mul_step<true>(even, odd, a.v, b.v[0]);
        q[1] = mul_step<false>(odd, even, a.v, b.v[1]);
        GPU_UNROLL
        for (int i = 2; i < 8; i += 2) {
            q[i] = mul_step<false>(even, odd, a.v, b.v[i]);
            q[i + 1] = mul_step<false>(odd, even, a.v, b.v[i + 1]);
        }
        // The value is (a·b - q·r)/2^256, above -r because q < 2^256 and below r because a·b < r·2^256.
        Fr t;
        const uint32_t top = mont::join<8>(t.v, even, odd);
        t.v[0] = carry::sub_cc(t.v[0], q[0]);
        GPU_UNROLL
        for (int i = 1; i < 8; i++) t.v[i] = carry::subc_cc(t.v[i], q[i]);
        return t.add_modulus_if(carry::subc(top, 0));
    }

    GPU_HD friend Fr operator*(const Fr& a, const Fr& b) { return mul(a, b); }

    /// The integer below r that a stands for, as plain words.
    GPU_HD static Fr to_canonical(const Fr& a) { return mul(Fr{{1, 0, 0, 0, 0, 0, 0, 0}}, a); }

    /// Montgomery form of any 256-bit integer.
    GPU_HD static Fr from_canonical(const Fr& a) { return mul(r_squared(), a); }

    /// a to a 64-bit power, from the top bit down.
    GPU_HD static Fr pow(const Fr& a, uint64_t exponent) {
        Fr result = one();
        for (int bit = 63; bit >= 0; bit--) {
            result = result * result;
            if ((exponent >> bit) & 1) result = result * a;
        }
        return result;
    }

  private:
    GPU_HD Fr add_modulus_if(uint32_t mask) const {
        Fr s;
        s.v[0] = carry::add_cc(v[0], mask & modulus(0));
        GPU_UNROLL
        for (int i = 1; i < 7; i++) s.v[i] = carry::addc_cc(v[i], mask & modulus(i));
        s.v[7] = carry::addc(v[7], mask & modulus(7));
        return s;
    }

    /// Adds a·b, then folds the lowest word away as the head of this file says; returns that word.
    template <bool FIRST>
    GPU_HD static uint32_t mul_step(uint32_t* even, uint32_t* odd, const uint32_t* a, uint32_t b) {
        mont::product_row<8, FIRST>(even, odd, a, b);
        const uint32_t q = even[0];
        // odd[j] weighs 2^(32(j+1)): q·2^32 goes to odd[0], the odd words of c to odd[2..7], the even ones to even[2..7].
        odd[0] = carry::add_cc(odd[0], q);
        odd[1] = carry::addc_cc(odd[1], 0);
        odd[2] = carry::madc_lo_cc(q, fold(1), odd[2]);
        odd[3] = carry::madc_hi_cc(q, fold(1), odd[3]);
        odd[4] = carry::madc_lo_cc(q, fold(3), odd[4]);
        odd[5] = carry::madc_hi_cc(q, fold(3), odd[5]);
        odd[6] = carry::madc_lo_cc(q, fold(5), odd[6]);
        odd[7] = carry::madc_hi(q, fold(5), odd[7]);
        even[2] = carry::mad_lo_cc(q, fold(0), even[2]);
        even[3] = carry::madc_hi_cc(q, fold(0), even[3]);
        even[4] = carry::madc_lo_cc(q, fold(2), even[4]);
        even[5] = carry::madc_hi_cc(q, fold(2), even[5]);
        even[6] = carry::madc_lo_cc(q, fold(4), even[6]);
        even[7] = carry::madc_hi_cc(q, fold(4), even[7]);
        odd[7] = carry::addc(odd[7], 0);
        return q;
    }
};
