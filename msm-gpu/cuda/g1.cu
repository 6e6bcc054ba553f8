// Entry points of G1.
#include "entry.cuh"
#include "g1.cuh"

MSM_ENTRY_POINTS(bls12_381::Fp, g1)
