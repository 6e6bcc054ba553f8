#pragma once
// From scalars to points sorted by bucket: the interface of buckets.cu.
#include "status.cuh"
#include "windows.cuh"

namespace msm {

/// Points sorted by bucket: bucket b of the group holds values[start[b]] .. values[start[b] + length[b] - 1].
struct Sorted {
    const uint32_t* values;
    uint32_t longest;  // length of the longest bucket
    uint32_t heavy;    // how many buckets are on the heavy list
};

/// Buckets this long are planned by many blocks.
constexpr uint32_t HEAVY = 8192;

/// Device buffers of the sort, for E = scalars times windows of a group and B its buckets.
struct SortBuffers {
    uint32_t* keys;          // E, and as many in each of the next three
    uint32_t* keys_other;
    uint32_t* values;
    uint32_t* values_other;
    uint32_t* start;     // B
    uint32_t* length;    // B
    uint32_t* heavy;     // E / HEAVY + 1
    uint32_t* counters;  // 64, of which this uses the last two
    void* temporary;
    uint64_t temporary_bytes;
};

/// Fills start, length and heavy. Waits for the stream once, to learn the longest bucket.
gpu_status sort_into_buckets(const Windows& windows, const Group& group, const Scalars& scalars,
                             const SortBuffers& buffers, cudaStream_t stream, Sorted* sorted);

}  // namespace msm
