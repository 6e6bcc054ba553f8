#pragma once
// How a CUDA entry point answers Rust: a code, CUDA's message and the call that failed. Nothing throws over the boundary.
#include <cuda_runtime.h>

#include <cstdint>

/// Mirrored by `gpu::Status`. Both strings are static; both are null on success.
struct gpu_status {
    int32_t code;
    const char* call;
    const char* message;
};

inline gpu_status gpu_ok() { return gpu_status{0, nullptr, nullptr}; }

inline gpu_status gpu_failed(cudaError_t error, const char* call) {
    cudaGetLastError();  // so that the next call does not report this error again
    return gpu_status{static_cast<int32_t>(error), call, cudaGetErrorString(error)};
}

/// Returns from the entry point when a CUDA call fails.
#define GPU_TRY(expression)                                                        \
    do {                                                                           \
        const cudaError_t gpu_try_error = (expression);                            \
        if (gpu_try_error != cudaSuccess) return gpu_failed(gpu_try_error, #expression); \
    } while (0)

/// Returns from the entry point when a call that itself answers a status fails.
#define GPU_TRY_STATUS(expression)                        \
    do {                                                  \
        const gpu_status gpu_try_status = (expression);   \
        if (gpu_try_status.code != 0) return gpu_try_status; \
    } while (0)

/// Returns when the launch just made was refused. `name` is the kernel's.
#define GPU_TRY_LAUNCH(name)                                                        \
    do {                                                                            \
        const cudaError_t gpu_try_error = cudaGetLastError();                       \
        if (gpu_try_error != cudaSuccess) return gpu_failed(gpu_try_error, "launch of " name); \
    } while (0)
