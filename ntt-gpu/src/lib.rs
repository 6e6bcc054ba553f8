//! Number-theoretic transforms over the BLS12-381 scalar field, on the CPU and on CUDA.
