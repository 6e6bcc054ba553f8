// The curve headers compiled by an ordinary C++ compiler, for the tests that compare them with blst.
#include <cstring>

#include "encoding.cuh"
#include "g1.cuh"
#include "g2.cuh"

using namespace bls12_381;

namespace {

// The other representative of a value that is in range: a + p for a below p.
Fp lifted(const Fp& a) { return add_unreduced(a, fp_prime()); }
Fp2 lifted(const Fp2& a) { return Fp2{lifted(a.c0), lifted(a.c1)}; }

template <class F>
F load(const uint64_t* from) {
    F value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class F>
bool store(const F& value, uint64_t* to) {
    std::memcpy(to, &value, sizeof value);
    return true;
}

template <class F>
bool field(int32_t operation, F a, F b, uint64_t* out) {
    switch (operation) {
        case 0: return store(canonical(add(a, b)), out);
        case 1: return store(canonical(sub(a, b)), out);
        case 2: return store(canonical(mul(a, b)), out);
        case 3: return store(canonical(sqr(a)), out);
        case 4: return store(canonical(neg(a)), out);
        case 5: return store(canonical(inverse(a)), out);
        case 6: return store(canonical(twice(a)), out);
        default: return false;
    }
}

// Operands as they are, and lifted where `lift` has bit 0 (a) or 1 (b).
template <class F>
bool field_lifted(int32_t operation, int32_t lift, const uint64_t* a, const uint64_t* b, uint64_t* out) {
    const F x = load<F>(a), y = load<F>(b);
    // These two take canonical operands only.
    if (operation == 7) return store(canonical(sub_canonical(x, y)), out);
    if (operation == 8) return store(canonical(neg_canonical(x)), out);
    return field<F>(operation, lift & 1 ? lifted(x) : x, lift & 2 ? lifted(y) : y, out);
}

template <class F>
Xyzz<F> xyzz_of(const Affine<F>& p) {
    if (is_infinity(p)) return xyzz_infinity<F>();
    return Xyzz<F>{p.x, p.y, one<F>(), one<F>()};
}

// operation: 0 a + b with both in XYZZ, 1 a + b with b affine, 2 2 a, 3 (2 a) + b, so that ZZ is not one.
template <class F>
bool point(int32_t operation, const uint64_t* a, const uint64_t* b, uint64_t* out) {
    const Affine<F> p = load<Affine<F>>(a), q = load<Affine<F>>(b);
    Xyzz<F> x = xyzz_of(p);
    const Xyzz<F> y = xyzz_of(q);
    switch (operation) {
        case 0: add_in_place(&x, &y); break;
        case 1: add_affine_in_place(&x, &q); break;
        case 2: double_in_place(&x); break;
        case 3: {
            Xyzz<F> sum = y;
            double_in_place(&x);
            add_in_place(&sum, &x);
            add_affine_in_place(&x, &q);
            const Jacobian<F> one_way = to_jacobian(x), other_way = to_jacobian(sum);
            // The same point by both formulas; coordinates may differ by scale.
            const F zz1 = sqr(one_way.z), zz2 = sqr(other_way.z);
            if (!is_zero(sub(mul(one_way.x, zz2), mul(other_way.x, zz1)))) return false;
            break;
        }
        default: return false;
    }
    return store(to_jacobian(x), out);
}

// The bytes of a point in a file.
template <class F>
bool decode(const uint8_t* bytes, uint64_t* out) {
    Affine<F> raw, point;
    std::memcpy(&raw, bytes, sizeof raw);
    const bool good = decode_point(raw, &point);
    store(point, out);
    return good;
}

}  // namespace

extern "C" {

bool msm_host_fp(int32_t operation, int32_t lift, const uint64_t* a, const uint64_t* b, uint64_t* out) {
    return field_lifted<Fp>(operation, lift, a, b, out);
}
bool msm_host_fp2(int32_t operation, int32_t lift, const uint64_t* a, const uint64_t* b, uint64_t* out) {
    return field_lifted<Fp2>(operation, lift, a, b, out);
}
bool msm_host_g1(int32_t operation, const uint64_t* a, const uint64_t* b, uint64_t* out) {
    return point<Fp>(operation, a, b, out);
}
bool msm_host_g2(int32_t operation, const uint64_t* a, const uint64_t* b, uint64_t* out) {
    return point<Fp2>(operation, a, b, out);
}
bool msm_host_decode_g1(const uint8_t* bytes, uint64_t* out) { return decode<Fp>(bytes, out); }
bool msm_host_decode_g2(const uint8_t* bytes, uint64_t* out) { return decode<Fp2>(bytes, out); }
}
