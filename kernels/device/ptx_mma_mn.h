// Products of warpgroups of which an operand is stored by rows of K: N, or of the first operand M, lies
// along them (MN-major).
//
// PTX ISA: "wgmma.mma_async" (imm-trans-a, imm-trans-b, strides of MN-major layouts).
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

// A, B: the numbers of the operands after the sums. A_MN, B_MN: 1 if the operand is MN-major.
#define WGMMA_MAJOR_TYPE(NAME, N, TYPE, A, B, A_MN, B_MN)                                 \
  template <>                                                                             \
  DEVICE void wgmma_##TYPE##_##NAME<N>(float (&d)[N / 2], unsigned long long a,           \
                                       unsigned long long b) {                            \
    asm volatile("{ .reg .pred p; setp.eq.s32 p, 0, 0;\n"                                 \
                 "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." #TYPE "." #TYPE        \
                 " {" D##N "}, %" #A ", %" #B ", p, 1, 1, " #A_MN ", " #B_MN "; }" : R##N \
                 : "l"(a), "l"(b));                                                       \
  }
#define WGMMA_MAJOR(NAME, N, A, B, A_MN, B_MN)      \
  WGMMA_MAJOR_TYPE(NAME, N, f16, A, B, A_MN, B_MN)  \
  WGMMA_MAJOR_TYPE(NAME, N, bf16, A, B, A_MN, B_MN)
#define WGMMA_MN(N, A, B) WGMMA_MAJOR(mn, N, A, B, 0, 1)
WGMMA_MN(16, 8, 9)
WGMMA_MN(32, 16, 17)
WGMMA_MN(64, 32, 33)
WGMMA_MN(128, 64, 65)
WGMMA_MN(192, 96, 97)
WGMMA_MN(256, 128, 129)

// The same of a first operand of descriptor_mn(), whose 64 rows are one row of 128 bytes, and `b` of
// descriptor().
template <int N>
DEVICE void wgmma_f16_m_major(float (&d)[N / 2], unsigned long long a, unsigned long long b);
template <int N>
DEVICE void wgmma_bf16_m_major(float (&d)[N / 2], unsigned long long a, unsigned long long b);

#define WGMMA_M_MAJOR(N, A, B) WGMMA_MAJOR(m_major, N, A, B, 1, 0)
WGMMA_M_MAJOR(8, 4, 5)
WGMMA_M_MAJOR(16, 8, 9)
WGMMA_M_MAJOR(24, 12, 13)
WGMMA_M_MAJOR(32, 16, 17)
WGMMA_M_MAJOR(40, 20, 21)
WGMMA_M_MAJOR(48, 24, 25)
WGMMA_M_MAJOR(56, 28, 29)
WGMMA_M_MAJOR(64, 32, 33)
WGMMA_M_MAJOR(72, 36, 37)
WGMMA_M_MAJOR(80, 40, 41)
WGMMA_M_MAJOR(88, 44, 45)
WGMMA_M_MAJOR(96, 48, 49)
WGMMA_M_MAJOR(104, 52, 53)
WGMMA_M_MAJOR(112, 56, 57)
WGMMA_M_MAJOR(120, 60, 61)
WGMMA_M_MAJOR(128, 64, 65)
WGMMA_M_MAJOR(136, 68, 69)
WGMMA_M_MAJOR(144, 72, 73)
WGMMA_M_MAJOR(152, 76, 77)
WGMMA_M_MAJOR(160, 80, 81)
WGMMA_M_MAJOR(168, 84, 85)
WGMMA_M_MAJOR(176, 88, 89)
WGMMA_M_MAJOR(184, 92, 93)
WGMMA_M_MAJOR(192, 96, 97)
WGMMA_M_MAJOR(200, 100, 101)
WGMMA_M_MAJOR(208, 104, 105)
WGMMA_M_MAJOR(216, 108, 109)
WGMMA_M_MAJOR(224, 112, 113)
WGMMA_M_MAJOR(232, 116, 117)
WGMMA_M_MAJOR(240, 120, 121)
WGMMA_M_MAJOR(248, 124, 125)
WGMMA_M_MAJOR(256, 128, 129)

#endif
