// The windows of a group compiled by an ordinary C++ compiler, for the test that compares them with what plans count on.
#include "windows.cuh"

extern "C" uint32_t msm_host_line_points(const msm::Windows* windows) { return msm::line_points(*windows); }

/// For each window of the group: its first bucket, its first partition, the partition after its last, and the low bits of its buckets.
extern "C" void msm_host_group(const msm::Windows* windows, uint32_t first, uint32_t count, uint32_t n, uint32_t* out) {
    const msm::Group group = msm::group_of(*windows, first, count, n);
    for (uint32_t j = 0; j < count; j++) {
        out[4 * j] = group.bucket_offset[j];
        out[4 * j + 1] = group.partition_first[j];
        out[4 * j + 2] = group.partition_first[j + 1];
        out[4 * j + 3] = group.low_bits[j];
    }
}
