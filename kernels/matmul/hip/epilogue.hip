// The epilogue as a kernel of its own, elementwise, as torch.relu after torch.mm.
//
// Idea: none; this launch and its trip through memory are what fused kernels save. Each lane
// moves 16 bytes of a row, one by one where a row is ragged or not aligned. `in` may be `out`.
//
//   in   [M, N], rows ldin apart     bias [N] or null
//   out  [M, N], rows ldout apart    grid (ceil(N / W / 64), blocks of 4 rows), block 256
#include "element.hip.h"

constexpr int W = 16 / sizeof(TYPE);

KERNEL(256) void epilogue_kernel(const TYPE* in, const TYPE* bias, TYPE* out, int M, int N,
                                 int ldin, int ldout, int rows, int relu) {
  int col = (block_x() * WAVE + thread_x() % WAVE) * W;
  int left = N - col;
  if (left <= 0) return;
  // Rows beyond what a grid may have are reached by striding.
  for (int row = block_y() * 4 + thread_x() / WAVE; row < M; row += rows) {
    Pack<TYPE, W> x = load<W>(in + (long long)row * ldin + col, left);
    Pack<TYPE, W> b = {};
    if (bias) b = load<W>(bias + col, left);
    for (int i = 0; i < W; i++) narrow(epilogue(widen(x.at[i]), widen(b.at[i]), relu), x.at[i]);
    store(out + (long long)row * ldout + col, x, left);
  }
}
