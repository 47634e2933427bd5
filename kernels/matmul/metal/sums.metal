// Sums the K slices' partial products, and applies the epilogue to the sums or as a kernel of its own.
//
//   P [S, M, N] fp32, 16-byte aligned   bias [N], not read unless `biased`   C [M, N], rows ldc apart
#include "../../common/mutant.h"
#include "reduce.metal.h"

// Sums the K slices' partial products, one threadgroup for each BM x BN tile of the output.
//
// Idea: the reducer has the shape of the product before it: a lane owns four columns of a row
// and walks the slices one after another. With M = N = 16 that is a single threadgroup, which
// waits for S dependent steps: what the split-axis reducer below mends.
//
//   grid (ceil(N / BN), ceil(M / BM)), block 256
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

// Sums the K slices' partial products, with the slices spread over the lanes of a threadgroup.
//
// Idea: the output is a flat line of M * N elements, cut into pieces of X; of a piece, X / 4
// lanes read one slice (16 bytes each) and the threadgroup reads 1024 / X slices at once. Sums
// then meet by lane exchange and once in threadgroup memory. A small output so has as many
// loads in flight as a large one.
//
//   P [S, M, N] fp32, 16-byte aligned   bias [N], not read unless `biased`   C [M, N], rows ldc
//   apart   grid ceil(M * N / X), block 256, 8 * X * 4 bytes; entries for X = 32, 16, 8: the
//   more slices, the narrower
template <int X>
DEVICE void sum_piece(device const float *P, device const TYPE *bias, device TYPE *C, int M, int N,
                int S, int ldc, int relu, int biased, uint block, uint tid,
                threadgroup float *met) {
  const int LANES = X / 4, ROWS = 256 / LANES;
  const int count = M * N, x = block * X + tid % LANES * 4;
  // Where M * N is no multiple of 4, the slices are not aligned either.
  const bool whole = count % 4 == 0;
  float sums[4] = {0, 0, 0, 0};
  for (int s = tid / LANES; s < S - MUTANT(metal_sum_skip_slice); s += ROWS) {
    float4 v = load4(P + long(s) * count + x, count - x, whole);
    for (int j = 0; j < 4; j++) sums[j] += v[j];
  }
#pragma unroll
  for (int apart = LANES; apart < 32; apart *= 2)
    for (int j = 0; j < 4; j++) sums[j] += lane_xor(sums[j], apart);
  if (tid % 32 < uint(LANES))
    for (int j = 0; j < 4; j++) met[tid / 32 * X + tid % 32 * 4 + j] = sums[j];
  if (!MUTANT(metal_sum_no_barrier)) barrier();
  const int e = block * X + tid;
  if (tid >= uint(X) || e >= count) return;
  float total = 0;
#pragma unroll
  for (int w = 0; w < 8; w++) total += met[w * X + tid];
  const int row = e / N, col = e - row * N;
  float b = 0;
  if (biased) b = float(bias[col]);
  C[long(row) * ldc + col] = TYPE(epilogue(total, b, relu));
}

#define ENTRY(X)                                                                             \
  KERNEL(256) void sum_split_##X(                                                            \
      device const float *P [[buffer(0)]], device const TYPE *bias [[buffer(1)]],            \
      device TYPE *C [[buffer(2)]], constant int &M [[buffer(3)]], constant int &N [[buffer(4)]], \
      constant int &S [[buffer(5)]], constant int &ldc [[buffer(6)]],                        \
      constant int &relu [[buffer(7)]], constant int &biased [[buffer(8)]], WHERE, ROOM) {   \
    sum_piece<X>(P, bias, C, M, N, S, ldc, relu, biased, block.x, tid, (threadgroup float *)lds);  \
  }
ENTRY(32)
ENTRY(16)
ENTRY(8)

// The epilogue as a kernel of its own, elementwise, as torch.relu after torch.mm.
//
// Idea: none; this launch and its trip through memory are what fused kernels save. `in` may be `out`.
//
//   in   [M, N], rows ldin apart     bias [N], not read unless `biased`
//   out  [M, N], rows ldout apart    grid (ceil(N / 64), ceil(M / 4)), block 256
KERNEL(256) void epilogue_kernel(device const TYPE *in [[buffer(0)]],
                                 device const TYPE *bias [[buffer(1)]],
                                 device TYPE *out [[buffer(2)]], constant int &M [[buffer(3)]],
                                 constant int &N [[buffer(4)]], constant int &ldin [[buffer(5)]],
                                 constant int &ldout [[buffer(6)]], constant int &relu [[buffer(7)]],
                                 constant int &biased [[buffer(8)]], WHERE) {
  const int col = block.x * 64 + tid % 64, row = block.y * 4 + tid / 64;
  if (row >= M || (col >= N && !MUTANT(metal_epilogue_no_column_guard))) return;
  float b = 0;
  if (biased) b = float(bias[col]);
  out[long(row) * ldout + col] = TYPE(epilogue(float(in[long(row) * ldin + col]), b, relu));
}
