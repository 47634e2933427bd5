// The right answer, accumulated in double precision: C = epilogue(A . B), unpadded f64.
//
// Idea: nothing but the definition. One wave sums the products of one output element, each
// exact in f64; B's element (k, j) is at k * step_k + j * step_n, so one kernel serves both
// layouts. It judges other kernels and is itself judged against the host.
//
//   A [M, K], rows lda apart   B by steps   bias [N] or null   C [M, N] f64
//   grid enough waves for M * N or fewer (they stride), block 256
#include "element.hip.h"

DEVICE double add_lanes(double x, int apart) {
  u32x2 bits = __builtin_bit_cast(u32x2, x);
  u32x2 other = {lane_xor(bits[0], apart), lane_xor(bits[1], apart)};
  return x + __builtin_bit_cast(double, other);
}

KERNEL(256) void reference(const TYPE* A, const TYPE* B, const TYPE* bias, double* C, int M, int N,
                         int K, long long lda, long long step_k, long long step_n, int relu) {
  int lane = thread_x() % WAVE;
  long long count = (long long)M * N, waves = (long long)grid_x() * 4;
  for (long long e = block_x() * 4ll + thread_x() / WAVE; e < count; e += waves) {
    long long i = e / N, j = e - i * N;
    double sum = 0;
    for (int k = lane; k < K; k += WAVE)
      sum += (double)widen(A[i * lda + k]) * widen(B[k * step_k + j * step_n]);
    for (int apart = WAVE / 2; apart; apart /= 2) sum = add_lanes(sum, apart);
    if (bias) sum += widen(bias[j]);
    if (lane == 0) C[e] = relu && sum < 0 ? 0 : sum;
  }
}
