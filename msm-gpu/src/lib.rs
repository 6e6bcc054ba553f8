//! Multi-scalar multiplication in BLS12-381 G1 and G2 over dense and packed scalars, on the CPU and on CUDA.
