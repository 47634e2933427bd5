// One K step in IEEE fp32: fused multiply-adds, never TF32.
//
// Shared memory is read 16 bytes at a time: four k of a row of A, and four columns (nn) or four k
// (nt) of B. A multiprocessor has 128 bytes of it a clock for 128 multiply-adds, whichever lanes
// read the same, so that r x c sums of a lane cost r + c numbers: 8 x 8 break even, and 16 x 8 were
// no faster. So lanes keep up to 64 sums, as square as may be, and where a tile has too few for
// all, groups of lanes share its K, as far as a step has any for each, and add their sums in the
// end.
#ifndef MNKBENCH_PRODUCT_FFMA
#define MNKBENCH_PRODUCT_FFMA
#include "../../../common/mutant.h"
#include "../../../device/ptx_memory.h"
#include "ring.cuh"

__device__ inline Pack<float, 4> lds(unsigned from) {
  Pack<float, 4> x;
  load_shared(x.at, from);
  return x;
}

// Lanes of a group, across and down a warp's part of the tile: of the grids that leave a lane
// whole fours of columns, and each group some of the step's K and an equal share of the sums, the
// one that reads least for each of them. One group takes as many sums as there are.
struct Lanes {
  int across = 4, down = 8;
  __host__ __device__ constexpr Lanes() {
    int best = 0, sums = 1;
    for (int a = 4; a >= 2; a /= 2)
      for (int d = 8; d >= 2; d /= 2) {
        int rows = WM / d, cols = WN / a, groups = 32 / a / d;
        if (WM % d != 0 || cols % 4 != 0 || (groups > 1 && rows * cols > 64) ||
            BK % (4 * WK * groups) != 0 || rows * cols / 4 % groups != 0)
          continue;
        // (rows + cols) / (rows * cols) < best / sums
        if (best && (rows + cols) * sums >= best * rows * cols) continue;
        best = rows + cols, sums = rows * cols, across = a, down = d;
      }
  }
};

// A warp's WM x WN of sums. A slot is four columns of a row, and once the groups have met each has
// a share of them.
struct TiledMma {
  static constexpr int ACROSS = Lanes().across, DOWN = Lanes().down, GROUPS = 32 / ACROSS / DOWN;
  // Eight lanes are served at once: rows of theirs are as far apart as groups are among them, so
  // that neither the rows' chunks nor the groups' lie in the same banks.
  static constexpr int APART = ACROSS * DOWN < 8 ? 8 / ACROSS / DOWN : 1;
  // nt: lanes read rows of B that are 4 apart, or 4 APART.
  using TileB = Tile<NT ? BN : TILE_K, NT ? TILE_K : BN, NT ? 2 : 0>;
  using Vec = Pack<float, 4>;
  static constexpr int ROWS = WM / DOWN, FOURS = WN / 4 / ACROSS, ALL = ROWS * FOURS;
  static constexpr int SLOTS = ALL / GROUPS, WIDE = NT ? APART : 1;
  static_assert(SLOTS * GROUPS == ALL && ROWS % APART == 0 && FOURS % WIDE == 0,
                "groups have equal shares");
  // The first SLOTS of them are a lane's share in the end.
  Vec part[ALL] = {};
  int m, n, k, group;

  __device__ TiledMma(int m, int n, int k, int lane)
      : m(m + lane / ACROSS % DOWN * APART), n(n + lane % ACROSS * 4 * WIDE), k(k),
        group(lane / ACROSS / DOWN) {}

  // Of a lane's rows and fours of columns, how far one is from the first.
  __device__ static constexpr int below(int r) { return r / APART * APART * DOWN + r % APART; }
  __device__ static constexpr int beside(int f) {
    return (f / WIDE * WIDE * ACROSS + f % WIDE) * 4;
  }

  // The thread's copies of a step have come.

  __device__ void step(unsigned a, unsigned b) {
    static_assert(BK % (4 * WK * GROUPS) == 0, "every group of lanes has steps of four k");
#pragma unroll 4
    for (int i = 0; i < BK / 4 / WK / GROUPS; i++) {
      int k4 = turnOf(i, k) * GROUPS + (MUTANT(ffma_same_k) ? 0 : group);
      Vec fa[ROWS], fb[4][FOURS];
#pragma unroll
      for (int r = 0; r < ROWS; r++)
        fa[r] = lds(a + TileA::at(m + (MUTANT(ffma_adjacent_rows) ? r : below(r)), k4));
#pragma unroll
      for (int f = 0; f < FOURS; f++)
#pragma unroll
        for (int x = 0; x < 4; x++)
          fb[x][f] = lds(b + (NT ? TileB::at(n + beside(f) + x, k4)
                                 : TileB::at(k4 * 4 + x, (n + beside(f)) / 4)));
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
  template <int STEP, int LEFT>
  __device__ void meet() {
    if constexpr (STEP > 0) {
      bool upper = group & STEP;
#pragma unroll
      for (int i = 0; i < LEFT; i++)
#pragma unroll
        for (int c = 0; c < 4; c++) {
          float low = part[i].at[c], high = part[i + LEFT].at[c];
          float give = upper != MUTANT(ffma_wrong_half) ? low : high;
          float came = __shfl_xor_sync(~0u, give, STEP * DOWN * ACROSS);
          part[i].at[c] = (upper ? high : low) + came;
        }
      meet<STEP / 2, LEFT / 2>();
    }
  }

  __device__ int row(int slot) const {
    return m + below(((MUTANT(ffma_same_share) ? 0 : group * SLOTS) + slot) / FOURS);
  }
  __device__ int col(int slot) const { return n + beside((group * SLOTS + slot) % FOURS); }
};

#endif
