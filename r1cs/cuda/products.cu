// A·w and B·w of a packed witness, compared with C·w row by row.
//
// Blocks of threads that work on the same rows of different copies stand next to each other, so that the matrices are read from
// memory about once, whatever the number of copies.
#include "matrix.cuh"
#include "status.cuh"

/// A row's product with the witness so far: integer + field. Bits with small coefficients stay integers.
struct Sum {
    int64_t integer = 0;
    bool is_field = false;
    Fr field = Fr::zero();

    __device__ void add(const Fr& value) {
        field = field + value;
        is_field = true;
    }

    /// What the whole comes to.
    __device__ Fr total(const r1cs_dictionary& dictionary) const {
        if (integer == 0) return field;
        Fr value;
        if (integer >= -CACHED && integer <= CACHED) {
            value = dictionary.elements[integer + CACHED];
        } else {
            const uint64_t magnitude = integer < 0 ? uint64_t(-integer) : uint64_t(integer);
            value = Fr::from_canonical(Fr{{uint32_t(magnitude), uint32_t(magnitude >> 32), 0, 0, 0, 0, 0, 0}});
            if (integer < 0) value = Fr::neg(value);
        }
        return is_field ? field + value : value;
    }
};

/// Adds the terms first, first + step, … before `end`.
__device__ __forceinline__ void add_terms(Sum& sum, const r1cs_block& block, const r1cs_matrix& matrix, const Copy& copy,
                                          const r1cs_dictionary& dictionary, const r1cs_witness& witness, uint32_t first,
                                          uint32_t end, uint32_t step) {
    for (uint32_t term = first; term < end; term += step) {
        const uint32_t number = matrix.coefficients[term];
        const Variable variable = resolve(block, copy, matrix.columns[term]);
        const Fr* element = nullptr;
        if (variable.is_input) {
            if (variable.index != 0) element = witness.inputs + variable.index;  // input 0 is ONE
        } else {
            const uint32_t word = variable.index >> 6, bit = variable.index & 63;
            const uint64_t is_dense = witness.is_dense[word];
            if ((is_dense >> bit) & 1) {
                element = witness.dense + witness.rank[word] + __popcll(is_dense & ((uint64_t(1) << bit) - 1));
            } else if (((witness.ones[word] >> bit) & 1) == 0) {
                continue;
            }
        }
        if (element == nullptr) {
            const int32_t integer = dictionary.integers[number];
            if (integer != LARGE) {
                sum.integer += integer;
            } else {
                sum.add(dictionary.values[number]);
            }
        } else if (number == 0) {
            sum.add(*element);
        } else if (number == 1) {
            sum.field = sum.field - *element;
            sum.is_field = true;
        } else {
            sum.add(dictionary.values[number] * *element);
        }
    }
}

/// Writes a and b of a row; a row whose product is not c lowers `first_unsatisfied`.
__device__ __forceinline__ void finish(const Sum (&sums)[3], const r1cs_dictionary& dictionary, uint32_t row, Fr* a, Fr* b,
                                       uint32_t* first_unsatisfied) {
    const Fr left = sums[0].total(dictionary), right = sums[1].total(dictionary);
    a[row] = left;
    b[row] = right;
    constexpr int64_t half = int64_t(1) << 31;
    const bool integers = !sums[0].is_field && !sums[1].is_field && !sums[2].is_field && sums[0].integer > -half &&
                          sums[0].integer < half && sums[1].integer > -half && sums[1].integer < half;
    // All far below r in magnitude, so equal modulo r only if equal.
    const bool satisfied = integers ? sums[0].integer * sums[1].integer == sums[2].integer
                                    : left * right == sums[2].total(dictionary);
    if (!satisfied) atomicMin(first_unsatisfied, row);
}

constexpr uint32_t THREADS = 256;

static __global__ void __launch_bounds__(THREADS)
    r1cs_short_kernel(const __grid_constant__ r1cs_block block, const __grid_constant__ r1cs_dictionary dictionary,
                      const __grid_constant__ r1cs_witness witness, Fr* a, Fr* b, uint32_t* first_unsatisfied) {
    const uint32_t number = blockIdx.x % block.copies;
    const uint32_t row = blockIdx.x / block.copies * THREADS + threadIdx.x;
    if (row >= block.rows || longest(block, row) > SHORT_TERMS) return;
    const Copy copy(block, number);
    Sum sums[3];
    GPU_UNROLL
    for (int m = 0; m < 3; m++) {
        const r1cs_matrix& matrix = block.matrices[m];
        add_terms(sums[m], block, matrix, copy, dictionary, witness, matrix.starts[row], matrix.starts[row + 1], 1);
    }
    finish(sums, dictionary, block.first_row + number * block.rows + row, a, b, first_unsatisfied);
}

