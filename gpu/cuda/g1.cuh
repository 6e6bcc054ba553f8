#pragma once
// G1: points of y² = x³ + 4 over Fp, 96 bytes affine.
#include "curve.cuh"

namespace bls12_381 {

using G1Affine = Affine<Fp>;
using G1Xyzz = Xyzz<Fp>;
using G1Jacobian = Jacobian<Fp>;
static_assert(sizeof(G1Affine) == 96 && sizeof(G1Jacobian) == 144, "blst's layout");

}  // namespace bls12_381
