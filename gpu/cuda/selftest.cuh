#pragma once
// A known-answer test for a field: a chain of operations that any wrong carry disturbs, ending in one element.
//
// Old compilers have turned carry chains into wrong code on some targets, so the chain runs on the device before anything
// else does. Its answer is a constant, checked against blstrs in `cargo test`, where the same chain runs on the host.
#include "fr.cuh"

constexpr int SELFTEST_STEPS = 512;

/// x <- x·y + x - y, y <- x·(x + y) - 1; starting from x = -1, y = -2: from words near those of the
/// modulus over small numbers to arbitrary ones.
template <class Field>
GPU_HD Field selftest_chain() {
    Field x = Field::neg(Field::one());
    Field y = x + x;
    for (int step = 0; step < SELFTEST_STEPS; step++) {
        const Field next = (x * y + x) - y;
        y = next * (next + y) - Field::one();
        x = next;
    }
    return x + y;
}
