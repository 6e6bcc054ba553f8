#pragma once
// Points of y² = x³ + b with a = 0, over any field F that has Fp's operations. The formulas do not use b.
//
// Affine points are blst's `blst_p1_affine` / `blst_p2_affine` in memory; infinity is all zero, which is on neither curve.
// Sums that cannot share an inversion use XYZZ coordinates: x = X/ZZ, y = Y/ZZZ, ZZ³ = ZZZ², infinity has ZZ = 0
// (https://hyperelliptic.org/EFD/g1p/auto-shortw-xyzz.html, madd-2008-s, add-2008-s, dbl-2008-s-1).
#include "fp2.cuh"

#if defined(__CUDACC__)
// Out of line: these are not on the hot path, and inlined they would multiply code size.
#define GPU_HD_CALL __host__ __device__ __noinline__
#else
#define GPU_HD_CALL inline
#endif

namespace bls12_381 {

template <class F>
struct Affine {
    F x, y;
};
template <class F>
struct Xyzz {
    F x, y, zz, zzz;
};
// blst's `blst_p1` / `blst_p2`: x = X/Z², y = Y/Z³, infinity has Z = 0.
template <class F>
struct Jacobian {
    F x, y, z;
};

template <class F>
GPU_HD bool is_infinity(const Affine<F>& p) {
    return is_zero_canonical(p.x) && is_zero_canonical(p.y);
}
template <class F>
GPU_HD F zero() {
    return zero_of(static_cast<const F*>(nullptr));
}
template <class F>
GPU_HD F one() {
    return one_of(static_cast<const F*>(nullptr));
}
template <class F>
GPU_HD Xyzz<F> xyzz_infinity() {
    return Xyzz<F>{zero<F>(), zero<F>(), zero<F>(), zero<F>()};
}

// Products out of line, for the XYZZ formulas: inlined a dozen times each they would take the compiler minutes, and gain nothing.
template <class F>
GPU_HD_CALL void multiply_to(F* r, const F* a, const F* b) {
    *r = mul(*a, *b);
}
template <class F>
GPU_HD F product(const F& a, const F& b) {
    F r;
    multiply_to(&r, &a, &b);
    return r;
}

// *p = 2 *p.
template <class F>
GPU_HD_CALL void double_in_place(Xyzz<F>* p) {
    F u = twice(p->y), v = product(u, u), w = product(u, v), s = product(p->x, v), xx = product(p->x, p->x);
    F m = add(xx, twice(xx));
    F x = sub(product(m, m), twice(s));
    p->y = sub(product(m, sub(s, x)), product(w, p->y));
    p->x = x;
    p->zz = product(v, p->zz);
    p->zzz = product(w, p->zzz);
}

// *a += *b, for any two points.
template <class F>
GPU_HD_CALL void add_in_place(Xyzz<F>* a, const Xyzz<F>* b) {
    if (is_zero(b->zz)) return;
    if (is_zero(a->zz)) {
        *a = *b;
        return;
    }
    F u1 = product(a->x, b->zz), s1 = product(a->y, b->zzz);
    F p = sub(product(b->x, a->zz), u1), r = sub(product(b->y, a->zzz), s1);
    if (is_zero(p)) {
        if (is_zero(r)) {
            double_in_place(a);
        } else {
            *a = xyzz_infinity<F>();
        }
        return;
    }
    F pp = product(p, p), ppp = product(p, pp), q = product(u1, pp);
    F x = sub(sub(product(r, r), ppp), twice(q));
    a->y = sub(product(r, sub(q, x)), product(s1, ppp));
    a->x = x;
    a->zz = product(product(a->zz, b->zz), pp);
    a->zzz = product(product(a->zzz, b->zzz), ppp);
}

// *a += *b for an affine b, for any two points.
template <class F>
GPU_HD_CALL void add_affine_in_place(Xyzz<F>* a, const Affine<F>* b) {
    if (is_infinity(*b)) return;
    if (is_zero(a->zz)) {
        *a = Xyzz<F>{b->x, b->y, one<F>(), one<F>()};
        return;
    }
    F p = sub(product(b->x, a->zz), a->x), r = sub(product(b->y, a->zzz), a->y);
    if (is_zero(p)) {
        if (is_zero(r)) {
            double_in_place(a);
        } else {
            *a = xyzz_infinity<F>();
        }
        return;
    }
    F pp = product(p, p), ppp = product(p, pp), q = product(a->x, pp);
    F x = sub(sub(product(r, r), ppp), twice(q));
    a->y = sub(product(r, sub(q, x)), product(a->y, ppp));
    a->x = x;
    a->zz = product(a->zz, pp);
    a->zzz = product(a->zzz, ppp);
}

// The same point as blst's Jacobian, canonical, with no inversion: Z = ZZZ makes X/ZZ = (X ZZ²)/Z² and
// Y/ZZZ = (Y ZZZ²)/Z³, since ZZ³ = ZZZ².
template <class F>
GPU_HD Jacobian<F> to_jacobian(const Xyzz<F>& p) {
    return Jacobian<F>{canonical(product(p.x, product(p.zz, p.zz))), canonical(product(p.y, product(p.zzz, p.zzz))), canonical(p.zzz)};
}

}  // namespace bls12_381
