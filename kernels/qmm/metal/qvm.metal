// y = x . W for a few rows of x, W stored as [K, N], or the partial products of K slices: MLX's
// qvm and qvm_split_k.
//
// Idea: groups run along N, so no sum over K has one scale: a lane takes a row of W and makes its
// weights in full, those of one group at most. What the lanes have of a column is added at the end.
//
//   x [M, K]   W [K, N] codes   scales, biases [K, N / GROUP] (biases in affine mode)
//   out [slices, M, N]: y itself where there is one slice, which is `slice` long but for the last
//   grid (ceil(N / (2 * COLS)), M, slices), block 64 = 2 simdgroups of COLS columns.
//   Source: ml-explore/mlx, quantized.h and fp_quantized.h.
#include "../../common/mutant.h"
#include "weight.metal.h"

enum { COLS = GROUP < 32 ? GROUP : 32 };
static_assert(COLS % 8 == 0 && GROUP % COLS == 0, "a lane's codes are whole eights of one group");

KERNEL(64) void ENTRY(device const TYPE *x [[buffer(0)]], device const uchar *w [[buffer(1)]],
                      device const SCALE *scales [[buffer(2)]], device const TYPE *biases [[buffer(3)]],
                      device TYPE *out [[buffer(4)]], constant int &N [[buffer(5)]],
                      constant int &K [[buffer(6)]], constant int &slice [[buffer(7)]], WHERE) {
  const int lane = tid % 32, simd = MUTANT(metal_qvm_same_columns) ? 0 : tid / 32;
  const int n0 = (block.x * 2 + simd) * COLS;
  // N is whole groups: a simdgroup has all of its columns or none.
  if (n0 >= N && !MUTANT(metal_qvm_no_column_guard)) return;
  const int from = block.z * slice;
  const int end = MUTANT(metal_qvm_long_slice) ? from + slice : min(int(K), from + slice);
  x += long(block.y) * K;
  float sums[COLS] = {0};
  for (int k = from + lane; k < end; k += 32) {
    const long at = long(k) * N + n0;
    const long group = CHANNEL ? k : (MUTANT(metal_qvm_same_scale) ? n0 : at) / GROUP;
    const float token = float(x[k]), scale = scale_of(scales[group]);
    float bias = 0;
    if (MODE == AFFINE && !MUTANT(metal_qvm_no_bias)) bias = float(biases[group]);
#pragma unroll
    for (int c = 0; c < COLS; c += 8) {
      const Eight codes = load_eight(w + (at + c) / 8 * BITS);
#pragma unroll
      for (int i = 0; i < 8; i++) sums[c + i] += token * (scale * value_of(code_of(codes, i)) + bias);
    }
  }
  float mine = 0;
#pragma unroll
  for (int c = 0; c < COLS; c++) {
    const float sum = MUTANT(metal_qvm_no_lane_sum) ? sums[c] : lane_sum(sums[c]);
    if (lane == c) mine = sum;
  }
  const long slices = MUTANT(metal_qvm_same_slice) ? 0 : long(block.z);
  if (lane < COLS || MUTANT(metal_qvm_all_lanes))
    out[(slices * blocks.y + block.y) * N + n0 + lane] = TYPE(mine);
}
