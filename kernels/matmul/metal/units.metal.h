// A tile of a product on the matrix units of an M5: what tile.metal.h has for simdgroup matrices, with
// squares of 16 x 16 and products of 16 x 32 x 16. B is stored by columns (nt).
//
// Compile-time: tile.metal.h's. Source: ml-explore/mlx, kernels/steel/gemm/nax.h.
static_assert(TN % 2 == 0 && BK % SIDE == 0, "a product has two squares of columns");

// The squares of a simdgroup: of the tile, its rows from `m` and its columns from `n` on.
struct Sums {
  float at[TM * TN][8];
  int m, n, row, col;  // and what this lane has of every square
};
DEVICE void start(thread Sums &s, uint tid) {
  int simd = tid / 32;
  s.m = simd / SN * TM * SIDE;
  s.n = simd % SN * TN * SIDE;
  s.row = unit_row(tid % 32);
  s.col = unit_col(tid % 32);
#pragma unroll
  for (int i = 0; i < TM * TN; i++)
#pragma unroll
    for (int e = 0; e < 8; e++) s.at[i][e] = 0;
}

// A lane's eight of the square at `from`, rows `ld` apart.
DEVICE void load_square(thread TYPE *to, threadgroup const TYPE *from, int ld) {
#pragma unroll
  for (int e = 0; e < 8; e++)
    to[e] = from[(MUTANT(metal_units_same_rows) ? 0 : e / 4 * 8) * ld + e % 4];
}

// Adds the product of a K step. `a` is [BM][BK], `b` [BN][BK], padded.
template <bool NT>
DEVICE void multiply(thread Sums &s, threadgroup const TYPE *a, threadgroup const TYPE *b) {
  static_assert(NT, "the product takes rows of B");
  const int LD = BK + PER;
  a += (s.m + s.row) * LD + s.col;
  b += (s.n + s.row) * LD + s.col;
#pragma unroll
  for (int k = 0; k < BK; k += SIDE) {
    TYPE left[TM][8];
#pragma unroll
    for (int i = 0; i < TM; i++) load_square(left[i], a + i * SIDE * LD + k, LD);
#pragma unroll
    for (int j = 0; j < TN; j += 2) {
      TYPE right[16];
      load_square(right, b + j * SIDE * LD + k, LD);
      load_square(right + 8, b + (MUTANT(metal_units_same_columns) ? j : j + 1) * SIDE * LD + k, LD);
#pragma unroll
      for (int i = 0; i < TM; i++)
        multiply_add_units(s.at[i * TN + j], s.at[i * TN + j + 1], left[i], right);
    }
  }
}

// Writes the sums to rows that are `ld` apart, of which `rows` and `cols` exist.
template <class T>
DEVICE void write(thread const Sums &s, device T *to, int ld, int rows, int cols) {
#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j++)
#pragma unroll
      for (int e = 0; e < 8; e++) {
        const int row = s.m + i * SIDE + s.row + e / 4 * 8, col = s.n + j * SIDE + s.col + e % 4;
        if (row < rows && (col < cols || MUTANT(metal_units_no_column_guard)))
          to[long(row) * ld + col] = T(s.at[i * TN + j][e]);
      }
}
