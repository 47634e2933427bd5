// The weights of a warp of best.cu: how they become operands, and sums results.
#ifndef GROUPED_BEST_WARP
#define GROUPED_BEST_WARP
#include "../../common/mutant.h"

// What a lane has of a slab, 16 weights of rows r and r + 8 each, which are a block of the format:
// four weights of a row in each word, by bytes that are as the upper half of fp16 their values x
// 2^-14.
struct Bytes {
  unsigned top[4], low[4];

  // From where the lane's words of the slab are.
  __device__ __forceinline__ explicit Bytes(unsigned words) {
    uint2 x, y;
    load_shared(x, words);
    load_shared(y, words + 8 * ROW);
    split(top, x.x), split(top + 2, x.y);
    split(low, y.x), split(low + 2, y.y);
    // The compiler would else do this when the products are over that it is to be hidden by.
#pragma unroll
    for (int i = 0; i < 4; i++) not_before(top[i]), not_before(low[i]);
  }
  // Of eight weights: those with even numbers to `to[0]`, the others to `to[1]`.
  __device__ static __forceinline__ void split(unsigned* to, unsigned word) {
    to[0] = (word << 1 & 0x0e0e0e0e) | (word << 4 & 0x80808080);
    to[1] = (word >> 3 & 0x0e0e0e0e) | (word & 0x80808080);
  }
  // The register operands of products FROM and FROM + 1 of the slab's four, under the scales of
  // both rows: pairs of elements I and I + 4 of a word are two apart.
  template <int FROM>
  __device__ __forceinline__ void decode(unsigned* a, unsigned scales) const {
    unsigned scale_top = low_half_twice(scales), scale_low = high_half_twice(scales);
#pragma unroll
    for (int i = FROM; i < FROM + 2; i++) {
      unsigned* to = a + i / 2 * 8 + i % 2 * 2;
      to[0] = multiply_2f16(__byte_perm(top[i], 0, 0x2404), scale_top);
      to[1] = multiply_2f16(__byte_perm(low[i], 0, 0x2404), scale_low);
      to[4] = multiply_2f16(top[i] & 0xff00ff00, scale_top);
      to[5] = multiply_2f16(low[i] & 0xff00ff00, scale_low);
    }
  }
};

// How the sums of best.cu become results.

// Weights are their values x 2^-14, tokens x 2^-7.
constexpr float WHOLE = UNSHIFT * 128;

// A warp's sums of a part of K.
constexpr int PARTIAL = MAXN / 8 * 128;

// Of a tile that is in pieces, each with a part of K: the warp that is there last has all sums.
// Two may be added in either order; more are added in the order of K.
template <int N>
__device__ __forceinline__ bool gather(float (&d)[N], const Item& item, int warp) {
  constexpr int COUNT = N / 4;
  int pieces = __shfl_sync(~0u, item.pieces, 0);
  float* sums = item.partial + (long long)warp * PARTIAL + thread() % 32 * 4;
  unsigned* counter = item.counters + warp;
  bool first = thread() % 32 == 0, last = false;
  if (pieces == 2) {
    // Where the other's sums are there already, these need not be written.
    last = __shfl_sync(~0u, first ? load_acquire(counter) : 0, 0) == 1;
    if (last && first) *counter = 0;
  }
  if (!last) {
    float* to = sums + (long long)item.piece * WARPS * PARTIAL;
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      float x[4] = {d[4 * i], d[4 * i + 1], d[4 * i + 2], d[4 * i + 3]};
      store_relaxed(to + 128 * i, x);
    }
    __syncwarp();
    last = __shfl_sync(~0u, first ? decrement_acq_rel(counter, pieces - 1) : 0, 0) == 1;
  }
  if (!last && !MUTANT(best_all_pieces)) return false;
  if (pieces > 2) {
#pragma unroll
    for (int i = 0; i < 4 * COUNT; i++) d[i] = 0;
  }
#pragma unroll 1
  for (int p = 0; p < pieces; p++) {
    if (pieces == 2 && p == item.piece) continue;
    int piece = MUTANT(best_same_piece) ? 0 : p;
    const float* from = sums + (long long)piece * WARPS * PARTIAL;
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      float x[4];
      load_relaxed(x, from + 128 * i);
      if (MUTANT(best_lost_pieces)) x[0] = x[1] = x[2] = x[3] = 0;
#pragma unroll
      for (int j = 0; j < 4; j++) d[4 * i + j] += x[j];
    }
  }
  return true;
}

// Stores 16 rows of weights by tokens: through a patch of shared memory of the warp's own, in which
// a token's 16 results lie side by side.
template <int N>
__device__ __forceinline__ void store(const float (&d)[N], const Item& item, unsigned patch,
                                      int row, int token) {
  constexpr int COUNT = N / 4; // eights of tokens: four registers each
  unsigned lane = thread() % 32;
  unsigned to = patch + (lane % 8 + lane / 16 * 8) * 48 + lane / 8 % 2 * 16;
  // By rows of N a lane has half of a token's results, M-major the results of half the rows.
  int column = MMAJOR ? lane % 16 : lane / 2, half = MMAJOR ? lane / 16 : lane % 2;
  int from = row + 8 * half, tokens = min(item.m - token, 8 * COUNT), m = item.m, n = item.n;
  unsigned short* c = item.c + (MMAJOR ? (long long)from * m + token + column
                                       : (long long)(token + column) * n + from);
  if (from >= n) tokens = 0;
#pragma unroll
  for (int i = 0; i < COUNT; i += 2) {
    unsigned x[4] = {};
#pragma unroll
    for (int h = 0; h < 4; h++)
      if (i + h / 2 < COUNT)
        x[h] = f32_to_2f16(d[4 * i + 2 * h] * WHOLE, d[4 * i + 2 * h + 1] * WHOLE);
    if (!MUTANT(best_early_store)) __syncwarp();
    stmatrix_transposed(to, x);
    if (!MUTANT(best_early_load)) __syncwarp();
    uint4 v;
    load_shared(v, patch + column * 48 + half * 16);
    if (8 * i + column < tokens) {
      if (!MMAJOR) {
        *(uint4*)(c + (long long)(8 * i) * n) = v;
      } else {
        unsigned words[4] = {v.x, v.y, v.z, v.w};
        unsigned short* at = c + 8 * i;
#pragma unroll
        for (int j = 0; j < 8; j++, at += m) *at = words[j / 2] >> 16 * (j % 2);
      }
    }
  }
}

#endif
