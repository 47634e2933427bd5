// kernels/device/ptx_tensor.h for the lane emulator: the same names, on a CPU. See cuda.h and
// tensor.cpp.
#ifndef MNKBENCH_PTX_TENSOR
#define MNKBENCH_PTX_TENSOR
#include "ptx_barrier.h"

struct alignas(64) TensorMap { unsigned long long words[16]; };

HIDDEN inline void copy_tile(unsigned to, const TensorMap *map, int column, int row, unsigned bar) {
  emu_copy_tile(to, map, column, row, bar);
}

#endif
