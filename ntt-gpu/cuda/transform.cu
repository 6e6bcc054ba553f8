// Entry points: one pass of a transform, and transforms too small for a pass.
#include "pass.cuh"
#include "status.cuh"

template <bool BOTTOM_UP, bool INVERSE, bool FROM_ZERO, bool WHOLE>
static gpu_status launch(const ntt_pass& pass, cudaStream_t stream) {
    const uint32_t threads = 1u << pass.log_threads;
    const size_t shared_bytes = 8 * sizeof(Fr) * threads;
    const auto kernel = ntt_pass_kernel<BOTTOM_UP, INVERSE, FROM_ZERO, WHOLE>;
    // More would need an attribute of the kernel, which is the same for all threads that launch it.
    static_assert(8 * sizeof(Fr) * PASS_MAX_THREADS <= 48 << 10);
    kernel<<<static_cast<uint32_t>(pass.tiles), threads, shared_bytes, stream>>>(pass);
    GPU_TRY_LAUNCH("ntt_pass_kernel");
    return gpu_ok();
}

template <bool BOTTOM_UP, bool INVERSE>
static gpu_status choose(const ntt_pass& pass, cudaStream_t stream) {
    const bool from_zero = pass.above == 0 && pass.coset == 0;
    // The last layer of the pass has the blocks below 2^(above + layers - 1) on the domain, and as many behind them on the coset.
    const bool whole = pass.above + pass.layers + pass.coset <= pass.log_table + 1;
    if (whole) {
        return from_zero ? launch<BOTTOM_UP, INVERSE, true, true>(pass, stream) : launch<BOTTOM_UP, INVERSE, false, true>(pass, stream);
    }
    return from_zero ? launch<BOTTOM_UP, INVERSE, true, false>(pass, stream) : launch<BOTTOM_UP, INVERSE, false, false>(pass, stream);
}

/// Runs one pass. `pass->log_size >= 3`, `3 <= pass->layers <= 9`, `layers - 3 <= log_threads <= log_size - 3`.
extern "C" gpu_status ntt_run_pass(const ntt_pass* pass, void* stream_pointer) {
    const cudaStream_t stream = static_cast<cudaStream_t>(stream_pointer);
    if (pass->bottom_up) return pass->inverse ? choose<true, true>(*pass, stream) : choose<true, false>(*pass, stream);
    return pass->inverse ? choose<false, true>(*pass, stream) : choose<false, false>(*pass, stream);
}

/// At most four elements, by one thread.
template <bool INVERSE>
static __global__ void ntt_tiny_kernel(const __grid_constant__ ntt_pass pass) {
    Fr x[4];
    const uint32_t size = 1u << pass.log_size;
    const Table<false> table = pass_table(pass);
    for (uint32_t i = 0; i < size; i++) x[i] = pass_load(pass, i);
    for (uint32_t step = 0; step < pass.log_size; step++) {
        const uint32_t layer = pass.bottom_up ? pass.log_size - 1 - step : step;
        const uint32_t half = size >> (layer + 1);
        for (uint32_t block = 0; block < (1u << layer); block++) {
            const Twiddle<false> z = table.get<INVERSE>((pass.coset << layer) + block);
            for (uint32_t i = 0; i < half; i++) {
                Fr &u = x[2 * half * block + i], &v = x[2 * half * block + half + i];
                if (pass.bottom_up) join<INVERSE, Code::CALLED>(u, v, z);
                else split<INVERSE, Code::CALLED, Next::ADDED>(u, v, z);
            }
        }
    }
    for (uint32_t i = 0; i < size; i++) pass_store(pass, i, x[i]);
}

/// A whole transform of size 1, 2 or 4.
extern "C" gpu_status ntt_run_tiny(const ntt_pass* pass, void* stream_pointer) {
    const cudaStream_t stream = static_cast<cudaStream_t>(stream_pointer);
    if (pass->inverse) ntt_tiny_kernel<true><<<1, 1, 0, stream>>>(*pass);
    else ntt_tiny_kernel<false><<<1, 1, 0, stream>>>(*pass);
    GPU_TRY_LAUNCH("ntt_tiny_kernel");
    return gpu_ok();
}
