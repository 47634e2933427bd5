// y = x . W^T on simdgroup matrices, or the partial products of K slices: MLX's qmm_t and
// qmm_t_splitk, and ours with smaller tiles.
//
// Idea: weights are decoded into threadgroup memory, once for all rows of x of a tile. A tile of
// 32 rows of x wastes most of its work on 12 of them: BM 8 and 16 do not. Slices of K are whole
// groups long but for the last, which has what is left.
//
//   x [M, K]   W [N, K] codes   scales, biases [N, K / GROUP] (biases in affine mode)
//   out [slices, M, N] of OUT: y itself where there is one slice
//   grid (ceil(N / BN), ceil(M / BM), slices), block 32 * SM * SN
//   threadgroup memory: both tiles, rows padded by 16 bytes. Source: ml-explore/mlx#3120.
#include "../matmul/tile.metal.h"
#include "weight.metal.h"

// Decodes BN rows of BK weights; rows beyond `rows` and weights beyond `depth` become 0.
DEVICE void decode(device const uchar *w, device const SCALE *scales, device const TYPE *biases,
                   long first, int K, int rows, int depth, threadgroup TYPE *to, uint tid) {
  const int ACROSS = BK / 8;
  for (int at = tid; at < BN * ACROSS; at += THREADS) {
    const int row = at / ACROSS, k = at % ACROSS * 8;
    threadgroup TYPE *p = to + row * (BK + PER) + k;
    if (row < rows && k < depth) {
      const long i = first + long(row) * K + k;
      const Eight codes = load_eight(w + i / 8 * BITS);
      const float scale = scale_of(scales[i / GROUP]);
      float bias = 0;
      if (MODE == AFFINE) bias = float(biases[i / GROUP]);
#pragma unroll
      for (int j = 0; j < 8; j++) p[j] = TYPE(scale * value_of(code_of(codes, j)) + bias);
    } else {
#pragma unroll
      for (int j = 0; j < 8; j++) p[j] = TYPE(0.0f);
    }
  }
}

KERNEL(THREADS) void ENTRY(device const TYPE *x [[buffer(0)]], device const uchar *w [[buffer(1)]],
                           device const SCALE *scales [[buffer(2)]],
                           device const TYPE *biases [[buffer(3)]], device OUT *out [[buffer(4)]],
                           constant int &M [[buffer(5)]], constant int &N [[buffer(6)]],
                           constant int &K [[buffer(7)]], constant int &slice [[buffer(8)]],
                           constant int &whole [[buffer(9)]], WHERE, ROOM) {
  threadgroup TYPE *a = (threadgroup TYPE *)lds, *b = a + BM * (BK + PER);
  const int m0 = block.y * BM, n0 = block.x * BN;
  const int from = block.z * slice, end = min(int(K), from + slice);
  x += long(m0) * K;

  Sums sums;
  start(sums, tid);
  for (int k = from; k < end; k += BK) {
    fetch<BM, BK>(x + k, K, M - m0, end - k, whole, a, tid);
    decode(w, scales, biases, long(n0) * K + k, K, N - n0, end - k, b, tid);
    barrier();
    multiply<true>(sums, a, b);
    barrier();
  }
  write(sums, out + (long(block.z) * M + m0) * N + n0, N, M - m0, N - n0);
}
