// Products of warpgroups whose second operand is stored by rows: N lies along them (MN-major). A
// header of its own, so that the code of kernels that include ptx_mma.h, by which rows are recorded,
// does not change.
//
// PTX ISA: "wgmma.mma_async" (imm-trans-b, strides of MN-major layouts).
#ifndef MNKBENCH_PTX_MMA_MN
#define MNKBENCH_PTX_MMA_MN
#include "ptx_mma.h"

// Describes 16 rows of K of 16-bit elements. A row of 64 columns is 128 bytes, whose 16-byte chunks
// are permuted by the row (XOR with row % 8); the first of eight rows is at a multiple of 1024 bytes,
// and `address` may be up to 96 bytes into it. The next 64 columns are `apart` bytes on, a multiple
// of 1024. In a cluster an address has bits of the block's rank, which must not reach `apart`.
DEVICE unsigned long long descriptor_mn(unsigned address, unsigned apart) {
  return 1ull << 62 | 64ull << 32 | (address >> 4 & 0x3fff) | apart >> 4 << 16;
}

// As wgmma_f16 and wgmma_bf16 of two descriptors: `a` of descriptor(), `b` of descriptor_mn().
template <int N>
DEVICE void wgmma_f16_mn(float (&d)[N / 2], unsigned long long a, unsigned long long b);
template <int N>
DEVICE void wgmma_bf16_mn(float (&d)[N / 2], unsigned long long a, unsigned long long b);

#define WGMMA_MN_TYPE(N, TYPE, A, B)                                                                \
  template <>                                                                                      \
  DEVICE void wgmma_##TYPE##_mn<N>(float (&d)[N / 2], unsigned long long a, unsigned long long b) { \
    asm volatile("{ .reg .pred p; setp.eq.s32 p, 0, 0;\n"                                          \
                 "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." #TYPE "." #TYPE                 \
                 " {" D##N "}, %" #A ", %" #B ", p, 1, 1, 0, 1; }" : R##N : "l"(a), "l"(b));       \
  }
// A, B: the numbers of the operands after the sums.
#define WGMMA_MN(N, A, B)      \
  WGMMA_MN_TYPE(N, f16, A, B)  \
  WGMMA_MN_TYPE(N, bf16, A, B)
WGMMA_MN(16, 8, 9)
WGMMA_MN(32, 16, 17)
WGMMA_MN(64, 32, 33)
WGMMA_MN(128, 64, 65)
WGMMA_MN(192, 96, 97)
WGMMA_MN(256, 128, 129)

#endif
