// Sums the K slices' partial products, one block for each BM x BN tile of the output.
//
// Idea: the reducer has the shape of the product before it: a lane owns four columns of a row
// and walks the slices one after another. With M = N = 16 that is a single block, which waits
// for S dependent steps: what the split-axis reducer (sum_split.hip) mends.
//
//   P [S, M, N] fp32   bias [N] or null   C [M, N], rows ldc apart
//   grid (ceil(N / BN), ceil(M / BM)), block 256
#include "element.hip.h"

KERNEL(256) void sum_tile(const float* P, const TYPE* bias, TYPE* C, int M, int N, int S,
                          int ldc, int BM, int BN, int relu) {
  int fours = BN / 4, rows = 256 / fours;
  int col = block_x() * BN + thread_x() % fours * 4, left = N - col;
  if (left <= 0) return;
  int end = (block_y() + 1) * BM < M ? (block_y() + 1) * BM : M;
  for (int row = block_y() * BM + thread_x() / fours; row < end; row += rows) {
    const float* p = P + (long long)row * N + col;
    Pack<float, 4> sum = {};
#pragma unroll 4
    for (int s = 0; s < S; s++) {
      Pack<float, 4> x = load<4>(p + (long long)s * M * N, left);
      for (int i = 0; i < 4; i++) sum.at[i] += x.at[i];
    }
    Pack<TYPE, 4> b = {}, c;
    if (bias) b = load<4>(bias + col, left);
    for (int i = 0; i < 4; i++) narrow(epilogue(sum.at[i], widen(b.at[i]), relu), c.at[i]);
    store(C + (long long)row * ldc + col, c, left);
  }
}
