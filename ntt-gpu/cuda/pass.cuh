#pragma once
// One pass over the data: up to nine layers of a transform, read once and written once.
//
// Before a pass of S layers, `above` layers lie above it. The vector is an array [2^above][2^S][M]; the pass transforms
// along the middle axis, each of the M columns of each block by itself. A thread block takes T neighbouring columns, a tile of
// 2^S rows and T columns; each of its threads keeps eight elements of one column in registers, does three layers, and
// exchanges them for eight others through shared memory.
#include "butterfly.cuh"

/// What happens to an element as the first pass reads it.
enum ntt_load : uint32_t {
    LOAD_PLAIN = 0,
    /// Times the element of `factor` at the same position.
    LOAD_PRODUCT = 1,
    /// Times g^rev(position).
    LOAD_COSET = 2,
};

/// What happens to an element as the last pass writes it.
enum ntt_store : uint32_t {
    STORE_PLAIN = 0,
    /// Times `scale`.
    STORE_SCALED = 1,
    /// Times `scale` and g^-rev(position).
    STORE_COSET = 2,
    /// minuend[position]·scale_minuend - element·scale.
    STORE_DIFFERENCE = 3,
};

/// Mirrored by `ffi::Pass`.
struct ntt_pass {
    const Fr* from;
    const Fr* factor;
    const Fr* minuend;
    Fr* to;
    const FrFactor* table;
    uint64_t tiles;
    uint32_t log_size;
    uint32_t above;
    uint32_t layers;
    /// log2 of the threads of a block.
    uint32_t log_threads;
    uint32_t coset;
    uint32_t load;
    uint32_t store;
    uint32_t bottom_up;
    uint32_t inverse;
    /// log2 of the entries of `table` before its -1.
    uint32_t log_table;
    /// Whether the bit-reversed side, the input of a bottom-up first pass or the output of a top-down last one, stands in
    /// natural order. `from` and `to` are then different.
    uint32_t reorder;
    Fr scale;
    Fr scale_minuend;
};

constexpr int PASS_MAX_THREADS = 128;
constexpr int PASS_BLOCKS_PER_MULTIPROCESSOR = 4;

/// The two halves of an element lie in two planes, so that a warp's 16-byte accesses are contiguous; the low bits are mixed
/// with higher ones against bank conflicts where threads are eight rows apart.
struct Tile {
    uint4* low;
    uint4* high;

    __device__ __forceinline__ static uint32_t slot(uint32_t index) { return index ^ ((index >> 3) & 7); }

    __device__ __forceinline__ void put(uint32_t index, const Fr& x) const {
        const uint32_t at = slot(index);
        low[at] = make_uint4(x.v[0], x.v[1], x.v[2], x.v[3]);
        high[at] = make_uint4(x.v[4], x.v[5], x.v[6], x.v[7]);
    }

    __device__ __forceinline__ Fr get(uint32_t index) const {
        const uint32_t at = slot(index);
        const uint4 a = low[at], b = high[at];
        return Fr{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
    }
};

/// Where a thread's eight elements are: rows `first + (i << log_stride)` of its column, a block of number `node`.
struct Place {
    uint32_t first;
    uint32_t log_stride;
    uint32_t node;
    uint32_t layers;

    /// The round that begins `top` layers into the pass. A last round of fewer than three layers is the lower part of one
    /// of three.
    __device__ __forceinline__ Place(const ntt_pass& pass, uint32_t top, uint32_t base, uint32_t lane) {
        const uint32_t start = min(top, pass.layers - 3);
        log_stride = pass.layers - 3 - start;
        const uint32_t block = lane >> log_stride;
        first = (block << (log_stride + 3)) + (lane & ((1u << log_stride) - 1));
        node = (base << start) + block;
        layers = 3 - (top - start);
    }

