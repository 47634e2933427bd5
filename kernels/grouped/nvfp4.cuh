// NVFP4 to fp16 in registers, exactly: e2m1 x e4m3 has at most 6 significant bits.
//
// The bits of a code, moved under fp16's exponent, stand for its value x 2^-14; fp16 takes the
// scale x 2^7 (57344 at most), so an element is its value x 2^-7 and a product of two is
// x 2^-14, which the sums are multiplied by 2^14 for at the end.
#ifndef GROUPED_NVFP4
#define GROUPED_NVFP4
#include "../../bench/formats/formats.h"
#include "problem.h"

constexpr float UNSHIFT = 16384;

__device__ inline unsigned multiply(unsigned a, unsigned b) {
  unsigned c;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
  return c;
}

// Two scales, x 2^7, from their codes in the lower half of `codes`.
__device__ inline unsigned scale_pair(unsigned codes) {
  unsigned both;
  asm("{ .reg .b16 h; cvt.u16.u32 h, %1; cvt.rn.f16x2.e4m3x2 %0, h; }" : "=r"(both) : "r"(codes));
  return multiply(both, 0x58005800);
}
__device__ inline unsigned low_twice(unsigned x) { return __byte_perm(x, 0, 0x1010); }
__device__ inline unsigned high_twice(unsigned x) { return __byte_perm(x, 0, 0x3232); }

// Elements I and I + 4 of the eight in `word`, under `scale`, which is there twice.
template <int I>
__device__ inline unsigned pair(unsigned word, unsigned scale) {
  unsigned magnitude = I == 3 ? word >> 3 : word << (9 - 4 * I);
  unsigned sign = word << (12 - 4 * I);
  return multiply((magnitude & 0x0e000e00) | (sign & 0x80008000), scale);
}

__device__ inline unsigned shared_address(const void* p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

// Two fp32 as fp16, the first in the lower half.
__device__ inline unsigned narrow(float low, float high) {
  unsigned both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

#endif
