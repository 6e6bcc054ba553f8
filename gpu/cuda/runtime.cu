// The part of the CUDA runtime that the Rust side uses, one thin entry point each.
#include "status.cuh"

#include <cstring>

extern "C" {

/// Mirrored by `ffi::RawDeviceInfo`.
struct gpu_device_info {
    char name[256];
    int32_t major;
    int32_t minor;
    int32_t multiprocessors;
    int32_t memory_pools;
    uint64_t memory_bytes;
    uint64_t l2_bytes;
};

gpu_status gpu_device_count(int32_t* count) {
    GPU_TRY(cudaGetDeviceCount(count));
    return gpu_ok();
}

gpu_status gpu_device_describe(int32_t ordinal, gpu_device_info* info) {
    cudaDeviceProp properties;
    GPU_TRY(cudaGetDeviceProperties(&properties, ordinal));
    static_assert(sizeof(properties.name) == sizeof(info->name), "the name buffers differ");
    memcpy(info->name, properties.name, sizeof(info->name));
    info->name[sizeof(info->name) - 1] = 0;
    info->major = properties.major;
    info->minor = properties.minor;
    info->multiprocessors = properties.multiProcessorCount;
    info->memory_pools = properties.memoryPoolsSupported;
    info->memory_bytes = properties.totalGlobalMem;
    info->l2_bytes = properties.l2CacheSize;
    return gpu_ok();
}

gpu_status gpu_device_select(int32_t ordinal) {
    GPU_TRY(cudaSetDevice(ordinal));
    return gpu_ok();
}

gpu_status gpu_device_current(int32_t* ordinal) {
    GPU_TRY(cudaGetDevice(ordinal));
    return gpu_ok();
}

/// Destroys the context of the selected device: all its streams, events and memory.
gpu_status gpu_device_reset() {
    GPU_TRY(cudaDeviceReset());
    return gpu_ok();
}

gpu_status gpu_device_memory(uint64_t* free_bytes, uint64_t* total_bytes) {
    size_t free_size = 0, total_size = 0;
    GPU_TRY(cudaMemGetInfo(&free_size, &total_size));
    *free_bytes = free_size;
    *total_bytes = total_size;
    return gpu_ok();
}

gpu_status gpu_device_synchronize() {
    GPU_TRY(cudaDeviceSynchronize());
    return gpu_ok();
}

gpu_status gpu_stream_create(void** stream) {
    cudaStream_t created;
    GPU_TRY(cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking));
    *stream = created;
    return gpu_ok();
}

gpu_status gpu_stream_destroy(void* stream) {
    GPU_TRY(cudaStreamDestroy(static_cast<cudaStream_t>(stream)));
    return gpu_ok();
}

gpu_status gpu_stream_synchronize(void* stream) {
    GPU_TRY(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
    return gpu_ok();
}

gpu_status gpu_stream_wait(void* stream, void* event) {
    GPU_TRY(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), static_cast<cudaEvent_t>(event), 0));
    return gpu_ok();
}

gpu_status gpu_event_create(bool timing, void** event) {
    cudaEvent_t created;
    GPU_TRY(cudaEventCreateWithFlags(&created, timing ? cudaEventDefault : cudaEventDisableTiming));
    *event = created;
    return gpu_ok();
}

gpu_status gpu_event_destroy(void* event) {
    GPU_TRY(cudaEventDestroy(static_cast<cudaEvent_t>(event)));
    return gpu_ok();
}

gpu_status gpu_event_record(void* event, void* stream) {
    GPU_TRY(cudaEventRecord(static_cast<cudaEvent_t>(event), static_cast<cudaStream_t>(stream)));
    return gpu_ok();
}

gpu_status gpu_event_synchronize(void* event) {
    GPU_TRY(cudaEventSynchronize(static_cast<cudaEvent_t>(event)));
    return gpu_ok();
}

gpu_status gpu_event_elapsed(void* start, void* end, float* milliseconds) {
    GPU_TRY(cudaEventElapsedTime(milliseconds, static_cast<cudaEvent_t>(start), static_cast<cudaEvent_t>(end)));
    return gpu_ok();
}

gpu_status gpu_pool_create(int32_t ordinal, void** pool) {
    cudaMemPoolProps properties;
    memset(&properties, 0, sizeof(properties));
    properties.allocType = cudaMemAllocationTypePinned;
    properties.handleTypes = cudaMemHandleTypeNone;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = ordinal;
    cudaMemPool_t created;
    GPU_TRY(cudaMemPoolCreate(&created, &properties));
    // Freed memory stays with the pool: handing it back to the driver and asking again costs milliseconds.
    uint64_t threshold = UINT64_MAX;
    const cudaError_t error = cudaMemPoolSetAttribute(created, cudaMemPoolAttrReleaseThreshold, &threshold);
    if (error != cudaSuccess) {
        cudaMemPoolDestroy(created);
        return gpu_failed(error, "cudaMemPoolSetAttribute(cudaMemPoolAttrReleaseThreshold)");
    }
    *pool = created;
    return gpu_ok();
}

gpu_status gpu_pool_destroy(void* pool) {
    GPU_TRY(cudaMemPoolDestroy(static_cast<cudaMemPool_t>(pool)));
    return gpu_ok();
}

gpu_status gpu_pool_trim(void* pool, uint64_t keep_bytes) {
    GPU_TRY(cudaMemPoolTrimTo(static_cast<cudaMemPool_t>(pool), keep_bytes));
    return gpu_ok();
}

gpu_status gpu_allocate(void* pool, void* stream, uint64_t bytes, void** pointer) {
    GPU_TRY(cudaMallocFromPoolAsync(pointer, bytes, static_cast<cudaMemPool_t>(pool), static_cast<cudaStream_t>(stream)));
    return gpu_ok();
}

gpu_status gpu_free(void* pointer, void* stream) {
    GPU_TRY(cudaFreeAsync(pointer, static_cast<cudaStream_t>(stream)));
    return gpu_ok();
}

gpu_status gpu_fill(void* pointer, uint8_t byte, uint64_t bytes, void* stream) {
    GPU_TRY(cudaMemsetAsync(pointer, byte, bytes, static_cast<cudaStream_t>(stream)));
    return gpu_ok();
}

gpu_status gpu_copy(void* to, const void* from, uint64_t bytes, void* stream) {
    GPU_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, static_cast<cudaStream_t>(stream)));
    return gpu_ok();
}

gpu_status gpu_host_register(void* pointer, uint64_t bytes) {
    GPU_TRY(cudaHostRegister(pointer, bytes, cudaHostRegisterPortable));
    return gpu_ok();
}

gpu_status gpu_host_unregister(void* pointer) {
    GPU_TRY(cudaHostUnregister(pointer));
    return gpu_ok();
}

}  // extern "C"
