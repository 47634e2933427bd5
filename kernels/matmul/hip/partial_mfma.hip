// The partial products of K slices on MFMA: 16-bit operands or IEEE fp32, fp32 sums.
//
// Idea: with M and N far below K, output tiles alone leave most of the GPU idle; slices of K
// become blocks too, each writing its own fp32 product, summed by a second kernel. While a
// step is multiplied, the next is on its way to registers: two places in the local data share
// and one barrier a step. Squares too few for the waves of a block: they take turns on k.
//
//   A [M, K], rows lda apart   B [K, N] (nn) or [N, K] (nt), rows ldb apart
//   P [K / slice, M, N] fp32   grid (tiles of M * tiles of N, K / slice), block 64 * WAVES
//   local data share: 2 * (BM + BN) * BK elements, at least WK * BM * BN fp32
#include "../../common/mutant.h"
#include "tile.hip.h"

template <bool WHOLE>
DEVICE void slice_of(const TYPE* A, const TYPE* B, float* P, int M, int N, int slice, int lda,
                     int ldb) {
  constexpr int A_CHUNKS = BM * CHUNKS, STAGE = (BM + BN) * CHUNKS;
  u32x4* ring = (u32x4*)LDS;
  int tiles = (M + BM - 1) / BM;
  int m0 = block_x() % tiles * BM, n0 = block_x() / tiles * BN, k0 = block_y() * slice;
  const TYPE* a = A + (long long)m0 * lda + k0;
  const TYPE* b = NT ? B + (long long)n0 * ldb + k0 : B + (long long)k0 * ldb + n0;
  int steps = (slice + BK - 1) / BK;

  PieceA piece_a;
  PieceB piece_b;
  auto fetch = [&](int step) __attribute__((always_inline)) {
    int k = step * BK;
    piece_a.template fetch<WHOLE>(a + k, lda, M - m0, slice - k);
    piece_b.template fetch<WHOLE>(b + (NT ? k : (long long)k * ldb), ldb, N - n0, slice - k);
  };
  auto put = [&](int place) __attribute__((always_inline)) {
    piece_a.put(ring + place * STAGE);
    piece_b.put(ring + place * STAGE + A_CHUNKS);
  };

  Sums sums;
  fetch(0);
  put(0);
  if (!MUTANT(hip_no_first_barrier)) barrier();
#pragma unroll 1
  for (int step = 0; step < steps; step++) {
    const u32x4* now = ring + step % 2 * STAGE;
    bool more = step + 1 < steps;
    if (more) fetch(step + 1);
    sums.step(now, now + A_CHUNKS);
    // Nobody reads the other place: all are past the barrier after the step before.
    if (more) put((step + 1 - MUTANT(hip_same_place)) % 2);
    if (!MUTANT(hip_no_step_barrier)) barrier();
  }

  sums.meet((f32x4*)LDS);
  float* p = P + (long long)block_y() * M * N;
#pragma unroll
  for (int i = 0; i < Sums::SQUARES; i++) {
    int row = m0 + sums.row(i), col = n0 + sums.col(i);
    if (!sums.owns(i) || col >= N) continue;
#pragma unroll
    for (int r = 0; r < 4; r++)
      if (row + r < M || MUTANT(hip_no_row_guard)) p[(long long)(row + r) * N + col] = sums.part[i][r];
  }
}

// `whole`: the rows of A and B start on 16 bytes in every slice and are whole chunks long.
KERNEL(THREADS) RESIDENT(PER_SIMD) void partial_mfma(const TYPE* A, const TYPE* B, float* P, int M, int N,
                                  int slice, int lda, int ldb, int whole) {
  if (whole) slice_of<true>(A, B, P, M, N, slice, lda, ldb);
  else slice_of<false>(A, B, P, M, N, slice, lda, ldb);
}
