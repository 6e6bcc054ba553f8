#pragma once
// One spelling for code that runs on the device and on the host.
//
// Plain arithmetic in these headers compiles three ways: by nvcc for the device, by nvcc for the host, and by an
// ordinary C++17 compiler that knows nothing of CUDA. The last is how it is property-tested where there is no GPU.
#include <cstdint>

#if defined(__CUDACC__)
#define GPU_HD __host__ __device__ __forceinline__
#define GPU_UNROLL _Pragma("unroll")
#else
#define GPU_HD inline
#define GPU_UNROLL
#endif
