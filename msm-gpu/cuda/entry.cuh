#pragma once
// The entry points of one group: g1.cu and g2.cu name the field and the suffix. Signatures are mirrored by the crate's `ffi`.
#include "decode.cuh"
#include "fixed_base.cuh"
#include "sum.cuh"

namespace msm {

/// Mirrored by `ffi::Space`: addresses of device buffers, whose sizes the Rust side plans.
struct Space {
    void* slots;
    uint32_t ping, pong;
    uint32_t *first, *second, *target;
    uint32_t* counters;
    uint32_t *heavy, *heavy_base;
    uint32_t *start, *length, *last;
    uint32_t *partition_start, *partition_next;
    void* scratch;
    uint32_t blocks, max_per_lane;

    template <class F>
    Workspace<F> workspace() const {
        return Workspace<F>{static_cast<Affine<F>*>(slots), ping, pong, Descriptors{first, second, target}, counters, heavy_base,
                            static_cast<uint4*>(scratch), blocks, max_per_lane};
    }
    /// The sort of `entries` points works in the first region of slots, which level 0 fills once it is done.
    template <class F>
    SortBuffers sort_buffers(uint64_t entries) const {
        uint32_t* const partitioned = reinterpret_cast<uint32_t*>(static_cast<Affine<F>*>(slots) + ping);
        uint16_t* const low_bits = reinterpret_cast<uint16_t*>(partitioned + entries);
        return SortBuffers{Descriptors{first, second, target}, start, length, last, heavy, partition_start, partition_next, counters,
                           partitioned, low_bits};
    }
};

template <class F>
gpu_status accumulate_pass(const Space& space, const Windows& windows, uint32_t first, uint32_t count,
                           const Scalars& scalars, const void* bases, uint32_t bucket_slot, cudaStream_t stream) {
    const Group group = group_of(windows, first, count, scalars.count);
    const SortBuffers buffers = space.sort_buffers<F>(static_cast<uint64_t>(scalars.count) * count);
    const Regions regions{space.ping, bucket_slot};
    Sorted sorted;
    GPU_TRY_STATUS(sort_into_buckets(windows, group, scalars, regions, buffers, stream, &sorted));
    return accumulate<F>(space.workspace<F>(), buffers, group, sorted, regions, static_cast<const Affine<F>*>(bases), stream);
}

}  // namespace msm

#define MSM_ENTRY_POINTS(F, group)                                                                                            \
    extern "C" {                                                                                                              \
    /* Threads of a block, blocks of a multiprocessor, and bytes of a coordinate. */                                          \
    gpu_status msm_shape_##group(uint32_t* threads, uint32_t* blocks, uint32_t* coordinate_bytes) {                           \
        *threads = msm::BatchShape<F>::THREADS;                                                                               \
        *blocks = msm::BatchShape<F>::BLOCKS;                                                                                 \
        *coordinate_bytes = sizeof(F);                                                                                        \
        return gpu_ok();                                                                                                      \
    }                                                                                                                         \
    /* Sums the points of each bucket of windows first .. first + count into the bucket array at bucket_slot. */              \
    gpu_status msm_accumulate_##group(const msm::Space* space, const msm::Windows* windows, uint32_t first, uint32_t count,   \
                                      const msm::Scalars* scalars, const void* bases, uint32_t bucket_slot, void* stream) {   \
        return msm::accumulate_pass<F>(*space, *windows, first, count, *scalars, bases, bucket_slot,                          \
                                       static_cast<cudaStream_t>(stream));                                                    \
    }                                                                                                                         \
    gpu_status msm_merge_##group(const msm::Space* space, uint32_t into, uint32_t from, uint32_t count, void* stream) {       \
        return msm::merge_buckets<F>(space->workspace<F>(), into, from, count, static_cast<cudaStream_t>(stream));            \
    }                                                                                                                         \
    gpu_status msm_reduce_##group(const msm::Space* space, const msm::Windows* windows, uint32_t bucket_slot, void* sums,     \
                                  void* stream) {                                                                             \
        return msm::reduce_buckets<F>(space->workspace<F>(), *windows, bucket_slot,                                           \
                                      static_cast<msm::Jacobian<F>*>(sums), static_cast<cudaStream_t>(stream));               \
    }                                                                                                                         \
    gpu_status msm_sum_##group(const msm::Space* space, const void* bases, const uint32_t* list, uint32_t count, void* sums,  \
                               void* stream) {                                                                                \
        return msm::sum_list<F>(space->workspace<F>(), static_cast<const msm::Affine<F>*>(bases), list, count,                \
                                static_cast<msm::Jacobian<F>*>(sums), static_cast<cudaStream_t>(stream));                     \
    }                                                                                                                         \
    gpu_status msm_table_##group(const msm::Space* space, const msm::Windows* windows, const void* powers, void* table,       \
                                 void* stream) {                                                                              \
        return msm::build_table<F>(space->workspace<F>(), *windows, static_cast<const msm::Affine<F>*>(powers),               \
                                   static_cast<msm::Affine<F>*>(table), static_cast<cudaStream_t>(stream));                   \
    }                                                                                                                         \
    gpu_status msm_multiply_##group(const msm::Space* space, const msm::Windows* windows, const void* table,                  \
                                    const uint32_t* scalars, uint32_t montgomery, uint32_t count, void* out, void* stream) {  \
        return msm::multiply_fixed<F>(space->workspace<F>(), *windows, static_cast<const msm::Affine<F>*>(table), scalars,    \
                                      montgomery, count, static_cast<msm::Affine<F>*>(out),                                   \
                                      static_cast<cudaStream_t>(stream));                                                     \
    }                                                                                                                         \
    /* Points of a file to points, in place; bad becomes the least index of a bad one, where that is less. */                 \
    gpu_status msm_decode_##group(void* points, uint32_t count, uint32_t index, uint32_t* bad, void* stream) {                \
        return msm::decode_points<F>(static_cast<msm::Affine<F>*>(points), count, index, bad,                                 \
                                     static_cast<cudaStream_t>(stream));                                                      \
    }                                                                                                                         \
    }
