// The table of twiddles, and the bit-reversal permutation.
#include "fr_factor.cuh"
#include "status.cuh"

/// table[2^k + j] = table[j]·step, for j < 2^k.
static __global__ void ntt_double_kernel(FrFactor* table, uint32_t half, const __grid_constant__ Fr step) {
    const uint32_t j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < half) table[half + j] = FrFactor::of(table[j] * step);
}

static __global__ void ntt_set_kernel(FrFactor* entry, const __grid_constant__ Fr w) { *entry = FrFactor::of(w); }

/// table[j] = g^rev(j) for j < 2^log_size, then -1, then g^rev(h·2^log_size) for 0 < h < 2^(count - log_size); steps[k] = g^rev(2^k),
/// in host memory.
extern "C" gpu_status ntt_fill_table(void* table_pointer, uint32_t log_size, const Fr* steps, uint32_t count, void* stream_pointer) {
    const cudaStream_t stream = static_cast<cudaStream_t>(stream_pointer);
    FrFactor* table = static_cast<FrFactor*>(table_pointer);
    // The factors behind are a table of their own, whose first entry, 1, then makes room for -1.
    FrFactor* beyond = table + (1ull << log_size);
    for (FrFactor* part : {table, beyond}) {
        ntt_set_kernel<<<1, 1, 0, stream>>>(part, Fr::one());
        GPU_TRY_LAUNCH("ntt_set_kernel");
    }
    for (uint32_t k = 0; k < count; k++) {
        FrFactor* part = k < log_size ? table : beyond;
        const uint32_t half = 1u << (k < log_size ? k : k - log_size), threads = 256;
        ntt_double_kernel<<<(half + threads - 1) / threads, threads, 0, stream>>>(part, half, steps[k]);
        GPU_TRY_LAUNCH("ntt_double_kernel");
    }
    ntt_set_kernel<<<1, 1, 0, stream>>>(beyond, Fr::neg(Fr::one()));
    GPU_TRY_LAUNCH("ntt_set_kernel");
    return gpu_ok();
}

static __device__ __forceinline__ uint32_t reverse(uint32_t i, uint32_t bits) { return bits == 0 ? 0 : __brev(i) >> (32 - bits); }

/// log2 of the side of a square tile.
constexpr uint32_t SIDE = 4;

/// A position is (high SIDE bits, middle, low SIDE bits); reversed, each part is reversed and the outer two change places. So
/// the squares of `middle` and of its reverse change places, transposed; one thread block moves both.
static __global__ void __launch_bounds__(1 << (2 * SIDE)) ntt_reverse_kernel(Fr* data, uint32_t log_size) {
    __shared__ Fr first[1 << SIDE][(1 << SIDE) + 1];
    __shared__ Fr second[1 << SIDE][(1 << SIDE) + 1];
    const uint32_t middle_bits = log_size - 2 * SIDE;
    const uint32_t middle = blockIdx.x, mirror = reverse(middle, middle_bits);
    if (middle > mirror) return;
    const uint32_t row = threadIdx.x >> SIDE, column = threadIdx.x & ((1 << SIDE) - 1);
    const uint32_t outer = (row << (log_size - SIDE)) + column;
    const uint32_t here = outer + (middle << SIDE), there = outer + (mirror << SIDE);
    const Fr a = data[here];
    const Fr b = middle == mirror ? a : data[there];
    first[reverse(column, SIDE)][reverse(row, SIDE)] = a;
    second[reverse(column, SIDE)][reverse(row, SIDE)] = b;
    __syncthreads();
    data[there] = first[row][column];
    if (middle != mirror) data[here] = second[row][column];
}

static __global__ void ntt_reverse_small_kernel(Fr* data, uint32_t log_size) {
    const uint32_t i = threadIdx.x, j = reverse(i, log_size);
    if (i >= j) return;
    const Fr a = data[i];
    data[i] = data[j];
    data[j] = a;
}

/// Element i and the element at the position of i's reversed bits change places.
extern "C" gpu_status ntt_reverse(void* data_pointer, uint32_t log_size, void* stream_pointer) {
    const cudaStream_t stream = static_cast<cudaStream_t>(stream_pointer);
    Fr* data = static_cast<Fr*>(data_pointer);
    if (log_size < 2 * SIDE) {
        ntt_reverse_small_kernel<<<1, 1u << log_size, 0, stream>>>(data, log_size);
        GPU_TRY_LAUNCH("ntt_reverse_small_kernel");
    } else {
        ntt_reverse_kernel<<<1u << (log_size - 2 * SIDE), 1u << (2 * SIDE), 0, stream>>>(data, log_size);
        GPU_TRY_LAUNCH("ntt_reverse_kernel");
    }
    return gpu_ok();
}
