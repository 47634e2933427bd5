// One K step on tensor cores for tiles of eight rows: 16-bit operands, fp32 sums.
//
// Idea: an instruction multiplies 16 rows, of which the lower eight are zeros here. Half of the
// products are wasted, which take little time where M is small. In return a block reads half as much
// of A, and A is read by twice as many multiprocessors. That helps where blocks of one cluster read
// all of A and B: a group of multiprocessors (GPC) was not seen to read more than 880 GB/s
// (docs/notes/2026-11-22-performance.md).
#ifndef MNKBENCH_TILED_MMA8
#define MNKBENCH_TILED_MMA8
#include "../../../common/mutant.h"
#include "element.cuh"
#include "ring.cuh"

// A warp's 8 x WN of sums. A slot is two columns of a row.
struct TiledMma {
  using TileB = Tile<NT ? BN : TILE_K, NT ? TILE_K : BN>;
  using Vec = Pack<float, 2>;
  static constexpr int NT8 = WN / 8, SLOTS = NT8;
  // As in tiled_mma.cuh: a product is waited for about as long as four take.
  static constexpr int SETS = NT8 <= 2 ? 2 : 1;
  Vec part[SETS * SLOTS] = {};
  int m, n, k, lane;

  __device__ TiledMma(int m, int n, int k, int lane) : m(m), n(n), k(k), lane(lane) {}

  // The thread's copies of a step have come.
  __device__ void step(unsigned a, unsigned b) {
    static_assert(WM == 8 && BK % (32 * WK) == 0, "every warp has pairs of k16 steps");
    constexpr int STEPS = BK / 16 / WK, UNROLL = STEPS <= 16 ? STEPS / 2 : 4;
#pragma unroll UNROLL
    for (int i = 0; i < STEPS; i += 2) {
      // Eight rows of two k16 steps.
      unsigned pair[4];
      int of = i + (lane / 16 ^ MUTANT(mma8_swapped_steps));
      ldmatrix<false>(pair, a + TileA::at(m + lane % 8, turnOf(of, k) * 2 + lane / 8 % 2));
#pragma unroll
      for (int p = 0; p < 2; p++) {
        int k16 = turnOf(i + p, k);
        unsigned fa[4] = {pair[2 * p], 0, pair[2 * p + 1], 0}, fb[(NT8 + 1) / 2][4];
#pragma unroll
        for (int t = 0; t < (NT8 + 1) / 2; t++) {
          // Of a last eight columns both halves read the same.
          int col = n + t * 16, half = 2 * t + 1 < NT8 ? lane / 16 : 0;
          ldmatrix<!NT>(fb[t], b + (NT ? TileB::at(col + lane % 8 + half * 8, k16 * 2 + lane / 8 % 2)
                                       : TileB::at(k16 * 16 + lane % 16, col / 8 + half)));
        }
#pragma unroll
        for (int u = 0; u < NT8; u++) {
          Vec none = {};
          mma<TYPE>(part[p % SETS * SLOTS + u], none, fa, fb[u / 2] + u % 2 * 2);
        }
      }
    }
  }

  // Every sum is one lane's.
  __device__ void meet() {
#pragma unroll
    for (int i = SLOTS; i < SETS * SLOTS; i++)
      for (int j = 0; j < 2; j++)
        if (!MUTANT(mma8_lost_sums)) part[i - SLOTS].at[j] += part[i].at[j];
  }

  __device__ int row(int) const { return m + lane / 4; }
  __device__ int col(int slot) const { return n + slot * 8 + lane % 4 * 2; }
};

#endif
