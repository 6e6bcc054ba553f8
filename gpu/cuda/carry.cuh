#pragma once
// 32-bit additions, subtractions and multiply-adds that pass a carry from one to the next.
//
// On the device each is one PTX instruction on the condition-code register; `mad.lo.cc` followed by `madc.hi.cc` on
// the same factors becomes one IMAD.WIDE. On the host the register is a variable, so that the carry chains
// themselves, word by word, are what a host test checks.
//
// Naming is PTX's: a suffix `_cc` writes the carry, `addc`, `subc` and `madc` read it. A chain must not be
// interrupted by another chain. `volatile` keeps the order.
#include "platform.cuh"

namespace carry {

#if defined(__CUDA_ARCH__)

#define GPU_CARRY_2(name, op)                                                              \
    static __device__ __forceinline__ uint32_t name(uint32_t a, uint32_t b) {              \
        uint32_t d;                                                                        \
        asm volatile(op " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));                        \
        return d;                                                                          \
    }
#define GPU_CARRY_3(name, op)                                                              \
    static __device__ __forceinline__ uint32_t name(uint32_t a, uint32_t b, uint32_t c) {  \
        uint32_t d;                                                                        \
        asm volatile(op " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));            \
        return d;                                                                          \
    }

GPU_CARRY_2(add_cc, "add.cc.u32")
GPU_CARRY_2(addc_cc, "addc.cc.u32")
GPU_CARRY_2(addc, "addc.u32")
GPU_CARRY_2(sub_cc, "sub.cc.u32")
GPU_CARRY_2(subc_cc, "subc.cc.u32")
GPU_CARRY_2(subc, "subc.u32")
GPU_CARRY_2(mul_lo, "mul.lo.u32")
GPU_CARRY_2(mul_hi, "mul.hi.u32")
GPU_CARRY_3(mad_lo_cc, "mad.lo.cc.u32")
GPU_CARRY_3(madc_lo, "madc.lo.u32")
GPU_CARRY_3(madc_lo_cc, "madc.lo.cc.u32")
GPU_CARRY_3(madc_hi_cc, "madc.hi.cc.u32")
GPU_CARRY_3(madc_hi, "madc.hi.u32")

#undef GPU_CARRY_2
#undef GPU_CARRY_3

#else

/// The condition-code register of this thread. For a subtraction it holds the borrow.
inline uint32_t& flag() {
    static thread_local uint32_t value = 0;
    return value;
}

/// Splits a sum below 2^64 into the word and the carry; the carry of two words and a flag is 0 or 1.
inline uint32_t out(uint64_t sum) {
    flag() = static_cast<uint32_t>(sum >> 32);
    return static_cast<uint32_t>(sum);
}
inline uint32_t borrow(uint64_t difference) {
    flag() = static_cast<uint32_t>(difference >> 63);
    return static_cast<uint32_t>(difference);
}
inline uint64_t lo(uint32_t a, uint32_t b) { return static_cast<uint32_t>(static_cast<uint64_t>(a) * b); }
inline uint64_t hi(uint32_t a, uint32_t b) { return (static_cast<uint64_t>(a) * b) >> 32; }

inline uint32_t add_cc(uint32_t a, uint32_t b) { return out(static_cast<uint64_t>(a) + b); }
inline uint32_t addc_cc(uint32_t a, uint32_t b) { return out(static_cast<uint64_t>(a) + b + flag()); }
inline uint32_t addc(uint32_t a, uint32_t b) { return a + b + flag(); }
inline uint32_t sub_cc(uint32_t a, uint32_t b) { return borrow(static_cast<uint64_t>(a) - b); }
inline uint32_t subc_cc(uint32_t a, uint32_t b) { return borrow(static_cast<uint64_t>(a) - b - flag()); }
inline uint32_t subc(uint32_t a, uint32_t b) { return a - b - flag(); }
inline uint32_t mul_lo(uint32_t a, uint32_t b) { return static_cast<uint32_t>(lo(a, b)); }
inline uint32_t mul_hi(uint32_t a, uint32_t b) { return static_cast<uint32_t>(hi(a, b)); }
inline uint32_t mad_lo_cc(uint32_t a, uint32_t b, uint32_t c) { return out(lo(a, b) + c); }
inline uint32_t madc_lo(uint32_t a, uint32_t b, uint32_t c) { return static_cast<uint32_t>(lo(a, b)) + c + flag(); }
inline uint32_t madc_lo_cc(uint32_t a, uint32_t b, uint32_t c) { return out(lo(a, b) + c + flag()); }
inline uint32_t madc_hi_cc(uint32_t a, uint32_t b, uint32_t c) { return out(hi(a, b) + c + flag()); }
inline uint32_t madc_hi(uint32_t a, uint32_t b, uint32_t c) { return static_cast<uint32_t>(hi(a, b)) + c + flag(); }

#endif

}  // namespace carry