/// The sum over all lanes, in lane 0.
__device__ __forceinline__ Sum join_lanes(Sum sum) {
    const bool any_field = __any_sync(0xffffffffu, sum.is_field);
    for (int distance = 16; distance > 0; distance /= 2) {
        sum.integer += __shfl_down_sync(0xffffffffu, sum.integer, distance);
        if (any_field) {
            Fr other;
            GPU_UNROLL
            for (int i = 0; i < 8; i++) other.v[i] = __shfl_down_sync(0xffffffffu, sum.field.v[i], distance);
            sum.field = sum.field + other;
        }
    }
    sum.is_field = any_field;
    return sum;
}

static __global__ void __launch_bounds__(THREADS)
    r1cs_long_kernel(const __grid_constant__ r1cs_block block, const __grid_constant__ r1cs_dictionary dictionary,
                     const __grid_constant__ r1cs_witness witness, Fr* a, Fr* b, uint32_t* first_unsatisfied) {
    const uint32_t warp = blockIdx.x * (THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint32_t number = warp % block.copies, index = warp / block.copies;
    if (index >= block.long_count) return;
    const uint32_t row = block.long_rows[index];
    const Copy copy(block, number);
    Sum sums[3];
    GPU_UNROLL
    for (int m = 0; m < 3; m++) {
        const r1cs_matrix& matrix = block.matrices[m];
        add_terms(sums[m], block, matrix, copy, dictionary, witness, matrix.starts[row] + lane, matrix.starts[row + 1], 32);
        sums[m] = join_lanes(sums[m]);
    }
    if (lane == 0) finish(sums, dictionary, block.first_row + number * block.rows + row, a, b, first_unsatisfied);
}

/// The rows x_i * 0 = 0 of the inputs, and zeros up to the domain's size.
static __global__ void r1cs_tail_kernel(const Fr* inputs, uint32_t count, Fr* a, Fr* b, uint64_t rest) {
    const uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= rest) return;
    a[i] = i < count ? inputs[i] : Fr::zero();
    b[i] = Fr::zero();
}

extern "C" {

/// The rows of all copies of a block.
gpu_status r1cs_products(const r1cs_block* block, const r1cs_dictionary* dictionary, const r1cs_witness* witness, void* a,
                         void* b, void* first_unsatisfied, void* stream) {
    const cudaStream_t queue = static_cast<cudaStream_t>(stream);
    Fr *left = static_cast<Fr*>(a), *right = static_cast<Fr*>(b);
    uint32_t* first = static_cast<uint32_t*>(first_unsatisfied);
    if (block->rows == 0 || block->copies == 0) return gpu_ok();
    const uint64_t blocks = (uint64_t(block->rows) + THREADS - 1) / THREADS * block->copies;
    r1cs_short_kernel<<<uint32_t(blocks), THREADS, 0, queue>>>(*block, *dictionary, *witness, left, right, first);
    GPU_TRY_LAUNCH("r1cs_short_kernel");
    const uint64_t warps = uint64_t(block->long_count) * block->copies;
    if (warps == 0) return gpu_ok();
    const uint32_t long_blocks = uint32_t((warps + THREADS / 32 - 1) / (THREADS / 32));
    r1cs_long_kernel<<<long_blocks, THREADS, 0, queue>>>(*block, *dictionary, *witness, left, right, first);
    GPU_TRY_LAUNCH("r1cs_long_kernel");
    return gpu_ok();
}

/// The rows from `constraints` to `size`: `count` inputs, then zeros.
gpu_status r1cs_tail(const void* inputs, uint32_t count, void* a, void* b, uint64_t constraints, uint64_t size, void* stream) {
    const uint64_t rest = size - constraints;
    if (rest == 0) return gpu_ok();
    const uint32_t blocks = uint32_t((rest + THREADS - 1) / THREADS);
    r1cs_tail_kernel<<<blocks, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const Fr*>(inputs), count, static_cast<Fr*>(a) + constraints, static_cast<Fr*>(b) + constraints, rest);
    GPU_TRY_LAUNCH("r1cs_tail_kernel");
    return gpu_ok();
}

}  // extern "C"
