// kernels/api/ptx_wgmma.h for the lane emulator: the same names, on a CPU. See cuda.h and
// wgmma.cpp.
#ifndef MNKBENCH_PTX_WGMMA
#define MNKBENCH_PTX_WGMMA
#include "ptx.h"

HIDDEN inline void wgmma_fence() { emu_wgmma_fence(); }
HIDDEN inline void wgmma_commit() { emu_wgmma_commit(); }
template <int PENDING> HIDDEN void wgmma_wait() { emu_wgmma_wait(PENDING); }

template <int N> HIDDEN void wgmma(float (&d)[N / 2], const unsigned *a, unsigned long long b) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "a number of columns that there is");
  emu_wgmma(d, N, a, b);
}

#endif
