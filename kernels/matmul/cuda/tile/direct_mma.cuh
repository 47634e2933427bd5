// A product of a K slice whose operands go from memory straight to the tensor cores' registers:
// no shared memory, no barrier, each warp on K steps of its own.
//
// Idea: the K of a product may be permuted as long as A and B agree. A lane loads 8 consecutive
// k of a row of A at once, which are the pairs of two k16 steps, and of the rows of B with the
// same k (nn) the columns that it multiplies: column v + g * V of the tile is column g of the
// product number v, so that they too are consecutive. In nt a lane loads 8 k of V rows of B.
//
// Compile-time: warps.cuh's with KWARPS = WARPS, and STAGES: K steps of 32 under way in a warp.
#ifndef MNKBENCH_DIRECT_MMA
#define MNKBENCH_DIRECT_MMA
#include "../../../common/mutant.h"
#include "../../../device/ptx_memory.h"
#include "warps.cuh"
#include "element.cuh"

// As load_once_line, whatever the alignment: `left` elements exist.
template <int W>
__device__ inline void load_some(unsigned (&r)[W], const TYPE* p, int left) {
  Pack<TYPE, 2 * W> x = load<2 * W>(p, left);
#pragma unroll
  for (int i = 0; i < W; i++)
    r[i] = x.at[2 * i].bits | (unsigned)x.at[2 * i + 1].bits << 16;
}

struct Direct {
  static constexpr int MT = BM / 16, V = BN / 8;
  using Vec = Pack<float, 4>;
  // Four consecutive columns of a row: V / 2 of them for each of a lane's 2 * MT rows.
  static constexpr int SLOTS = MT * V;
  Vec part[SLOTS] = {};
  int g, t;

  __device__ Direct(int, int, int, int lane) : g(lane / 4), t(lane % 4) {}
  __device__ int row(int slot) const { return slot / (V / 2) * 8 + g; }
  __device__ int col(int slot) const { return 2 * V * t + slot % (V / 2) * 4; }
};

// A K step of 32: what a lane holds of it.
struct Step {
  static constexpr int MT = Direct::MT, V = Direct::V, R = NT ? V : 8, W = NT ? 4 : V / 2;
  unsigned a[2 * MT][4], b[R][W];

  template <bool WHOLE>
  __device__ void read(const TYPE* A, const TYPE* B, int rows, int cols, int left, int lda,
                       int ldb, int g, int t) {
#pragma unroll
    for (int h = 0; h < 2 * MT; h++) {
      const TYPE* p = A + (long long)(h * 8 + g) * lda + t * 8;
      int there = h * 8 + g < rows || MUTANT(direct_no_row_guard) ? left - t * 8 : 0;
      if (WHOLE) load_once_line(a[h], p, there > 0);
      else load_some(a[h], p, there);
    }
#pragma unroll
    for (int r = 0; r < R; r++) {
      int row = NT ? g * V + r : t * 8 + r, col = NT ? t * 8 : g * V;
      int there = row < (NT ? cols : left) ? (NT ? left : cols) - col : 0;
      const TYPE* p = B + (long long)row * ldb + col;
      if (WHOLE) load_once_line(b[r], p, there > 0);
      else load_some(b[r], p, there);
    }
  }

  __device__ void multiply(float (&sums)[MT][V][4]) {
#pragma unroll
    for (int s = 0; s < 2; s++)
#pragma unroll
      for (int v = 0; v < V; v++) {
        unsigned y[2];
#pragma unroll
        for (int i = 0; i < 2; i++)
          y[i] = NT ? b[v % R][2 * s + i]
                    : __byte_perm(b[(4 * s + 2 * i) % R][v / 2 % W],
                                  b[(4 * s + 2 * i + 1) % R][v / 2 % W],
                                  v % 2 != MUTANT(direct_wrong_half) ? 0x7632 : 0x5410);
#pragma unroll
        for (int m = 0; m < MT; m++) {
          unsigned x[4] = {a[2 * m][2 * s], a[2 * m + 1][2 * s], a[2 * m][2 * s + 1],
                           a[2 * m + 1][2 * s + 1]};
          float(&c)[4] = sums[m][v];
          mma<TYPE>(*(Pack<float, 2>*)c, *(Pack<float, 2>*)(c + 2), x, y);
        }
      }
  }
};

// Warps take turns on pairs of steps, so that neighbours read whole lines together.
template <bool WHOLE, class Work>
__device__ inline void multiply_directly(Direct& product, const TYPE* a, const TYPE* b, int rows,
                                         int cols, int length, int lda, int ldb,
                                         Work meanwhile) {
  int steps = (length + 64 * WARPS - 1) / (64 * WARPS) * 2, warp = threadIdx.x / 32;
  // What is read element by element comes late anyway, and needs the registers.
  constexpr int HELD = WHOLE ? STAGES : 1;
  Step held[HELD];
  float sums[Direct::MT][Direct::V][4] = {};
  auto read = [&](int step, Step& into) {
    int k = (step / 2 * WARPS + warp / (1 + MUTANT(direct_same_k))) * 64 + step % 2 * 32;
    into.read<WHOLE>(a + k, NT ? b + k : b + (long long)k * ldb, rows, cols, length - k, lda,
                     ldb, product.g, product.t);
  };
#pragma unroll
  for (int s = 0; s < HELD; s++) read(s, held[s]);
  meanwhile();
  for (int step = 0; step < steps; step += HELD) {
#pragma unroll
    for (int s = 0; s < HELD; s++) {
      held[s].multiply(sums);
      if (step + HELD < steps) read(step + HELD + s, held[s]);
    }
  }
  // Sums of column c of all products are consecutive columns of the tile.
#pragma unroll
  for (int m = 0; m < Direct::MT; m++)
#pragma unroll
    for (int e = 0; e < 4; e++)
#pragma unroll
      for (int v = 0; v < Direct::V; v++) {
        int col = e % 2 * Direct::V + v, row = 2 * m + e / 2;
        product.part[row * (Direct::V / 2) + col / 4].at[col % 4] = sums[m][v][e];
      }
}

#endif
