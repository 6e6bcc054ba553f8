#pragma once
// G2: points of y² = x³ + 4 (1 + u) over Fp2, 192 bytes affine.
#include "curve.cuh"

namespace bls12_381 {

using G2Affine = Affine<Fp2>;
using G2Xyzz = Xyzz<Fp2>;
using G2Jacobian = Jacobian<Fp2>;
static_assert(sizeof(G2Affine) == 192 && sizeof(G2Jacobian) == 288, "blst's layout");

}  // namespace bls12_381
