// The tensor cores' 16 x 8 x 16 product of 16-bit operands, fp32 sums.
//
// PTX ISA: "mma.m16n8k16 with floating point type" (fragment layouts).
#ifndef MNKBENCH_MMA
#define MNKBENCH_MMA
#include "element.cuh"

// top += rows 0 to 7, low += rows 8 to 15.
template <class T> __device__ void mma(Pack<float, 2>& top, Pack<float, 2>& low,
                                       const unsigned (&a)[4], const unsigned* b);
#define MMA(T, NAME)                                                                           \
  template <> __device__ inline void mma<T>(Pack<float, 2>& top, Pack<float, 2>& low,          \
                                            const unsigned (&a)[4], const unsigned* b) {       \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." NAME "." NAME ".f32 "                         \
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                      \
        : "+f"(top.at[0]), "+f"(top.at[1]), "+f"(low.at[0]), "+f"(low.at[1])                   \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                   \
  }
MMA(bf16, "bf16")
MMA(f16, "f16")

#endif
