// kernels/device/ptx_wgmma.h for the lane emulator: the same names, on a CPU. See cuda.h and
// wgmma.cpp.
#ifndef MNKBENCH_PTX_WGMMA
#define MNKBENCH_PTX_WGMMA
#include "ptx.h"

HIDDEN inline void wgmma_fence() { emu_wgmma_fence(); }
HIDDEN inline void wgmma_commit() { emu_wgmma_commit(); }
template <int PENDING> HIDDEN void wgmma_wait() { emu_wgmma_wait(PENDING); }

HIDDEN inline void show_products() { emu_show_products(); }
HIDDEN inline unsigned long long descriptor(unsigned address, int product) {
  return 1ull << 62 | 64ull << 32 | ((address >> 4) + (1 << 16) + 2 * product);
}

template <int N> HIDDEN void emu_wgmma_of(float (&d)[N / 2], EmuFactor a, unsigned long long b) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "a number of columns that there is");
  emu_wgmma(d, N, &a, b);
}
template <int N> HIDDEN void wgmma(float (&d)[N / 2], const unsigned *a, unsigned long long b) {
  emu_wgmma_of<N>(d, {a, 0, 0}, b);
}
template <int N> HIDDEN void wgmma_f16(float (&d)[N / 2], unsigned long long a, unsigned long long b) {
  emu_wgmma_of<N>(d, {nullptr, a, 0}, b);
}
template <int N> HIDDEN void wgmma_bf16(float (&d)[N / 2], unsigned long long a, unsigned long long b) {
  emu_wgmma_of<N>(d, {nullptr, a, 1}, b);
}

#endif
