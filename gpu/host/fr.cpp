// The Fr header compiled by an ordinary C++ compiler, for the tests that compare it with blstrs.
#include "../cuda/fr_factor.cuh"
#include "../cuda/selftest.cuh"

extern "C" {

/// operation: 0 a + b, 1 a - b, 2 a·b (a below r, b any), 3 -a, 4 to canonical, 5 from canonical (any),
/// 6 reduce (a below 2r), 7 a - b + r unreduced, 8 a + b unreduced, 9 a·b and 10 a·b or a·b + r with a as a
/// known factor (b below 2r). Anything else answers false.
bool gpu_host_fr(int32_t operation, const Fr* a, const Fr* b, Fr* out) {
    switch (operation) {
        case 0: *out = *a + *b; return true;
        case 1: *out = *a - *b; return true;
        case 2: *out = Fr::mul(*a, *b); return true;
        case 3: *out = Fr::neg(*a); return true;
        case 4: *out = Fr::to_canonical(*a); return true;
        case 5: *out = Fr::from_canonical(*a); return true;
        case 6: *out = Fr::reduce(*a); return true;
        case 7: *out = Fr::sub_lazy(*a, *b); return true;
        case 8: *out = Fr::add_lazy(*a, *b); return true;
        case 9: *out = FrFactor::of(*a) * *b; return true;
        case 10: *out = FrFactor::mul_lazy(FrFactor::of(*a), *b); return true;
        default: return false;
    }
}

void gpu_host_fr_pow(const Fr* a, uint64_t exponent, Fr* out) { *out = Fr::pow(*a, exponent); }

void gpu_host_selftest_fr(Fr* out) { *out = selftest_chain<Fr>(); }
}
