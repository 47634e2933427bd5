// One K step of fp32 operands on tensor cores, as six products of bf16 numbers.
//
// Idea: fp32 has 24 significant bits and bf16 eight, so an operand is the sum of three bf16 numbers,
// exactly. Of the nine products of a's and b's parts the three smallest are left out; they are 2^-24
// of a * b in the mean. Tensor cores cut sums off where fp32 rounds, so each product of 16 of K
// starts at 0, and an addition in fp32 follows. An infinite operand gives NaN: infinity less its
// first part is none.
//
// Which k is which of a product's sixteen is free if A and B agree: a lane has four neighbours of a
// row of A, 16 bytes, and the same four k of B. So are columns: a lane's sums of two products are
// four neighbours of a row of C.
//
// "BF16_BF16_F32_X6" of XLA's dot algorithms, "bf16x6" of Triton's input_precision.
#ifndef MNKBENCH_PRODUCT_BF16X6
#define MNKBENCH_PRODUCT_BF16X6
#include "../../../common/mutant.h"
#include "../../../device/ptx_memory.h"
#include "ring.cuh"

// A warp's WM x WN of sums. A slot is four columns of a row.
struct TiledMma {
  // nn: lanes read rows of B that are 4 apart, by 8 bytes.
  using TileB = Tile<NT ? BN : TILE_K, NT ? TILE_K : BN, NT ? 0 : 1>;
  using Vec = Pack<float, 4>;
  static constexpr int MT = WM / 16, NT16 = WN / 16, SLOTS = MT * NT16 * 2;
  Vec part[SLOTS] = {};
  int m, n, k, lane;

  __device__ TiledMma(int m, int n, int k, int lane) : m(m), n(n), k(k), lane(lane) {}

  // The parts of two neighbours along K, the largest first.
  struct Parts {
    unsigned at[3];
  };
  __device__ static float first_part(float x) {
    return __uint_as_float(__float_as_uint(x) & 0xffff0000);
  }
  __device__ static Parts parts(float x, float y) {
    Parts p;
#pragma unroll
    for (int i = 0; i < 3; i++) {
      p.at[i] = __byte_perm(__float_as_uint(x), __float_as_uint(y), 0x7632);
      if (!MUTANT(bf16x6_same_part)) x -= first_part(x), y -= first_part(y);
    }
    return p;
  }

  // Eight lanes are served at once, of two rows of A: those that are 4 apart lie in different banks
  // where a row has all of them, and neighbours where two rows do.
  __device__ int own_row() const {
    int i = lane / 4;
    return TILE_K >= 32 ? i % 2 * 4 + i / 2 : i;
  }

  // The thread's copies of a step have come.

  __device__ void step(unsigned a, unsigned b) {
    static_assert(BK % (16 * WK) == 0, "every warp has steps of 16");
    constexpr int STEPS = BK / 16 / WK, UNROLL = MT * NT16 == 1 ? 4 : 2;
#pragma unroll UNROLL
    for (int i = 0; i < STEPS; i++) {
      int k16 = turnOf(i, k), chunk = k16 * 4 + lane % 4;
      // Of products of eight columns, and of two pairs of k.
      Parts fb[2 * NT16][2];
#pragma unroll
      for (int t = 0; t < NT16; t++) columns(fb + 2 * t, b, n + t * 16 + lane / 4 * 2, k16, chunk);
#pragma unroll
      for (int t = 0; t < MT; t++) {
        Parts fa[2][2];
#pragma unroll
        for (int h = 0; h < 2; h++) {
          Vec x;
          load_shared(x.at, a + TileA::at(m + t * 16 + own_row() + h * 8, chunk));
          fa[h][0] = parts(x.at[0], x.at[1]);
          fa[h][1] = parts(x.at[2], x.at[3]);
        }
        products(part + t * NT16 * 2, fa, fb);
      }
    }
  }

  // Every sum is one lane's.
  __device__ void meet() {}

  __device__ int row(int slot) const {
    return m + slot / 2 / NT16 * 16 + own_row() + (MUTANT(bf16x6_same_rows) ? 0 : slot % 2 * 8);
  }
  __device__ int col(int slot) const { return n + slot / 2 % NT16 * 16 + lane % 4 * 4; }

 private:
  // Columns `col` and `col` + 1 of the lane's four k.
  __device__ static void columns(Parts (*to)[2], unsigned b, int col, int k16, int chunk) {
    float x[2][4];
    if (NT) {
#pragma unroll
      for (int u = 0; u < 2; u++) load_shared(x[u], b + TileB::at(col + u, chunk));
    } else {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        uint2 two;
        load_shared(two, b + TileB::at(chunk * 4 + i, col / 4) + col % 4 * 4);
        x[0][i] = __uint_as_float(two.x), x[1][i] = __uint_as_float(two.y);
      }
    }
#pragma unroll
    for (int u = 0; u < 2; u++)
#pragma unroll
      for (int i = 0; i < 2; i++) to[u][i] = parts(x[u][2 * i], x[u][2 * i + 1]);
  }

  // Adds the products of 16 rows with all columns.
  __device__ static void products(Vec* sums, const Parts (&fa)[2][2], const Parts (*fb)[2]) {
    Pack<float, 2> top[2 * NT16] = {}, low[2 * NT16] = {};
    // The smallest first.
    constexpr int OF_A[] = {2, 0, 1, 1, 0, 0}, OF_B[] = {0, 2, 1, 0, 1, 0};
#pragma unroll
    for (int i = MUTANT(bf16x6_one_product) ? 5 : 0; i < 6; i++) {
      int p = OF_A[i], q = OF_B[i];
      unsigned x[4] = {fa[0][0].at[p], fa[1][0].at[p], fa[0][1].at[p], fa[1][1].at[p]};
#pragma unroll
      for (int t = 0; t < 2 * NT16; t++) {
        unsigned y[2] = {fb[t][0].at[q], fb[t][MUTANT(bf16x6_same_k) ? 0 : 1].at[q]};
        mma<bf16>(top[t], low[t], x, y);
      }
    }
#pragma unroll
    for (int t = 0; t < 2 * NT16; t++)
#pragma unroll
      for (int j = 0; j < 2; j++) {
        sums[t / 2 * 2].at[2 * j + t % 2] += top[t].at[j];
        sums[t / 2 * 2 + 1].at[2 * j + t % 2] += low[t].at[j];
      }
  }
};

#endif
