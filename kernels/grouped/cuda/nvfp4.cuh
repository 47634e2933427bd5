// NVFP4 to fp16 in registers, exactly: e2m1 x e4m3 has at most 6 significant bits.
//
// The bits of a code, moved under fp16's exponent, stand for its value x 2^-14; fp16 takes the
// scale x 2^7 (57344 at most), so an element is its value x 2^-7 and a product of two is
// x 2^-14, which the sums are multiplied by 2^14 for at the end.
#ifndef GROUPED_NVFP4
#define GROUPED_NVFP4
#include "../../common/mutant.h"
#include "../../../bench/formats/formats.h"
#include "../../device/ptx.h"
#include "../problem.h"

constexpr float UNSHIFT = 16384;

// Two scales, x 2^7, from their codes in the lower half of `codes`.
__device__ inline unsigned scale_pair(unsigned codes) {
  return multiply_2f16(e4m3_to_2f16(codes), 0x58005800);
}
__device__ inline unsigned low_twice(unsigned x) { return __byte_perm(x, 0, 0x1010); }
__device__ inline unsigned high_twice(unsigned x) { return __byte_perm(x, 0, 0x3232); }

// Elements I and I + 4 of the eight in `word`, under `scale`, which is there twice.
template <int I>
__device__ inline unsigned pair(unsigned word, unsigned scale) {
  unsigned magnitude = I == 3 ? word >> 3 : word << (9 - 4 * I);
  unsigned sign = word << (12 - 4 * I);
  return multiply_2f16((magnitude & 0x0e000e00) | (sign & 0x80008000), scale);
}

// Stores sums of a warp's product: row i of columns j and j + 1. N is a multiple of 8, so that of two columns both are there.
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
