// The vectors of a setup that are neither transforms nor products of matrices.
#include "fr.cuh"
#include "status.cuh"

constexpr uint32_t THREADS = 256;

static uint32_t blocks_for(uint64_t count) { return uint32_t((count + THREADS - 1) / THREADS); }

/// Thread t writes t, t + stride, …, so that neighbours write neighbours.
static __global__ void groth16_powers_kernel(Fr* out, const __grid_constant__ Fr base, const __grid_constant__ Fr step,
                                             const __grid_constant__ Fr scale, uint64_t count) {
    const uint64_t stride = uint64_t(gridDim.x) * THREADS;
    uint64_t i = uint64_t(blockIdx.x) * THREADS + threadIdx.x;
    Fr power = scale * Fr::pow(base, i);
    for (; i < count; i += stride) {
        out[i] = power;
        power = power * step;
    }
}

static __global__ void groth16_combine_kernel(const Fr* a, const Fr* b, const Fr* c, Fr* out, uint64_t count,
                                              const __grid_constant__ Fr of_a, const __grid_constant__ Fr of_b,
                                              const __grid_constant__ Fr scale) {
    const uint64_t i = uint64_t(blockIdx.x) * THREADS + threadIdx.x;
    if (i < count) out[i] = scale * (of_a * a[i] + of_b * b[i] + c[i]);
}

static __global__ void groth16_gather_kernel(const Fr* from, const uint64_t* density, const uint32_t* rank, Fr* out,
                                             uint64_t count) {
    const uint64_t i = uint64_t(blockIdx.x) * THREADS + threadIdx.x;
    if (i >= count) return;
    const uint64_t word = density[i >> 6], below = (uint64_t(1) << (i & 63)) - 1;
    if ((word >> (i & 63)) & 1) out[rank[i >> 6] + __popcll(word & below)] = from[i];
}

static __global__ void groth16_find_zero_kernel(const Fr* values, uint64_t count, uint32_t* first) {
    const uint64_t i = uint64_t(blockIdx.x) * THREADS + threadIdx.x;
    if (i < count && values[i].is_zero()) atomicMin(first, uint32_t(i));
}

extern "C" {

/// out[i] = scale·base^i for i < count.
gpu_status groth16_powers(void* out, const Fr* base, const Fr* scale, uint64_t count, void* stream) {
    if (count == 0) return gpu_ok();
    const uint32_t blocks = min(blocks_for(count), 1024u);
    const Fr step = Fr::pow(*base, uint64_t(blocks) * THREADS);
    groth16_powers_kernel<<<blocks, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(static_cast<Fr*>(out), *base, step, *scale,
                                                                                      count);
    GPU_TRY_LAUNCH("groth16_powers_kernel");
    return gpu_ok();
}

/// out[i] = scale·(of_a·a[i] + of_b·b[i] + c[i]) for i < count.
gpu_status groth16_combine(const void* a, const void* b, const void* c, void* out, uint64_t count, const Fr* of_a, const Fr* of_b,
                           const Fr* scale, void* stream) {
    if (count == 0) return gpu_ok();
    groth16_combine_kernel<<<blocks_for(count), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const Fr*>(a), static_cast<const Fr*>(b), static_cast<const Fr*>(c), static_cast<Fr*>(out), count, *of_a,
        *of_b, *scale);
    GPU_TRY_LAUNCH("groth16_combine_kernel");
    return gpu_ok();
}

/// The elements i for which bit i < count of the density is set, close together; `rank` has the number of set bits before each word.
gpu_status groth16_gather(const void* from, const void* density, const void* rank, void* out, uint64_t count, void* stream) {
    if (count == 0) return gpu_ok();
    groth16_gather_kernel<<<blocks_for(count), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const Fr*>(from), static_cast<const uint64_t*>(density), static_cast<const uint32_t*>(rank),
        static_cast<Fr*>(out), count);
    GPU_TRY_LAUNCH("groth16_gather_kernel");
    return gpu_ok();
}

/// Lowers `first` to the index of the first zero.
gpu_status groth16_find_zero(const void* values, uint64_t count, void* first, void* stream) {
    if (count == 0) return gpu_ok();
    groth16_find_zero_kernel<<<blocks_for(count), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const Fr*>(values), count, static_cast<uint32_t*>(first));
    GPU_TRY_LAUNCH("groth16_find_zero_kernel");
    return gpu_ok();
}

}  // extern "C"
