// A tile of a product on simdgroup matrices: how it gets into threadgroup memory, and how the
// simdgroups of a threadgroup multiply it.
//
// Compile-time: BM, BN, BK, SM, SN (simdgroups along M and N) and TYPE.
//
// Operands lie in threadgroup memory as stored, rows padded by 16 bytes so that the rows of a
// square lie in different banks; lanes widen what they read, so that products and sums are fp32
// (as in MLX's steel/gemm/mma.h).
#ifndef MNKBENCH_TILE_METAL
#define MNKBENCH_TILE_METAL
#include "../../common/mutant.h"
#include "../../device/msl.h"

#ifndef MATRIX_UNITS
#define MATRIX_UNITS 0
#endif

enum {
  SIDE = MATRIX_UNITS ? 16 : 8,
  THREADS = 32 * SM * SN,
  PER = 16 / sizeof(TYPE),  // elements of 16 bytes
  TM = BM / (SIDE * SM),    // squares of a simdgroup
  TN = BN / (SIDE * SN),
};
static_assert(TM * SIDE * SM == BM && TN * SIDE * SN == BN, "simdgroups share a tile evenly");
static_assert(BK % SIDE == 0 && BK % PER == 0 && BN % PER == 0, "rows are whole chunks");

// Copies ROWS x COLS from rows that are `ld` apart; what is beyond `rows` and `cols` becomes 0.
// `whole`: chunks start on 16 bytes, and each exists wholly or not at all.
template <int ROWS, int COLS>
DEVICE void fetch(device const TYPE *from, int ld, int rows, int cols, int whole,
                  threadgroup TYPE *to, uint tid) {
  const int ACROSS = COLS / PER;
  for (int at = tid; at < ROWS * ACROSS; at += THREADS) {
    int row = at / ACROSS, col = at % ACROSS * PER;
    threadgroup TYPE *p = to + row * (COLS + PER) + col;
    device const TYPE *q = from + long(row) * ld + col;
    if (whole && row < rows && col < cols) {
      *(threadgroup uint4 *)p = *(device const uint4 *)q;
    } else {
#pragma unroll
      for (int i = 0; i < PER; i++) {
        TYPE x = TYPE(0.0f);
        if (row < rows && (col + i < cols || MUTANT(metal_no_k_guard))) x = q[i];
        p[i] = x;
      }
    }
  }
}

#if MATRIX_UNITS
#include "units.metal.h"
#else
// The squares of a simdgroup: of the tile, its rows from `m` and its columns from `n` on.
struct Sums {
  float2 at[TM * TN];
  int m, n, row, col;  // and what this lane has of every square
};
DEVICE void start(thread Sums &s, uint tid) {
  int simd = tid / 32;
  s.m = MUTANT(metal_same_rows) ? 0 : simd / SN * TM * SIDE;
  s.n = simd % SN * TN * SIDE;
  s.row = square_row(tid % 32);
  s.col = square_col(tid % 32);
#pragma unroll
  for (int i = 0; i < TM * TN; i++) s.at[i] = float2{0, 0};
}

// Adds the product of a K step. `a` is [BM][BK], `b` [BN][BK] where NT, else [BK][BN], padded.
template <bool NT>
DEVICE void multiply(thread Sums &s, threadgroup const TYPE *a, threadgroup const TYPE *b) {
  const int LDA = BK + PER, LDB = (NT ? BK : BN) + PER;
  a += (s.m + s.row) * LDA + s.col;
  const bool swap = MUTANT(metal_swapped_b);
  const int row = swap ? s.col : s.row, col = swap ? s.row : s.col;
  b += NT ? (s.n + col) * LDB + row : row * LDB + s.n + col;
#pragma unroll
  for (int k = 0; k < BK; k += SIDE) {
    float2 left[TM], right[TN];
#pragma unroll
    for (int i = 0; i < TM; i++) {
      threadgroup const TYPE *p = a + i * SIDE * LDA + k;
      left[i] = float2{float(p[0]), float(p[1])};
      if (MUTANT(metal_swapped_lanes)) left[i] = float2{left[i][1], left[i][0]};
    }
#pragma unroll
    for (int j = 0; j < TN; j++) {
      threadgroup const TYPE *p = b + (NT ? j * SIDE * LDB + k : k * LDB + j * SIDE);
      right[j] = float2{float(p[0]), float(p[NT ? LDB : 1])};
    }
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
      for (int j = MUTANT(metal_skip_square); j < TN; j++)
        multiply_add(s.at[i * TN + j], left[i], right[j]);
  }
}

// Writes the sums to rows that are `ld` apart, of which `rows` and `cols` exist.
template <class T>
DEVICE void write(thread const Sums &s, device T *to, int ld, int rows, int cols) {
#pragma unroll
  for (int i = 0; i < TM; i++) {
    int row = s.m + i * SIDE + s.row;
    if (row >= rows && !MUTANT(metal_no_row_guard)) continue;
#pragma unroll
    for (int j = 0; j < TN; j++) {
      int col = s.n + j * SIDE + s.col;
      device T *p = to + long(row) * ld + col;
      if (col < cols) p[0] = T(s.at[i * TN + j][0]);
      if (col + 1 < cols || MUTANT(metal_no_column_guard)) p[1] = T(s.at[i * TN + j][1]);
    }
  }
}
#endif

#endif
