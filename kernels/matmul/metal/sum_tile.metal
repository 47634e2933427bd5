// Sums the K slices' partial products, one threadgroup for each BM x BN tile of the output.
//
// Idea: the reducer has the shape of the product before it: a lane owns four columns of a row
// and walks the slices one after another. With M = N = 16 that is a single threadgroup, which
// waits for S dependent steps: what the split-axis reducer (sum_split.metal) mends.
//
//   P [S, M, N] fp32   bias [N], not read unless `biased`   C [M, N], rows ldc apart
//   grid (ceil(N / BN), ceil(M / BM)), block 256
#include "reduce.metal.h"

KERNEL(256) void sum_tile(device const float *P [[buffer(0)]], device const TYPE *bias [[buffer(1)]],
                          device TYPE *C [[buffer(2)]], constant int &M [[buffer(3)]],
                          constant int &N [[buffer(4)]], constant int &S [[buffer(5)]],
                          constant int &ldc [[buffer(6)]], constant int &BM [[buffer(7)]],
                          constant int &BN [[buffer(8)]], constant int &relu [[buffer(9)]],
                          constant int &biased [[buffer(10)]], WHERE) {
  const int fours = BN / 4, rows = 256 / fours;
  const int col = int(block.x) * BN + int(tid) % fours * 4, left = N - col;
  if (left <= 0) return;
  const int end = min((int(block.y) + 1) * BM, int(M));
  for (int row = int(block.y) * BM + int(tid) / fours; row < end; row += rows) {
    float sums[4] = {0, 0, 0, 0};
    for (int s = 0; s < S; s++) {
      float4 x = load4(P + (long(s) * M + row) * N + col, left, N % 4 == 0);
      for (int i = 0; i < 4; i++) sums[i] += x[i];
    }
    for (int i = 0; i < 4; i++) {
      if (i >= left) break;
      float b = 0;
      if (biased) b = float(bias[col + i]);
      C[long(row) * ldc + col + i] = TYPE(epilogue(sums[i], b, relu));
    }
  }
}
