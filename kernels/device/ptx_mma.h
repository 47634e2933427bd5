// A warp's product on tensor cores, and its operands from and to shared memory. See ptx.h.
//
// PTX ISA: "mma.m16n8k16 with floating point type" (fragment layouts), "ldmatrix", "stmatrix".
#ifndef MNKBENCH_PTX_MMA
#define MNKBENCH_PTX_MMA
#include "ptx.h"

// Four 8 x 8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8,
// a multiple of 16. A lane has columns 2 (l % 4) + {0, 1} of row l / 4 of each, or, transposed,
// these rows of column l / 4.
template <bool TRANSPOSED>
DEVICE void ldmatrix(unsigned (&r)[4], unsigned from) {
  if (TRANSPOSED)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
}
// The inverse of ldmatrix<true>. sm_90.
DEVICE void stmatrix_transposed(unsigned to, const unsigned (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
}

// 16 x 8 += 16 x 16 . 16 x 8 of 16-bit operands, fp32 sums. Lane l has columns 2 (l % 4) + {0, 1}
// of row l / 4 of the sums in `top` and of row l / 4 + 8 in `low`; of the first operand four
// pairs of k = 2 (l % 4) + {0, 1}: rows l / 4 and l / 4 + 8, and both again 8 k on; of the second,
// column l / 4, such a pair and the one 8 k on.
DEVICE void mma_f16(float* top, float* low, const unsigned* a, const unsigned* b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(top[0]), "+f"(top[1]), "+f"(low[0]), "+f"(low[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
DEVICE void mma_bf16(float* top, float* low, const unsigned* a, const unsigned* b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(top[0]), "+f"(top[1]), "+f"(low[0]), "+f"(low[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#endif
