// The right answer, accumulated in double precision: C = epilogue(A . B), unpadded f64.
//
// Idea: nothing but the definition. One warp sums the products of one output element, each
// exact in f64; B's element (k, j) is at k * step_k + j * step_n, so one kernel serves both
// layouts. It judges other kernels and is itself judged against the host.
//
//   A [M, K], rows lda apart   B by steps   bias [N] or null   C [M, N] f64
//   grid enough warps for M * N or fewer (they stride), block 128
#include "tile/element.cuh"

extern "C" __global__ void __launch_bounds__(128)
reference(const TYPE* A, const TYPE* B, const TYPE* bias, double* C, int M, int N, int K,
        long long lda, long long step_k, long long step_n, int relu) {
  int lane = threadIdx.x % 32;
  long long count = (long long)M * N, warps = (long long)gridDim.x * 4;
  for (long long e = blockIdx.x * 4ll + threadIdx.x / 32; e < count; e += warps) {
    long long i = e / N, j = e - i * N;
    double sum = 0;
    for (int k = lane; k < K; k += 32)
      sum += (double)widen(A[i * lda + k]) * widen(B[k * step_k + j * step_n]);
    for (int apart = 16; apart; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
    if (bias) sum += widen(bias[j]);
    if (lane == 0) C[e] = relu && sum < 0 ? 0 : sum;
  }
}
