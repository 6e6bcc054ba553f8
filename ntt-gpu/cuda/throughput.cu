// The rates of dependent Fr multiplications, which bound every transform.
#include "fr_factor.cuh"
#include "status.cuh"

template <typename Factor>
static __device__ Factor factor_of(const Fr& y);
template <>
__device__ Fr factor_of<Fr>(const Fr& y) { return y; }
template <>
__device__ FrFactor factor_of<FrFactor>(const Fr& y) { return FrFactor::of(y); }

/// `Factor` is Fr, or FrFactor for the multiplication by a known factor.
template <typename Factor>
static __global__ void __launch_bounds__(256, 4) fr_multiply_kernel(Fr* data, uint32_t steps) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    Fr x = data[i];
    const Factor y = factor_of<Factor>(x);
#pragma unroll 1
    for (uint32_t step = 0; step < steps; step++) x = y * x;
    data[i] = x;
}

/// Replaces each element y of `data` by y^(steps + 1), with y as a known factor or as any; the length is a multiple of 256.
extern "C" gpu_status ntt_multiply_chain(void* data, uint64_t length, uint32_t steps, bool known, void* stream_pointer) {
    const cudaStream_t stream = static_cast<cudaStream_t>(stream_pointer);
    const auto kernel = known ? fr_multiply_kernel<FrFactor> : fr_multiply_kernel<Fr>;
    kernel<<<static_cast<uint32_t>(length / 256), 256, 0, stream>>>(static_cast<Fr*>(data), steps);
    GPU_TRY_LAUNCH("fr_multiply_kernel");
    return gpu_ok();
}

static __global__ void ntt_products_kernel(Fr* data, const Fr* __restrict__ factors, uint32_t log_size, uint32_t low_bits) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >> log_size) return;
    const uint32_t low = 1u << low_bits;
    data[i] = factors[i & (low - 1)] * factors[low + (i >> low_bits)];
}

/// data[i] = factors[i mod 2^low_bits]·factors[2^low_bits + (i >> low_bits)]: as many dense elements as one likes from few
/// random ones, for measurements.
extern "C" gpu_status ntt_fill_products(void* data, const void* factors, uint32_t log_size, uint32_t low_bits,
                                        void* stream_pointer) {
    const cudaStream_t stream = static_cast<cudaStream_t>(stream_pointer);
    const uint32_t blocks = static_cast<uint32_t>(((1ull << log_size) + 255) / 256);
    ntt_products_kernel<<<blocks, 256, 0, stream>>>(static_cast<Fr*>(data), static_cast<const Fr*>(factors), log_size, low_bits);
    GPU_TRY_LAUNCH("ntt_products_kernel");
    return gpu_ok();
}
