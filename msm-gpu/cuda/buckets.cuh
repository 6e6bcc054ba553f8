#pragma once
// From scalars to points by bucket, in pairs: the interface of buckets.cu.
#include "status.cuh"
#include "windows.cuh"

namespace msm {

/// Additions: the points at `first` and `second`, with the sign of each, into the slot `target`.
struct Descriptors {
    uint32_t* first;
    uint32_t* second;
    uint32_t* target;
};

/// Where the tree of a pass puts what it adds; see tree.cuh.
struct Regions {
    uint32_t tree;     // first slot of the tree's region
    uint32_t buckets;  // first slot of the pass's bucket array

    /// The first slot of bucket `bucket`, whose points come at `start` when the points of all buckets are put one after another.
    __device__ __forceinline__ uint32_t slot(uint32_t start, uint32_t bucket) const { return tree + ((start + bucket) >> 1); }
};

/// What the host has to know of the buckets.
struct Sorted {
    uint32_t longest;  // points of the longest bucket
    uint32_t heavy;    // how many buckets are on the heavy list
};

/// Buckets this long are planned by many blocks. The plans of the Rust side know it, and COUNTERS.
constexpr uint32_t HEAVY = 8192;

/// Counters of a workspace, of which the sort uses three: the additions of level 0, how many buckets are heavy, and the length of the
/// longest.
constexpr uint32_t COUNTERS = 128, HEAVY_COUNTER = 64, LONGEST_COUNTER = 65;

/// Device buffers of the sort, for E = scalars times windows of a group and B its buckets.
struct SortBuffers {
    Descriptors work;            // E / 2 of each at least; `second` follows `first`, and both together hold the E digits before
    uint32_t* start;             // B
    uint32_t* length;            // B
    uint32_t* last;              // B
    uint32_t* heavy;             // E / HEAVY + 1
    uint32_t* partition_start;   // 2^MAX_PARTITIONS_LOG for each window, and one more
    uint32_t* partition_next;    // as many
    uint32_t* counters;          // COUNTERS
    // E of each, free again when the sort is done.
    uint32_t* partitioned;
    uint16_t* low_bits;
};

/// Sorts the points of a group by bucket, and describes the additions of neighbours in a bucket: bucket b has length[b] points, before
/// which those of the buckets before come to start[b], and the last of an odd number of them, which has no neighbour, is last[b].
/// Clears all counters first; COUNTERS names those it leaves counts in. Waits for the stream once, to learn the longest bucket.
gpu_status sort_into_buckets(const Windows& windows, const Group& group, const Scalars& scalars, const Regions& regions,
                             const SortBuffers& buffers, cudaStream_t stream, Sorted* sorted);

}  // namespace msm
