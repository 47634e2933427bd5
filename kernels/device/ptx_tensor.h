// Copies of boxes of a matrix by the Tensor Memory Accelerator: one thread asks, what lies outside
// of the matrix comes as zeros, and what is written is swizzled as tensor cores read it. sm_90.
// See ptx.h and ptx_barrier.h, whose barriers such a copy tells.
//
// PTX ISA: "cp.async.bulk.tensor", "Tensor-map", "Tensor swizzling modes".
#ifndef MNKBENCH_PTX_TENSOR
#define MNKBENCH_PTX_TENSOR
#include "ptx_barrier.h"

// What the driver makes (cuTensorMapEncodeTiled): where the matrix is, of what size and type, its
// boxes and their swizzle. A kernel has it as a parameter `const __grid_constant__ TensorMap map`:
// without __grid_constant__ each thread would have a copy of its own, which the copies cannot read.
// Not CUtensorMap, which is cuda.h's, with which NVRTC would need an include path.
struct alignas(64) TensorMap { unsigned long long words[16]; };

// Copies the map's box that starts at (`row`, `column`), in elements and free to be negative, to
// `to`, a multiple of 128; `column` counts along the side where elements lie next to one another.
// All bytes of the box count at `bar`, those of zeros too. Rows of 128, 64 or 32 bytes follow one
// another swizzled: of each 128-byte line of shared memory, the 16-byte chunks are XORed with the
// line's number modulo 8, 4 or 2. With rows of 128 bytes from a multiple of 1024 on that number is
// the row's, which is what descriptor() of ptx_wgmma.h describes.
DEVICE void copy_tile(unsigned to, const TensorMap* map, int column, int row, unsigned bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               " [%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(column), "r"(row), "r"(bar)
               : "memory");
}

#endif
