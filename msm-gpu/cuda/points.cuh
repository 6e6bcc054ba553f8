#pragma once
// How points lie in device memory, and how a warp copies them into shared memory.
#include "curve.cuh"
#include "windows.cuh"

namespace msm {

using namespace bls12_381;

// Field elements as rows of 16 bytes, STRIDE rows apart.
template <class F, int STRIDE>
struct Rows;
template <int STRIDE>
struct Rows<Fp, STRIDE> {
    static constexpr int COUNT = 3;
    static __device__ __forceinline__ Fp load(const uint4* p) {
        uint4 a = p[0], b = p[STRIDE], c = p[2 * STRIDE];
        return Fp{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w}};
    }
    static __device__ __forceinline__ void store(uint4* p, const Fp& v) {
        p[0] = make_uint4(v.limb[0], v.limb[1], v.limb[2], v.limb[3]);
        p[STRIDE] = make_uint4(v.limb[4], v.limb[5], v.limb[6], v.limb[7]);
        p[2 * STRIDE] = make_uint4(v.limb[8], v.limb[9], v.limb[10], v.limb[11]);
    }
};
template <int STRIDE>
struct Rows<Fp2, STRIDE> {
    static constexpr int COUNT = 6;
    static __device__ __forceinline__ Fp2 load(const uint4* p) {
        return Fp2{Rows<Fp, STRIDE>::load(p), Rows<Fp, STRIDE>::load(p + 3 * STRIDE)};
    }
    static __device__ __forceinline__ void store(uint4* p, const Fp2& v) {
        Rows<Fp, STRIDE>::store(p, v.c0);
        Rows<Fp, STRIDE>::store(p + 3 * STRIDE, v.c1);
    }
};

/// Where points lie. PLAIN: one after another, blst's layout. TILED: 32 points to a tile, each 32 bytes of all of them together, so
/// that a warp that reads or writes neighbours touches few lines of the cache, and every write fills a sector; only the kernels
/// here see it.
enum class Points { PLAIN, TILED };

/// The rows of 16 bytes of a point: 0 to COUNT - 1 are x, the next COUNT are y.
template <class F, Points HOW>
struct PointRows {
    static constexpr int COUNT = Rows<F, 1>::COUNT;
    uint4* first;

    __device__ __forceinline__ PointRows(const Affine<F>* points, uint32_t index)
        : first(const_cast<uint4*>(reinterpret_cast<const uint4*>(points)) +
                (HOW == Points::TILED ? static_cast<uint64_t>(index >> 5) * (64 * COUNT) + (index & 31) * 2
                                      : static_cast<uint64_t>(index) * (2 * COUNT))) {}
    __device__ __forceinline__ uint4* row(int r) const {
        return HOW == Points::TILED ? first + (r >> 1) * 64 + (r & 1) : first + r;
    }
    __device__ __forceinline__ Affine<F> load() const {
        uint4 rows[2 * COUNT];
#pragma unroll
        for (int r = 0; r < 2 * COUNT; r++) rows[r] = *row(r);
        return Affine<F>{Rows<F, 1>::load(rows), Rows<F, 1>::load(rows + COUNT)};
    }
    __device__ __forceinline__ void store(const F& x, const F& y) const {
        uint4 rows[2 * COUNT];
        Rows<F, 1>::store(rows, x);
        Rows<F, 1>::store(rows + COUNT, y);
#pragma unroll
        for (int r = 0; r < 2 * COUNT; r++) *row(r) = rows[r];
    }
};

__device__ __forceinline__ void copy_async_16(uint4* shared, const uint4* global) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(shared))),
                 "l"(global)
                 : "memory");
}
__device__ __forceinline__ void copy_async_4(uint32_t* shared, const uint32_t* global) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(shared))),
                 "l"(global)
                 : "memory");
}
__device__ __forceinline__ void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ __forceinline__ void copy_wait() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

/// Copies the first ROWS rows of 16 bytes of `valid` points, blst's layout, into rows of shared memory T apart, by all lanes of a warp:
/// neighbouring lanes copy neighbouring rows, so that a copy touches as few lines as there are points in it. `names` and
/// `to` are lane 0's; whoever reads the rows waits for the copies and for the warp.
template <class F, int ROWS, int T>
__device__ __forceinline__ void gather(const Affine<F>* points, const uint32_t* names, uint4* to, uint32_t valid) {
    constexpr uint32_t LANES = ROWS <= 4 ? 4 : ROWS <= 8 ? 8 : 16;
    const uint32_t lane = threadIdx.x & 31, row = lane % LANES;
    if (row >= ROWS) return;
    const uint4* const from = reinterpret_cast<const uint4*>(points) + row;
#pragma unroll
    for (uint32_t k = 0; k < LANES; k++) {
        const uint32_t p = lane / LANES + k * (32 / LANES);
        if (p < valid) copy_async_16(to + row * T + p, from + static_cast<uint64_t>(names[p] & ~SIGN) * (2 * Rows<F, 1>::COUNT));
    }
}

}  // namespace msm
