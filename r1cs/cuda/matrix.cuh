#pragma once
// A compiled circuit and a packed witness as they lie in device memory, and how a column of one copy of a block finds its value.
#include "fr.cuh"

/// A sparse matrix: row r has the terms starts[r] .. starts[r + 1].
struct r1cs_matrix {
    const uint32_t* starts;
    const uint32_t* columns;
    const uint16_t* coefficients;
};

/// The prefix, or the unit with all its copies. Mirrored by `ffi::RawBlock`.
///
/// Columns are numbered in this order: inputs of the prefix, own inputs, aux of the prefix, own aux, slots. `bounds` says where the
/// second to the last of these begin. A slot stands for a variable of the prefix that each copy chooses: an input below
/// `prefix_inputs`, or `prefix_inputs` plus an aux.
struct r1cs_block {
    r1cs_matrix matrices[3];
    /// Rows with more than SHORT_TERMS terms in some matrix.
    const uint32_t* long_rows;
    const uint32_t* slots;
    uint32_t bounds[4];
    uint32_t rows;
    uint32_t long_count;
    uint32_t copies;
    uint32_t slots_per_copy;
    /// The first copy's first row, input and aux among those of the whole.
    uint32_t first_row;
    uint32_t first_input;
    uint32_t first_aux;
    /// What a copy adds to each of the latter two.
    uint32_t inputs;
    uint32_t aux;
    uint32_t prefix_inputs;
};

/// The distinct coefficients: number 0 is 1, number 1 is -1. Mirrored by `ffi::RawDictionary`.
struct r1cs_dictionary {
    const Fr* values;
    /// The coefficient where it is a small integer, else LARGE.
    const int32_t* integers;
    /// The field elements -CACHED .. CACHED.
    const Fr* elements;
};

/// Mirrored by `ffi::RawWitness`.
struct r1cs_witness {
    const Fr* inputs;
    const uint64_t* ones;
    const uint64_t* is_dense;
    const uint32_t* rank;
    const Fr* dense;
};

/// One thread computes a row of at most so many terms in each matrix, one warp a longer one. Mirrored by `device::SHORT_TERMS`.
constexpr uint32_t SHORT_TERMS = 16;
constexpr int32_t LARGE = INT32_MIN;
constexpr int64_t CACHED = 256;

/// One copy of a block.
struct Copy {
    uint32_t input;
    uint32_t aux;
    const uint32_t* slots;

    __device__ Copy(const r1cs_block& block, uint32_t copy)
        : input(block.first_input + copy * block.inputs),
          aux(block.first_aux + copy * block.aux),
          slots(block.slots + uint64_t(copy) * block.slots_per_copy) {}
};

/// A variable of the whole circuit.
struct Variable {
    bool is_input;
    uint32_t index;
};

__device__ __forceinline__ Variable resolve(const r1cs_block& block, const Copy& copy, uint32_t column) {
    // Nearly all columns are the copy's own aux.
    if (column >= block.bounds[2] && column < block.bounds[3]) return {false, copy.aux + (column - block.bounds[2])};
    if (column < block.bounds[0]) return {true, column};
    if (column < block.bounds[1]) return {true, copy.input + (column - block.bounds[0])};
    if (column < block.bounds[2]) return {false, column - block.bounds[1]};
    const uint32_t bound = copy.slots[column - block.bounds[3]];
    return bound < block.prefix_inputs ? Variable{true, bound} : Variable{false, bound - block.prefix_inputs};
}

/// The most terms that the row has in a matrix.
__device__ __forceinline__ uint32_t longest(const r1cs_block& block, uint32_t row) {
    uint32_t most = 0;
    for (int m = 0; m < 3; m++) {
        const uint32_t* starts = block.matrices[m].starts + row;
        most = max(most, starts[1] - starts[0]);
    }
    return most;
}
