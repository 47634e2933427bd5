// C = silu(X . W1^T) * (X . W2^T) in f64, the definition in double precision.
//
//   X [M, K], W1 [N, K], W2 [N, K] of TYPE   grid enough warps for M * N or fewer (they stride), block 128
#include "../../matmul/cuda/tile/element.cuh"

extern "C" __global__ void __launch_bounds__(128)
reference(const TYPE* X, const TYPE* W1, const TYPE* W2, double* C, int M, int N, int K) {
  int lane = threadIdx.x % 32;
  long long count = (long long)M * N, warps = (long long)gridDim.x * 4;
  for (long long e = blockIdx.x * 4ll + threadIdx.x / 32; e < count; e += warps) {
    long long i = e / N, j = e - i * N;
    double gate = 0, up = 0;
    for (int k = lane; k < K; k += 32) {
      double x = widen(X[i * K + k]);
      gate += x * widen(W1[j * K + k]);
      up += x * widen(W2[j * K + k]);
    }
    for (int apart = 16; apart; apart /= 2) {
      gate += __shfl_xor_sync(~0u, gate, apart);
      up += __shfl_xor_sync(~0u, up, apart);
    }
    if (lane == 0) C[e] = gate / (1 + exp(-gate)) * up;
  }
}
