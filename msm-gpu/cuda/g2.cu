// Entry points of G2.
#include "entry.cuh"
#include "g2.cuh"

MSM_ENTRY_POINTS(bls12_381::Fp2, g2)
