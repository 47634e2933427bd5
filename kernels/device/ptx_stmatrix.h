// Stores of two matrices of a warp. See ptx.h.
#ifndef MNKBENCH_PTX_STMATRIX
#define MNKBENCH_PTX_STMATRIX
#include "ptx_mma.h"

// stmatrix_transposed() of ptx_mma.h for two matrices: lanes 0 to 15 give the addresses. sm_90.
//
// PTX ISA: "stmatrix".
DEVICE void stmatrix_transposed(unsigned to, const unsigned (&r)[2]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(to), "r"(r[0]),
               "r"(r[1]) : "memory");
}

#endif
