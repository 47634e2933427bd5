// What CUDA and HIP (HIP=1) spell differently, for kernels that are one text on both: an entry, the
// place of a thread along x, and sums of the lanes of a warp. Timed kernels do not use it: each is
// written for the registers and lanes of one device.
#ifndef MNKBENCH_GRID
#define MNKBENCH_GRID
#if HIP
#include "../device/gfx.h"

constexpr int LANES = WAVE;
#define ENTRY(THREADS) KERNEL(THREADS) void
DEVICE int thread_index() { return thread_x(); }
DEVICE int block_index() { return block_x(); }
DEVICE int grid_size() { return grid_x(); }
DEVICE double add_lanes(double x, int apart) {
  u32x2 bits = __builtin_bit_cast(u32x2, x);
  u32x2 other = {lane_xor(bits[0], apart), lane_xor(bits[1], apart)};
  return x + __builtin_bit_cast(double, other);
}

#else
#include "../device/ptx.h"

constexpr int LANES = 32;
#define ENTRY(THREADS) extern "C" __global__ void __launch_bounds__(THREADS)
DEVICE int thread_index() { return threadIdx.x; }
DEVICE int block_index() { return blockIdx.x; }
DEVICE int grid_size() { return gridDim.x; }
// x plus that of the lane whose number differs in the bits of `apart`.
DEVICE double add_lanes(double x, int apart) { return x + __shfl_xor_sync(~0u, x, apart); }

#endif
#endif
