#pragma once
// Signed windows of a scalar, and the buckets of a group of windows.
//
// A scalar above r/2 is replaced by r - s with its point negated, so 254 bits remain. Window j covers bits offset[j] to
// offset[j] + width[j] - 1; widths may differ by one and add up to 255. Adding `bias`, the sum of 2^(offset + width - 1) over all
// windows but the top one, makes every digit readable on its own: digit j = (window j of s + bias) - 2^(width - 1), from
// -2^(width-1) to 2^(width-1) - 1. The top digit has no bias: it is below 2^(width-1) + 1 and never negative. So each window has
// 2^(width-1) buckets; bucket k of a window holds the points of digit ±(k + 1).
#include <algorithm>
#include <cstdint>

#include "fr.cuh"

namespace msm {

constexpr int MAX_WINDOWS = 32;
constexpr uint32_t SIGN = 0x80000000u;  // of a point index: take the point's negation

/// Mirrored by `ffi::Windows`.
struct Windows {
    uint32_t count;
    uint32_t offset[MAX_WINDOWS];
    uint32_t width[MAX_WINDOWS];
    uint32_t bias[8];
};

/// (r - 1) / 2, the largest scalar that keeps its sign.
GPU_HD Fr half_of_order() {
    return Fr{{0x80000000u, 0x7fffffffu, 0x7fff2dffu, 0xa9ded201u, 0x04d0ec02u, 0x199cec04u, 0x94cebea4u, 0x39f6d3a9u}};
}

/// s, or r - s with *negated set, whichever is at most (r - 1) / 2; plus the bias.
GPU_HD Fr signed_scalar(Fr s, bool montgomery, const Windows& windows, bool* negated) {
    // A plain integer of 256 bits is below 3 r.
    s = montgomery ? Fr::to_canonical(s) : Fr::reduce(Fr::reduce(s));
    const Fr half = half_of_order();
    (void)carry::sub_cc(half.v[0], s.v[0]);
GPU_UNROLL
    for (int i = 1; i < 8; i++) (void)carry::subc_cc(half.v[i], s.v[i]);
    *negated = carry::subc(0, 0) != 0;
    if (*negated) s = Fr::neg(s);
    Fr biased;
    biased.v[0] = carry::add_cc(s.v[0], windows.bias[0]);
GPU_UNROLL
    for (int i = 1; i < 7; i++) biased.v[i] = carry::addc_cc(s.v[i], windows.bias[i]);
    biased.v[7] = carry::addc(s.v[7], windows.bias[7]);
    return biased;
}

/// A window's buckets as rows and columns, for the reduction: by halving, each row and each column becomes a line of 2^kept points at
/// most, whose sums by bit the last step makes.
struct Shape {
    uint32_t row_bits, column_bits, kept;
    GPU_HD uint32_t row_rounds() const { return column_bits > kept ? column_bits - kept : 0; }
    GPU_HD uint32_t column_rounds() const { return row_bits > kept ? row_bits - kept : 0; }
};
GPU_HD Shape shape_of(uint32_t width) {
    const uint32_t bits = width - 1, columns = (bits + 1) / 2, rows = bits - columns;
    return Shape{rows, columns, rows < 9 ? (rows > 7 ? 9 - rows : 2) : 0};
}

/// Log of the most points of all lines of a window, one way.
GPU_HD uint32_t most_line_points_log(const Windows& windows) {
    uint32_t most = 0;
    for (uint32_t j = 0; j < windows.count; j++) {
        const Shape shape = shape_of(windows.width[j]);
        const uint32_t l = shape.column_bits, h = shape.row_bits;
        const uint32_t rows = h + l - shape.row_rounds(), columns = l + h - shape.column_rounds();
        most = most > rows ? most : rows;
        most = most > columns ? most : columns;
    }
    return most;
}

/// Points in XYZZ that the last step of a reduction takes. Mirrored by `Windows::line_points`.
GPU_HD uint32_t line_points(const Windows& windows) { return windows.count << (most_line_points_log(windows) + 1); }

constexpr uint32_t MAX_PARTITIONS_LOG = 13;  // of a window; the plans of the Rust side know it
constexpr uint32_t MAX_LOW_BITS = 12;        // log of the most buckets in a partition; buckets.cu checks that they fit

/// The windows that one pass handles. Buckets are numbered through the group, and so are the partitions that the sort first puts
/// points into: 2^low_bits[j] neighbouring buckets of window j each.
struct Group {
    uint32_t first;
    uint32_t count;
    uint32_t buckets;
    uint32_t bucket_offset[MAX_WINDOWS];
    uint32_t low_bits[MAX_WINDOWS];
    uint32_t partition_first[MAX_WINDOWS + 1];
};

inline uint32_t bits_of(uint32_t value) {
    uint32_t bits = 0;
    while (bits < 32 && (value >> bits) != 0) bits++;
    return bits;
}

/// For n scalars. Digits that are spread evenly give a partition up to 2^15 points, fewer where there would not be some two thousand
/// partitions, and more where a window has as many as it can have. Windows have 26 bits at most.
inline Group group_of(const Windows& windows, uint32_t first, uint32_t count, uint32_t n) {
    Group group{};
    group.first = first;
    group.count = count;
    const uint32_t most_log = std::min(15u, std::max(22u, bits_of(n) + bits_of(count)) - 12);
    for (uint32_t j = 0; j < count; j++) {
        const uint32_t log = windows.width[first + j] - 1, n_log = n > 1 ? bits_of(n - 1) : 0;
        const uint32_t wanted = n_log > most_log ? n_log - most_log : 0, needed = log > MAX_LOW_BITS ? log - MAX_LOW_BITS : 0;
        const uint32_t partitions_log = std::min(std::min(log, MAX_PARTITIONS_LOG), std::max(wanted, needed));
        group.bucket_offset[j] = group.buckets;
        group.low_bits[j] = log - partitions_log;
        group.partition_first[j + 1] = group.partition_first[j] + (1u << partitions_log);
        group.buckets += 1u << log;
    }
    return group;
}

/// Where the scalars of a pass are and which points they belong to. A null index is the identity.
struct Scalars {
    const uint32_t* words;         // 8 words each
    const uint32_t* scalar_index;  // entry i uses scalar scalar_index[i]
    const uint32_t* point_index;   // and point point_index[i]
    uint32_t count;
    uint32_t montgomery;  // 1: Montgomery form below r; 0: plain integers of 256 bits
};

}  // namespace msm