    __device__ __forceinline__ uint32_t row(int i) const { return first + (static_cast<uint32_t>(i) << log_stride); }
};

/// Where the element of a bit-reversed position lies.
static __device__ __forceinline__ uint32_t reversed_side(const ntt_pass& pass, bool reversed, uint32_t position) {
    return reversed && pass.reorder && pass.log_size > 0 ? __brev(position) >> (32 - pass.log_size) : position;
}

static __device__ __forceinline__ Table<false> pass_table(const ntt_pass& pass) { return {pass.table, pass.log_table}; }

static __device__ __forceinline__ Fr pass_load(const ntt_pass& pass, uint32_t position) {
    const uint32_t at = reversed_side(pass, pass.bottom_up, position);
    const Fr x = pass.from[at];
    if (pass.load == LOAD_PLAIN) return x;
    if (pass.load == LOAD_PRODUCT) return multiply(pass.factor[at], x);
    return pass_table(pass).get<false>(position).times<Code::CALLED>(x);
}

static __device__ __forceinline__ void pass_store(const ntt_pass& pass, uint32_t position, Fr x) {
    const uint32_t at = reversed_side(pass, !pass.bottom_up, position);
    // The table has -g^-rev(position).
    if (pass.store == STORE_COSET) x = Fr::neg(pass_table(pass).get<true>(position).times<Code::CALLED>(x));
    if (pass.store != STORE_PLAIN) x = multiply(pass.scale, x);
    if (pass.store == STORE_DIFFERENCE) x = multiply(pass.scale_minuend, pass.minuend[at]) - x;
    pass.to[at] = x;
}

/// `FROM_ZERO`: the pass begins at block 0 of the first layer, whose first round has a form of its own. `WHOLE`: the table has
/// the twiddles of all layers of the pass.
template <bool BOTTOM_UP, bool INVERSE, bool FROM_ZERO, bool WHOLE>
__global__ void __launch_bounds__(PASS_MAX_THREADS, PASS_BLOCKS_PER_MULTIPROCESSOR) ntt_pass_kernel(const __grid_constant__ ntt_pass pass) {
    constexpr Code CODE = FROM_ZERO ? Code::CALLED : Code::IN_PLACE;
    extern __shared__ uint4 shared[];
    const uint32_t elements = 8u << pass.log_threads;
    const Tile tile{shared, shared + elements};

    const uint32_t log_columns = pass.log_threads + 3 - pass.layers;
    const uint32_t column = threadIdx.x & ((1u << log_columns) - 1);
    const uint32_t lane = threadIdx.x >> log_columns;
    const uint32_t log_inner = pass.log_size - pass.above - pass.layers;
    // Neighbouring columns. Where the other side is permuted, columns whose numbers differ in the highest bits instead: their
    // elements are neighbours there.
    const uint32_t flat = pass.reorder ? (column << (pass.log_size - pass.layers - log_columns)) + blockIdx.x
                                       : (blockIdx.x << log_columns) + column;
    const uint32_t outer = flat >> log_inner;
    const uint32_t origin = (outer << (log_inner + pass.layers)) + (flat & ((1u << log_inner) - 1));
    const uint32_t base = (pass.coset << pass.above) + outer;

    const auto position = [&](uint32_t row) { return origin + (row << log_inner); };
    const auto index = [&](uint32_t row) { return (row << log_columns) + column; };

    const Table<WHOLE> table{pass.table, pass.log_table};
    const uint32_t last = (pass.layers - 1) / 3 * 3;
    uint32_t top = BOTTOM_UP ? last : 0;
    Place place(pass, top, base, lane);
    Fr x[8];
    if (pass.load == LOAD_PLAIN) {
        GPU_UNROLL
        for (int i = 0; i < 8; i++) x[i] = pass.from[reversed_side(pass, BOTTOM_UP, position(place.row(i)))];
    } else {
        // Through the thread's own slots of the tile: one copy of the code, not eight.
#pragma unroll 1
        for (int i = 0; i < 8; i++) tile.put(index(place.row(i)), pass_load(pass, position(place.row(i))));
        GPU_UNROLL
        for (int i = 0; i < 8; i++) x[i] = tile.get(index(place.row(i)));
    }

#pragma unroll 1
    while (true) {
        if (FROM_ZERO && top == 0 && place.layers == 3) {
            if (BOTTOM_UP) join_layers_at_zero<INVERSE>(x, table);
            else split_layers_at_zero<INVERSE>(x, table);
        } else {
            if (BOTTOM_UP) join_layers<INVERSE, CODE>(x, table, place.node, place.layers);
            else split_layers<INVERSE, CODE>(x, table, place.node, place.layers);
        }
        if (top == (BOTTOM_UP ? 0 : last)) break;
        // A thread overwrites only slots that it alone has read, so one barrier for each exchange is enough.
        GPU_UNROLL
        for (int i = 0; i < 8; i++) tile.put(index(place.row(i)), x[i]);
        __syncthreads();
        top = BOTTOM_UP ? top - 3 : top + 3;
        place = Place(pass, top, base, lane);
        GPU_UNROLL
        for (int i = 0; i < 8; i++) x[i] = tile.get(index(place.row(i)));
    }

    if (pass.store == STORE_PLAIN) {
        GPU_UNROLL
        for (int i = 0; i < 8; i++) pass.to[reversed_side(pass, !BOTTOM_UP, position(place.row(i)))] = x[i];
    } else {
        GPU_UNROLL
        for (int i = 0; i < 8; i++) tile.put(index(place.row(i)), x[i]);
#pragma unroll 1
        for (int i = 0; i < 8; i++) pass_store(pass, position(place.row(i)), tile.get(index(place.row(i))));
    }
}
