// y = x . W^T or x . W on simdgroup matrices, or the partial products of K slices: MLX's qmm_t,
// qmm_n and qmm_t_splitk, and ours with smaller tiles.
//
// Idea: weights are decoded into threadgroup memory, once for all rows of x of a tile. A tile of
// 32 rows of x wastes most of its work on 12 of them: BM 8 and 16 do not. Slices of K are whole
// steps long but for the last, which has what is left.
//
//   x [M, K]   codes of W [N, K] (nt) or [K, N] (nn)   scales, biases (in affine mode): one for GROUP
//   codes of a row   out [slices, M, N] of OUT: y itself where there is one slice
//   grid (ceil(N / BN), ceil(M / BM), slices), block 32 * SM * SN   whole: x's chunks of 16 bytes
//   threadgroup memory: both tiles, rows padded by 16 bytes. Source: ml-explore/mlx#3120.
#include "../../common/mutant.h"
#include "../../matmul/metal/tile.metal.h"
#include "weight.metal.h"

enum Layout { nn, nt };

// Decodes ROWS x COLS weights from the one of number `first` on, of row `row0` of W, rows `ld` apart.
// What is beyond `rows` and `cols` becomes 0; a row ends with a group, and so with eight codes.
template <int ROWS, int COLS>
DEVICE void decode(device const uchar *w, device const SCALE *scales, device const TYPE *biases,
                   long first, int row0, int ld, int rows, int cols, threadgroup TYPE *to, uint tid) {
  const int ACROSS = COLS / 8;
  for (int at = tid; at < ROWS * ACROSS; at += THREADS) {
    const int row = at / ACROSS, col = at % ACROSS * 8;
    threadgroup TYPE *p = to + row * (COLS + PER) + col;
    if ((row < rows || MUTANT(metal_qmm_no_row_guard)) &&
        (col < cols || MUTANT(metal_qmm_no_column_guard))) {
      const long i = first + long(row) * ld + col;
      const Eight codes = load_eight(w + i / 8 * BITS);
      const long group = CHANNEL && !MUTANT(metal_qmm_channel_groups) ? row0 + row : i / GROUP;
      float scale = scale_of(scales[MUTANT(metal_qmm_same_scale) ? first / GROUP : group]);
      if (MUTANT(metal_qmm_no_scale)) scale = 1;
      float bias = 0;
      if (MODE == AFFINE && !MUTANT(metal_qmm_no_bias)) bias = float(biases[group]);
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
  const bool NT = LAYOUT == nt;
  threadgroup TYPE *a = (threadgroup TYPE *)lds, *b = a + BM * (BK + PER);
  const int m0 = block.y * BM, n0 = block.x * BN;
  const int from = block.z * slice, ld = MUTANT(metal_qmm_wrong_ld) ? int(K) : int(N);
  int end = min(int(K), from + slice);
  if (MUTANT(metal_qmm_no_last_slice) && from + slice > K) end = from;
  if (MUTANT(metal_qmm_long_slice)) end = from + slice;
  x += long(m0) * K;

  Sums sums;
  start(sums, tid);
  for (int k = from; k < end; k += BK) {
    fetch<BM, BK>(x + k, K, M - m0, end - k, whole, a, tid);
    if (NT) decode<BN, BK>(w, scales, biases, long(n0) * K + k, n0, K, N - n0, end - k, b, tid);
    else decode<BK, BN>(w, scales, biases, long(k) * N + n0, k, ld, end - k, N - n0, b, tid);
    if (!MUTANT(metal_qmm_early_product)) barrier();
    multiply<LAYOUT == nt>(sums, a, b);
    if (!MUTANT(metal_qmm_early_refill)) barrier();
  }
  write(sums, out + (long(block.z) * M + m0) * N + n0, N, M - m0, N - n0);
}
