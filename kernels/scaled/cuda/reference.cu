// C = scaleA . A . (scaleB . B)^T in f64, the definition in double precision: E4M3 A[M, K] and B[N, K].
//
//   scales as in point.ts   grid enough warps for M * N or fewer (they stride), block 128
#include "../../device/ptx.h"

enum Scale { tensor, row, block128 };
constexpr int BLOCK = 128;

// From f16 without its exponent's bias: seven bits further up a code is f16 but for 2^8.
__device__ inline double value(unsigned char code) {
  return (double)f16_to_f32((unsigned short)((code & 0x80) << 8 | (code & 0x7f) << 7)) * 256;
}

extern "C" __global__ void __launch_bounds__(128)
reference(const unsigned char* A, const unsigned char* B, const float* scaleA,
          const float* scaleB, double* C, int M, int N, int K, int scale) {
  int lane = threadIdx.x % 32, blocks = (K + BLOCK - 1) / BLOCK, stride = (blocks + 3) / 4 * 4;
  long long count = (long long)M * N, warps = (long long)gridDim.x * 4;
  for (long long e = blockIdx.x * 4ll + threadIdx.x / 32; e < count; e += warps) {
    long long i = e / N, j = e - i * N;
    double sum = 0;
    for (int k = lane; k < K; k += 32) {
      int block = k / BLOCK;
      double a = scaleA[scale == block128 ? (long long)block * M + i : scale == row ? i : 0];
      double b = scaleB[scale == block128 ? j / BLOCK * stride + block : scale == row ? j : 0];
      sum += value(A[i * K + k]) * value(B[j * K + k]) * a * b;
    }
    for (int apart = 16; apart; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
    if (lane == 0) C[e] = sum;
  }
}
