// Where the sums of a warp's product are stored.
#ifndef GROUPED_STORE
#define GROUPED_STORE
#include "../../common/mutant.h"
#include "nvfp4.cuh"

// Row i of columns j and j + 1. N is a multiple of 8, so that of two columns both are there.
__device__ __forceinline__ void store(const Problem& p, int i, int j, float left, float right,
                                      int mmajor) {
  if (i >= p.m || (j >= p.n && !MUTANT(store_no_column_guard))) return;
  unsigned both = f32_to_2f16(left * UNSHIFT, right * UNSHIFT);
  unsigned short* c = (unsigned short*)p.c;
  if (mmajor) {
    c[(long long)j * p.m + i] = both;
    int row = MUTANT(store_second_row);
    c[(long long)(j + 1 - row) * p.m + i + row] = both >> 16;
  } else {
    *(unsigned*)(c + (long long)i * p.n + j) = both;
  }
}

#endif
