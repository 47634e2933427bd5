// The epilogue as a kernel of its own, elementwise, as torch.relu after torch.mm.
//
// Idea: none; this launch and its trip through memory are what fused kernels save.
// Each thread moves 16 bytes of a row (8 or 4 elements), one by one where a row is ragged
// or not aligned. `in` may be `out`.
//
//   in   [M, N], rows ldin apart     bias [N] or null
//   out  [M, N], rows ldout apart    block (x, 128 / x), grid (ceil(N / W / x), rows of blocks)
#include "../../common/mutant.h"
#include "tile/element.cuh"

constexpr int W = 16 / sizeof(TYPE);

extern "C" __global__ void __launch_bounds__(128)
epilogue_kernel(const TYPE* in, const TYPE* bias, TYPE* out, int M, int N, int ldin, int ldout,
                int relu) {
  int col = (blockIdx.x * blockDim.x + threadIdx.x) * W;
  int left = N - col;
  if (left <= 0) return;
  // Rows beyond what a grid may have are reached by striding.
  for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < M; row += gridDim.y * blockDim.y) {
    Pack<TYPE, W> x = load<W>(in + (long long)row * ldin + col, left);
    Pack<TYPE, W> b = {};
    if (bias) b = load<W>(bias + col, left);
    for (int i = 0; i < W; i++)
      narrow(epilogue(widen(x.at[i]), MUTANT(epilogue_no_bias) ? 0 : widen(b.at[i]), leastOf(relu)),
             x.at[i]);
    store(out + (long long)row * ldout + col, x, left);
  }
}
