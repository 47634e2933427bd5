// The right answer, accumulated in double precision: y = x . W^T, or x . W, unpadded f64.
//
// Idea: nothing but the definition. One warp sums the products of one output element, each
// exact in f64. It judges other kernels and is itself judged against the host.
//
//   x [M, K]   W as [N, K], or [K, N] where not transposed   y [M, N] f64
//   grid enough warps for M * N or fewer (they stride), block 128
#include "weight.cuh"

extern "C" __global__ void __launch_bounds__(128)
reference(const TYPE* x, const unsigned* w, const void* scales, const void* biases, double* y,
        int M, int N, int K, int mode, int bits, int group, int type, int transposed) {
  const Weights<TYPE> weights{w, scales, biases, transposed ? K : N, mode, bits, group};
  int lane = threadIdx.x % 32;
  long long count = (long long)M * N, warps = (long long)gridDim.x * 4;
  for (long long e = blockIdx.x * 4ll + threadIdx.x / 32; e < count; e += warps) {
    long long i = e / N, j = e - i * N;
    double sum = 0;
    for (long long k = lane; k < K; k += 32)
      sum += (double)widen(x[i * K + k]) *
             weights.at(transposed ? j * K + k : k * N + j);
    for (int apart = 16; apart; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
    if (lane == 0) y[e] = sum;
  }
}
