// y = x . W^T for a few rows of x: MLX's qmv and qmv_fast, a dot product for each simdgroup row.
//
// Idea: weights are read once, a row of 8 threadgroup rows by 32 lanes with 8 or 16 codes each;
// scale and bias are taken out of the sum of a group (`scale * sum(x * q) + bias * sum(x)`).
//
//   x [M, K]   W [N, K] codes   scales, biases [N, K / GROUP] (biases in affine mode)   y [M, N]
//   grid (ceil(N / 8), M), block 64 = 2 simdgroups of 4 rows. FAST: N is a multiple of 8, so
//   that no row is missing. Source: ml-explore/mlx, quantized.h and fp_quantized.h.
#include "../../common/mutant.h"
#include "weight.metal.h"

enum {
  ROWS = 4,
  VALUES = BITS == 6 || BITS == 8 ? 8 : 16,  // codes of a lane: one group's
  STEP = VALUES * 32,
  WORDS = VALUES * BITS / 16,
};
static_assert(GROUP % VALUES == 0, "a lane's codes share a scale");

KERNEL(64) void ENTRY(device const TYPE *x [[buffer(0)]], device const uchar *w [[buffer(1)]],
                      device const SCALE *scales [[buffer(2)]], device const TYPE *biases [[buffer(3)]],
                      device TYPE *y [[buffer(4)]], constant int &N [[buffer(5)]],
                      constant int &K [[buffer(6)]], WHERE) {
  const int lane = tid % 32, first = block.x * 8 + tid / 32 * ROWS;
  x += long(block.y) * K;
  float sums[ROWS] = {0, 0, 0, 0};
  const int end = MUTANT(metal_qmv_skip_last) ? K - STEP + lane * VALUES + 1 : int(K);
  // K is whole groups, so a lane has all of its codes or none.
  for (int k = lane * VALUES; k < end; k += STEP) {
    float v[VALUES], total = 0;
#pragma unroll
    for (int i = 0; i < VALUES; i++) {
      v[i] = float(x[k + i]);
      total += v[i];
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      if (!FAST && first + r >= N && !MUTANT(metal_qmv_no_row_guard)) break;
      const long row = first + r, group = CHANNEL ? row : (row * K + k) / GROUP;
      device const ushort *from = (device const ushort *)(w + (row * K + k) / 8 * BITS);
      ushort words[WORDS];
#pragma unroll
      for (int i = 0; i < WORDS; i++) words[i] = from[i];
      float sum = 0;
#pragma unroll
      for (int i = 0; i < VALUES; i++) sum += v[i] * value_of(code_in(words, i));
      sum *= scale_of(scales[group]);
      if (MODE == AFFINE) sum += float(biases[group]) * (MUTANT(metal_qmv_no_bias) ? 0 : total);
      sums[r] += sum;
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    float sum = lane_sum(sums[r]);
    if (lane == 0 && (FAST || first + r < N)) y[long(block.y) * N + first + r] = TYPE(sum);
  }
}
