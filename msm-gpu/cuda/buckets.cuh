#pragma once
// From scalars to points sorted by bucket: the interface of buckets.cu.
#include "status.cuh"
#include "windows.cuh"

namespace msm {

/// Points sorted by bucket: bucket b of the group holds values[start[b]] .. values[start[b] + length[b] - 1], in any order, and
/// the buckets follow one another.
struct Sorted {
    const uint32_t* values;
    uint32_t longest;  // length of the longest bucket
    uint32_t heavy;    // how many buckets are on the heavy list
};

/// Buckets this long are planned by many blocks.
constexpr uint32_t HEAVY = 8192;

/// Counters of a workspace, of which the sort uses two: how many buckets are heavy, and the length of the longest.
constexpr uint32_t COUNTERS = 128, HEAVY_COUNTER = 64, LONGEST_COUNTER = 65;

/// Device buffers of the sort, for E = scalars times windows of a group and B its buckets.
struct SortBuffers {
    uint32_t* values;            // E: digits, then the sorted points
    uint32_t* start;             // B
    uint32_t* length;            // B
    uint32_t* heavy;             // E / HEAVY + 1
    uint32_t* partition_start;   // 2^MAX_PARTITIONS_LOG for each window, and one more
    uint32_t* partition_next;    // as many
    uint32_t* counters;          // COUNTERS
    // E of each, free again when the sort is done.
    uint32_t* partitioned;
    uint16_t* low_bits;
};

/// Fills start, length and heavy, and clears the other counters. Waits for the stream once, to learn the longest bucket.
gpu_status sort_into_buckets(const Windows& windows, const Group& group, const Scalars& scalars,
                             const SortBuffers& buffers, cudaStream_t stream, Sorted* sorted);

}  // namespace msm
