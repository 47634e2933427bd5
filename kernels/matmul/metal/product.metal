// The partial products of K slices on simdgroup matrices: operands widened, fp32 sums.
//
// Idea: with M and N far below K, output tiles alone leave most of the GPU idle; slices of K
// become threadgroups too, each writing its own fp32 product, summed by a second kernel. One
// place in threadgroup memory and two barriers a step: other threadgroups of the same core hide
// the loads, as in MLX.
//
//   A [M, K], rows lda apart   B [K, N] (nn) or [N, K] (nt), rows ldb apart
//   P [K / slice, M, N] fp32   grid (tiles of N, tiles of M, K / slice), block 32 * SM * SN
//   threadgroup memory: both tiles, rows padded by 16 bytes
#include "../../common/mutant.h"
#include "reduce.metal.h"
#include "tile.metal.h"

enum Layout { nn, nt };

// `whole`: the rows of A and B start on 16 bytes in every slice and are whole chunks long.
KERNEL(THREADS) void partial_simd(device const TYPE *A [[buffer(0)]], device const TYPE *B [[buffer(1)]],
                                  device float *P [[buffer(2)]], constant int &M [[buffer(3)]],
                                  constant int &N [[buffer(4)]], constant int &slice [[buffer(5)]],
                                  constant int &lda [[buffer(6)]], constant int &ldb [[buffer(7)]],
                                  constant int &whole [[buffer(8)]], WHERE, ROOM) {
  const bool NT = LAYOUT == nt;
  threadgroup TYPE *a = (threadgroup TYPE *)lds, *b = a + BM * (BK + PER);
  const int m0 = block.y * BM, n0 = block.x * BN;
  const long k0 = MUTANT(metal_same_slice) ? 0 : long(block.z) * slice;
  device const TYPE *p = A + long(m0) * lda + k0;
  device const TYPE *q = NT ? B + long(n0) * ldb + k0 : B + k0 * ldb + n0;

  Sums sums;
  start(sums, tid);
  for (int k = 0; k + BK * MUTANT(metal_skip_step) < slice; k += BK) {
    fetch<BM, BK>(p + k, lda, M - m0, slice - k, whole, a, tid);
    if (NT) fetch<BN, BK>(q + k, ldb, N - n0, slice - k, whole, b, tid);
    else fetch<BK, BN>(q + long(k) * ldb, ldb, slice - k, N - n0, whole, b, tid);
    if (!MUTANT(metal_early_product)) barrier();
    multiply<LAYOUT == nt>(sums, a, b);
    if (!MUTANT(metal_early_refill)) barrier();
  }
  write(sums, P + (long(block.z) * M + m0) * N + n0, N, M - m0, N - n0);
}

// C = epilogue(A . B) in one launch on simdgroup matrices, an output tile for each threadgroup.
//
// Idea: none; K is one slice, so that a small output has few threadgroups. What the kernels that
// cut K are measured against where there is no library.
//
//   A [M, K], rows lda apart   B [K, N] (nn) or [N, K] (nt), rows ldb apart   C [M, N], rows ldc
//   apart   bias [N], not read unless `biased`   grid (tiles of N, tiles of M), block 32 * SM * SN
KERNEL(THREADS) void product_simd(device const TYPE *A [[buffer(0)]], device const TYPE *B [[buffer(1)]],
                                  device const TYPE *bias [[buffer(2)]], device TYPE *C [[buffer(3)]],
                                  constant int &M [[buffer(4)]], constant int &N [[buffer(5)]],
                                  constant int &K [[buffer(6)]], constant int &lda [[buffer(7)]],
                                  constant int &ldb [[buffer(8)]], constant int &ldc [[buffer(9)]],
                                  constant int &whole [[buffer(10)]], constant int &relu [[buffer(11)]],
                                  constant int &biased [[buffer(12)]], WHERE, ROOM) {
  const bool NT = LAYOUT == nt;
  threadgroup TYPE *a = (threadgroup TYPE *)lds, *b = a + BM * (BK + PER);
  const int m0 = block.y * BM, n0 = block.x * BN;
  device const TYPE *p = A + long(m0) * lda;
  device const TYPE *q = NT ? B + long(n0) * ldb : B + n0;

  Sums sums;
  start(sums, tid);
  for (int k = 0; k < K; k += BK) {
    fetch<BM, BK>(p + k, lda, M - m0, K - k, whole, a, tid);
    if (NT) fetch<BN, BK>(q + k, ldb, N - n0, K - k, whole, b, tid);
    else fetch<BK, BN>(q + long(k) * ldb, ldb, K - k, N - n0, whole, b, tid);
    barrier();
    multiply<LAYOUT == nt>(sums, a, b);
    barrier();
  }
#pragma unroll
  for (int j = 0; j < TN; j++)
    for (int e = 0; e < 2; e++) {
      int col = n0 + sums.n + j * SIDE + sums.col + e;
      float x = 0;
      if (biased && col < N) x = float(bias[col]);
#pragma unroll
      for (int i = 0; i < TM; i++) sums.at[i * TN + j][e] = epilogue(sums.at[i * TN + j][e], x, relu);
    }
  write(sums, C + long(m0) * ldc + n0, ldc, M - m0, N - n0);
}
