// The transposed matrices times a vector over the rows: each variable's polynomial at a point, for a setup.
//
// A term adds its product to its column, wherever that is. Columns are kept as eight 64-bit counters, one for each 32-bit word of
// the sum: integer additions, which commute, so that the result does not depend on the order. Up to 2^32 terms fit.
//
// A range of columns can be summed by itself, with counters for the range alone: terms of other columns are passed over.
#include "matrix.cuh"
#include "status.cuh"

typedef unsigned long long counter;
constexpr uint32_t THREADS = 256;

/// Counters of the columns from `first` on. Mirrored by `ffi::RawColumns`.
struct r1cs_columns {
    counter* counters;
    uint32_t first;
    uint32_t count;
    uint32_t num_inputs;

    /// Inputs come before aux.
    __device__ uint32_t number(const Variable& variable) const {
        return variable.is_input ? variable.index : num_inputs + variable.index;
    }

    __device__ bool contain(uint32_t column) const { return column - first < count; }
};

/// For a column that `columns` contain.
__device__ __forceinline__ void add_to_column(const r1cs_columns& columns, uint32_t column, const Fr& value) {
    counter* target = columns.counters + uint64_t(column - columns.first) * 8;
    GPU_UNROLL
    for (int i = 0; i < 8; i++) {
        if (value.v[i] != 0) atomicAdd(target + i, counter(value.v[i]));
    }
}

__device__ __forceinline__ void scatter(const r1cs_block& block, const r1cs_matrix& matrix, const Copy& copy,
                                        const r1cs_dictionary& dictionary, const Fr& value, uint32_t first, uint32_t end,
                                        uint32_t step, const r1cs_columns& columns) {
    for (uint32_t term = first; term < end; term += step) {
        const uint32_t column = columns.number(resolve(block, copy, matrix.columns[term]));
        if (!columns.contain(column)) continue;
        const uint32_t number = matrix.coefficients[term];
        const Fr product = number == 0 ? value : number == 1 ? Fr::neg(value) : dictionary.values[number] * value;
        add_to_column(columns, column, product);
    }
}

static __global__ void __launch_bounds__(THREADS)
    r1cs_scatter_short_kernel(const __grid_constant__ r1cs_block block, uint32_t which,
                              const __grid_constant__ r1cs_dictionary dictionary, const Fr* rows,
                              const __grid_constant__ r1cs_columns columns) {
    const uint32_t number = blockIdx.x % block.copies;
    const uint32_t row = blockIdx.x / block.copies * THREADS + threadIdx.x;
    if (row >= block.rows || longest(block, row) > SHORT_TERMS) return;
    const r1cs_matrix& matrix = block.matrices[which];
    const Fr value = rows[block.first_row + number * block.rows + row];
    scatter(block, matrix, Copy(block, number), dictionary, value, matrix.starts[row], matrix.starts[row + 1], 1, columns);
}

static __global__ void __launch_bounds__(THREADS)
    r1cs_scatter_long_kernel(const __grid_constant__ r1cs_block block, uint32_t which,
                             const __grid_constant__ r1cs_dictionary dictionary, const Fr* rows,
                             const __grid_constant__ r1cs_columns columns) {
    const uint32_t warp = blockIdx.x * (THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint32_t number = warp % block.copies, index = warp / block.copies;
    if (index >= block.long_count) return;
    const uint32_t row = block.long_rows[index];
    const r1cs_matrix& matrix = block.matrices[which];
    const Fr value = rows[block.first_row + number * block.rows + row];
    scatter(block, matrix, Copy(block, number), dictionary, value, matrix.starts[row] + lane, matrix.starts[row + 1], 32, columns);
}

/// The rows x_i * 0 = 0: input i is in row i of these, in A.
static __global__ void r1cs_scatter_inputs_kernel(const Fr* rows, const __grid_constant__ r1cs_columns columns) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < columns.num_inputs && columns.contain(i)) add_to_column(columns, i, rows[i]);
}

static __global__ void r1cs_reduce_kernel(const counter* columns, Fr* out, uint64_t count) {
    const uint64_t column = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (column >= count) return;
    Fr low;
    counter carried = 0;
    GPU_UNROLL
    for (int i = 0; i < 8; i++) {
        const counter word = columns[column * 8 + i];
        // The carry is below 2^33, and a counter below 2^64 - 2^33 as it has at most 2^32 - 1 terms.
        carried += word;
        low.v[i] = uint32_t(carried);
        carried >>= 32;
    }
    // low + carried·2^256, each modulo r: multiplying by R = 2^256 mod r and dividing by it, and by R² likewise.
    const Fr high{{uint32_t(carried), uint32_t(carried >> 32), 0, 0, 0, 0, 0, 0}};
    out[column] = Fr::mul(Fr::one(), low) + Fr::from_canonical(high);
}

extern "C" {

/// Adds the terms of all copies of a block in matrix `which` to their columns.
gpu_status r1cs_scatter(const r1cs_block* block, uint32_t which, const r1cs_dictionary* dictionary, const void* rows,
                        const r1cs_columns* columns, void* stream) {
    const cudaStream_t queue = static_cast<cudaStream_t>(stream);
    const Fr* values = static_cast<const Fr*>(rows);
    if (block->rows == 0 || block->copies == 0) return gpu_ok();
    const uint64_t blocks = (uint64_t(block->rows) + THREADS - 1) / THREADS * block->copies;
    r1cs_scatter_short_kernel<<<uint32_t(blocks), THREADS, 0, queue>>>(*block, which, *dictionary, values, *columns);
    GPU_TRY_LAUNCH("r1cs_scatter_short_kernel");
    const uint64_t warps = uint64_t(block->long_count) * block->copies;
    if (warps == 0) return gpu_ok();
    const uint32_t long_blocks = uint32_t((warps + THREADS / 32 - 1) / (THREADS / 32));
    r1cs_scatter_long_kernel<<<long_blocks, THREADS, 0, queue>>>(*block, which, *dictionary, values, *columns);
    GPU_TRY_LAUNCH("r1cs_scatter_long_kernel");
    return gpu_ok();
}

/// Adds the input rows, the first of which is `constraints`, to their columns.
gpu_status r1cs_scatter_inputs(const void* rows, uint64_t constraints, const r1cs_columns* columns, void* stream) {
    const uint32_t count = columns->num_inputs;
    if (count == 0) return gpu_ok();
    r1cs_scatter_inputs_kernel<<<(count + THREADS - 1) / THREADS, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const Fr*>(rows) + constraints, *columns);
    GPU_TRY_LAUNCH("r1cs_scatter_inputs_kernel");
    return gpu_ok();
}

/// The field elements that the columns' counters stand for.
gpu_status r1cs_reduce(const void* columns, void* out, uint64_t count, void* stream) {
    if (count == 0) return gpu_ok();
    const uint32_t blocks = uint32_t((count + THREADS - 1) / THREADS);
    r1cs_reduce_kernel<<<blocks, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(static_cast<const counter*>(columns),
                                                                                   static_cast<Fr*>(out), count);
    GPU_TRY_LAUNCH("r1cs_reduce_kernel");
    return gpu_ok();
}

}  // extern "C"
