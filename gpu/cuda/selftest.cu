// Runs the known-answer chains on the device, and for tests a kernel that fails.
#include "selftest.cuh"
#include "status.cuh"

static __global__ void selftest_fr(Fr* answer) { *answer = selftest_chain<Fr>(); }

/// Writes the answer of the Fr chain to `answer`, 32 bytes of host memory.
extern "C" gpu_status gpu_selftest_fr(void* device_scratch, void* stream_pointer, uint32_t* answer) {
    const cudaStream_t stream = static_cast<cudaStream_t>(stream_pointer);
    selftest_fr<<<1, 1, 0, stream>>>(static_cast<Fr*>(device_scratch));
    GPU_TRY_LAUNCH("selftest_fr");
    GPU_TRY(cudaMemcpyAsync(answer, device_scratch, sizeof(Fr), cudaMemcpyDeviceToHost, stream));
    GPU_TRY(cudaStreamSynchronize(stream));
    return gpu_ok();
}

static __global__ void selftest_trap() { asm("trap;"); }

/// Queues a kernel that ends in a trap, which takes the device from this process.
extern "C" gpu_status gpu_selftest_trap(void* stream_pointer) {
    selftest_trap<<<1, 1, 0, static_cast<cudaStream_t>(stream_pointer)>>>();
    GPU_TRY_LAUNCH("selftest_trap");
    return gpu_ok();
}
