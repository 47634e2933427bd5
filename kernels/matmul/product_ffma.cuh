// One K step in IEEE fp32: fused multiply-adds, never TF32.
//
// Shared memory is read 16 bytes at a time: four k of a row of A, and four columns (nn) or four k
// (nt) of B. That is what limits a product: a lane with r x c sums makes 4 r c multiply-adds of
// r + c reads. So lanes keep 32 to 64 sums, and where a tile has too few for all, groups of lanes
// share its K, as far as a step has any for each, and add their sums in the end.
#ifndef MNKBENCH_PRODUCT_FFMA
#define MNKBENCH_PRODUCT_FFMA
#include "../api/ptx_memory.h"
#include "ring.cuh"

__device__ inline Pack<float, 4> lds(unsigned from) {
  Pack<float, 4> x;
  load_shared(x.at, from);
  return x;
}

// How many groups of lanes share K: 64 sums a lane for each, as far as the step can be shared.
__host__ __device__ constexpr int laneGroups() {
  int groups = 4;
  while (groups > 1 && (groups * WM * WN > 64 * 32 || BK % (4 * WK * groups) != 0)) groups /= 2;
  return groups;
}

// A warp's WM x WN of sums: lanes DOWN x 4 in each of GROUPS, rows DOWN apart, columns in fours 16
// apart. A slot is four columns of a row, and once the groups have met each has a share of them.
struct Product {
  static constexpr int GROUPS = laneGroups(), DOWN = 8 / GROUPS;
  // nt: lanes read rows of B that are 4 apart.
  using TileB = Tile<NT ? BN : BK, NT ? BK : BN, NT ? 2 : 0>;
  using Vec = Pack<float, 4>;
  static constexpr int ROWS = WM / DOWN, FOURS = WN / 16, ALL = ROWS * FOURS;
  static constexpr int SLOTS = ALL / GROUPS;
  static_assert(SLOTS * GROUPS == ALL, "groups have equal shares");
  // The first SLOTS of them are a lane's share in the end.
  Vec part[ALL] = {};
  int m, n, k, group;

  __device__ Product(int m, int n, int k, int lane)
      : m(m + lane / 4 % DOWN), n(n + lane % 4 * 4), k(k), group(lane / 4 / DOWN) {}

  // The thread's copies of a step have come.
  __device__ void copied() const {}

  __device__ void step(unsigned a, unsigned b) {
    static_assert(BK % (4 * WK * GROUPS) == 0, "every group of lanes has steps of four k");
#pragma unroll 4
    for (int i = 0; i < BK / 4 / WK / GROUPS; i++) {
      int k4 = (i * WK + k) * GROUPS + group;
      Vec fa[ROWS], fb[4][FOURS];
#pragma unroll
      for (int r = 0; r < ROWS; r++) fa[r] = lds(a + TileA::at(m + r * DOWN, k4));
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

  // Groups of lanes add their sums: at each turn a lane keeps one half and gives the other away.
  __device__ void meet() { meet<GROUPS / 2, ALL / 2>(); }
  template <int APART, int LEFT>
  __device__ void meet() {
    if constexpr (APART > 0) {
      bool upper = group & APART;
#pragma unroll
      for (int i = 0; i < LEFT; i++)
#pragma unroll
        for (int c = 0; c < 4; c++) {
          float low = part[i].at[c], high = part[i + LEFT].at[c];
          float came = __shfl_xor_sync(~0u, upper ? low : high, APART * DOWN * 4);
          part[i].at[c] = (upper ? high : low) + came;
        }
      meet<APART / 2, LEFT / 2>();
    }
  }

  __device__ int row(int slot) const { return m + (group * SLOTS + slot) / FOURS * DOWN; }
  __device__ int col(int slot) const { return n + (group * SLOTS + slot) % FOURS * 16; }
};

#endif
