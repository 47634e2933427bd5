// The epilogue as a kernel of its own, elementwise, as torch.relu after torch.mm.
//
// Idea: none; this launch and its trip through memory are what fused kernels save.
//
//   C [M, N], rows ldc apart, in its place   bias [N], not read unless `biased`
//   grid (ceil(N / 64), ceil(M / 4)), block 256
#include "reduce.metal.h"

KERNEL(256) void epilogue_kernel(device TYPE *C [[buffer(0)]], device const TYPE *bias [[buffer(1)]],
                                 constant int &M [[buffer(2)]], constant int &N [[buffer(3)]],
                                 constant int &ldc [[buffer(4)]], constant int &relu [[buffer(5)]],
                                 constant int &biased [[buffer(6)]], WHERE) {
  const int col = block.x * 64 + tid % 64, row = block.y * 4 + tid / 64;
  if (row >= M || col >= N) return;
  device TYPE *p = C + long(row) * ldc + col;
  float b = 0;
  if (biased) b = float(bias[col]);
  *p = TYPE(epilogue(float(*p), b, relu));
}
