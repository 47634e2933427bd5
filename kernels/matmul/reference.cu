// The right answer, accumulated in double precision: C = epilogue(A . B), unpadded f64.
//
// Idea: nothing but the definition. One warp (on HIP a wave: HIP=1) sums the products of one
// output element, each exact in f64; B's element (k, j) is at k * step_k + j * step_n, so one
// kernel serves both layouts. It judges other kernels and is itself judged against the host.
//
//   A [M, K], rows lda apart   B by steps   bias [N] or null   C [M, N] f64
//   grid enough warps for M * N or fewer (they stride), block of 4 warps
// What CUDA and HIP spell differently: an entry, the place of a thread, and sums of lanes. Timed
// kernels do not use it: each is written for the registers and lanes of one device.
#if HIP
#include "hip/element.hip.h"

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
#include "cuda/tile/element.cuh"

constexpr int LANES = 32;
#define ENTRY(THREADS) extern "C" __global__ void __launch_bounds__(THREADS)
DEVICE int thread_index() { return threadIdx.x; }
DEVICE int block_index() { return blockIdx.x; }
DEVICE int grid_size() { return gridDim.x; }
// x plus that of the lane whose number differs in the bits of `apart`.
DEVICE double add_lanes(double x, int apart) { return x + __shfl_xor_sync(~0u, x, apart); }

#endif

ENTRY(4 * LANES) reference(const TYPE* A, const TYPE* B, const TYPE* bias, double* C, int M, int N,
                           int K, long long lda, long long step_k, long long step_n, int relu) {
  int lane = thread_index() % LANES;
  long long count = (long long)M * N, warps = (long long)grid_size() * 4;
  for (long long e = block_index() * 4ll + thread_index() / LANES; e < count; e += warps) {
    long long i = e / N, j = e - i * N;
    double sum = 0;
    for (int k = lane; k < K; k += LANES)
      sum += (double)widen(A[i * lda + k]) * widen(B[k * step_k + j * step_n]);
    for (int apart = LANES / 2; apart; apart /= 2) sum = add_lanes(sum, apart);
    if (bias) sum += widen(bias[j]);
    if (lane == 0) C[e] = relu && sum < 0 ? 0 : sum;
  }
}
