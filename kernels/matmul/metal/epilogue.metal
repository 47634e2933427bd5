// The epilogue as a kernel of its own, elementwise, as torch.relu after torch.mm.
//
// Idea: none; this launch and its trip through memory are what fused kernels save. `in` may be `out`.
//
//   in   [M, N], rows ldin apart     bias [N], not read unless `biased`
//   out  [M, N], rows ldout apart    grid (ceil(N / 64), ceil(M / 4)), block 256
#include "reduce.metal.h"

KERNEL(256) void epilogue_kernel(device const TYPE *in [[buffer(0)]],
                                 device const TYPE *bias [[buffer(1)]],
                                 device TYPE *out [[buffer(2)]], constant int &M [[buffer(3)]],
                                 constant int &N [[buffer(4)]], constant int &ldin [[buffer(5)]],
                                 constant int &ldout [[buffer(6)]], constant int &relu [[buffer(7)]],
                                 constant int &biased [[buffer(8)]], WHERE) {
  const int col = block.x * 64 + tid % 64, row = block.y * 4 + tid / 64;
  if (row >= M || col >= N) return;
  float b = 0;
  if (biased) b = float(bias[col]);
  out[long(row) * ldout + col] = TYPE(epilogue(float(in[long(row) * ldin + col]), b, relu));
}
