// One K step in IEEE fp32: fused multiply-adds, never TF32.
//
// Each lane of a warp keeps WM / 8 rows by WN / 4 columns of sums in registers, and shared
// memory is read 16 bytes at a time: four k of a row of A, and four columns (nn) or four k
// (nt) of B.
#ifndef MNKBENCH_PRODUCT_FFMA
#define MNKBENCH_PRODUCT_FFMA
#include "../api/ptx_memory.h"
#include "ring.cuh"

__device__ inline Pack<float, 4> lds(unsigned from) {
  Pack<float, 4> x;
  load_shared(x.at, from);
  return x;
}

// A warp's WM x WN of sums: lanes 8 x 4, rows 8 apart, columns in fours 16 apart. A slot is
// four columns of a row.
struct Product {
  // nt: lanes read rows of B that are 4 apart.
  using TileB = Tile<NT ? BN : BK, NT ? BK : BN, NT ? 2 : 0>;
  using Vec = Pack<float, 4>;
  static constexpr int ROWS = WM / 8, FOURS = WN / 16, SLOTS = ROWS * FOURS;
  Vec part[SLOTS] = {};
  int m, n, k;

  __device__ Product(int m, int n, int k, int lane)
      : m(m + lane / 4), n(n + lane % 4 * 4), k(k) {}

  // The thread's copies of a step have come.
  __device__ void copied() const {}

  __device__ void step(unsigned a, unsigned b) {
    static_assert(BK % (4 * WK) == 0, "every warp has steps of four k");
#pragma unroll 4
    for (int i = 0; i < BK / 4 / WK; i++) {
      int k4 = i * WK + k;
      Vec fa[ROWS], fb[4][FOURS];
#pragma unroll
      for (int r = 0; r < ROWS; r++) fa[r] = lds(a + TileA::at(m + r * 8, k4));
#pragma unroll
      for (int f = 0; f < FOURS; f++)
#pragma unroll
        for (int x = 0; x < 4; x++)
          fb[x][f] = lds(b + (NT ? TileB::at(n + f * 16 + x, k4)
                                 : TileB::at(k4 * 4 + x, n / 4 + f * 4)));
#pragma unroll
      for (int x = 0; x < 4; x++)
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
          for (int f = 0; f < FOURS; f++)
#pragma unroll
            for (int c = 0; c < 4; c++)
              part[r * FOURS + f].at[c] +=
                  fa[r].at[x] * (NT ? fb[c][f].at[x] : fb[x][f].at[c]);
    }
  }

  __device__ int row(int slot) const { return m + slot / FOURS * 8; }
  __device__ int col(int slot) const { return n + slot % FOURS * 16; }
};

#endif
