// Sums the K slices' partial products, one block for each BM x BN tile of the output.
//
// Idea: the reducer has the shape of the product before it: a thread owns four columns of a
// row and walks the slices one after another. With M = N = 16 that is a single block, which
// waits for S dependent steps: what the split-axis reducer (sum_split.cu) mends.
//
//   P [S, M, N] fp32   bias [N] or null   C [M, N], rows ldc apart
//   grid (ceil(N / BN), ceil(M / BM)), block (BN / 4, threads / (BN / 4))
#include "../../common/mutant.h"
#include "tile/element.cuh"

extern "C" __global__ void __launch_bounds__(128)
sum_tile(const float* P, const TYPE* bias, TYPE* C, int M, int N, int S, int ldc, int BM,
         int relu) {
  int col = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  int left = N - col;
  if (left <= 0) return;
  int end = (int)(blockIdx.y + 1) * BM;
  if (!MUTANT(sum_tile_no_row_guard)) end = min(M, end);
  for (int row = blockIdx.y * BM + threadIdx.y; row < end; row += blockDim.y) {
    const float* p = P + (long long)row * N + col;
    Pack<float, 4> sum = {};
#pragma unroll 4
    for (int s = 0; s < S; s++) {
      Pack<float, 4> x = load<4>(p + (long long)s * M * N, left);
      for (int i = 0; i < 4; i++) sum.at[i] += x.at[i];
    }
    Pack<TYPE, 4> b = {}, c;
    if (bias) b = load<4>(bias + col, left);
    for (int i = 0; i < 4; i++)
      narrow(epilogue(sum.at[i], widen(b.at[i]), leastOf(relu)), c.at[i]);
    store(C + (long long)row * ldc + col, c, left);
  }
}
