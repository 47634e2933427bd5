// The product of a warp: 16 x 8 += 16 x 16 . 16 x 8, fp16 operands, fp32 sums, and where its sums
// are stored.
//
// PTX ISA: "mma.m16n8k16 with floating point type" (fragment layouts).
#ifndef GROUPED_MMA
#define GROUPED_MMA
#include "nvfp4.cuh"

__device__ inline void mma(float (&d)[4], const unsigned* a, const unsigned* b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Row i of columns j and j + 1. N is a multiple of 8, so that of two columns both are there.
__device__ __forceinline__ void store(const Problem& p, int i, int j, float left, float right,
                                      int mmajor) {
  if (i >= p.m || j >= p.n) return;
  unsigned both = narrow(left * UNSHIFT, right * UNSHIFT);
  unsigned short* c = (unsigned short*)p.c;
  if (mmajor) {
    c[(long long)j * p.m + i] = both;
    c[(long long)(j + 1) * p.m + i] = both >> 16;
  } else {
    *(unsigned*)(c + (long long)i * p.n + j) = both;
  }
}

#endif
