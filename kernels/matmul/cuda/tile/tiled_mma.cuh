// One K step on tensor cores: 16-bit operands, fp32 sums. Within a tile too small for its
// warps, warps take turns on the k16 steps, or have tiles of their own.
#ifndef MNKBENCH_PRODUCT_MMA
#define MNKBENCH_PRODUCT_MMA
#include "../../../common/mutant.h"
#include "element.cuh"
#include "ring.cuh"

// A warp's WM x WN of sums. A slot is two columns of a row.
struct TiledMma {
  using TileB = Tile<NT ? BN : TILE_K, NT ? TILE_K : BN>;
  using Vec = Pack<float, 2>;
  static constexpr int MT = WM / 16, NT8 = WN / 8, SLOTS = MT * NT8 * 2;
  // A product is waited for about as long as four take: where a step of K has fewer, the next one
  // has sums of its own.
  static constexpr int SETS = MT * NT8 <= 2 && BK / 16 / WK > 1 ? 2 : 1;
  Vec part[SETS * SLOTS] = {};
  int m, n, k, lane;

  __device__ TiledMma(int m, int n, int k, int lane) : m(m), n(n), k(k), lane(lane) {}

  // The thread's copies of a step have come.

  __device__ void step(unsigned a, unsigned b) {
    static_assert(BK % (16 * WK) == 0, "every warp has k16 steps");
    constexpr int STEPS = BK / 16 / WK, UNROLL = STEPS <= 16 ? STEPS : 8;
#pragma unroll UNROLL
    for (int i = 0; i < STEPS; i++) {
      int k16 = turnOf(i, k);
      unsigned fa[MT][4], fb[(NT8 + 1) / 2][4];
#pragma unroll
      for (int t = 0; t < MT; t++) {
        int row = m + t * 16 + lane % 16, chunk = k16 * 2 + (lane / 16 ^ MUTANT(mma_swapped_k));
        if (MUTANT(mma_no_swizzle)) chunk ^= TileA::flips(row);
        ldmatrix<false>(fa[t], a + TileA::at(row, chunk));
      }
#pragma unroll
      for (int t = 0; t < (NT8 + 1) / 2; t++) {
        // Of a last eight columns both halves read the same.
        int col = n + t * 16, half = 2 * t + 1 < NT8 ? lane / 16 : 0;
        ldmatrix<!NT>(fb[t], b + (NT ? TileB::at(col + lane % 8 + half * 8, k16 * 2 + lane / 8 % 2)
                                     : TileB::at(k16 * 16 + lane % 16, col / 8 + half)));
      }
#pragma unroll
      for (int t = 0; t < MT; t++)
#pragma unroll
        for (int u = 0; u < NT8; u++) {
          Vec* c = part + (i % SETS * MT * NT8 + t * NT8 + u) * 2;
          mma<TYPE>(c[0], c[1], fa[t], fb[u / 2] + (MUTANT(mma_same_columns) ? 0 : u % 2 * 2));
        }
    }
  }

  // Every sum is one lane's.
  __device__ void meet() {
#pragma unroll
    for (int i = SLOTS; i < SETS * SLOTS; i++)
      for (int j = 0; j < 2; j++)
        if (!MUTANT(mma_lost_sums)) part[i - SLOTS].at[j] += part[i].at[j];
  }

  __device__ int row(int slot) const {
    return m + slot / 2 / NT8 * 16 + (MUTANT(mma_same_rows) ? 0 : slot % 2 * 8) + lane / 4;
  }
  __device__ int col(int slot) const { return n + slot / 2 % NT8 * 8 + lane % 4 * 2; }
};

#endif
