// How the sums of best.cu become results.
#ifndef GROUPED_BEST_STORE
#define GROUPED_BEST_STORE
#include "../../common/mutant.h"

// Weights are their values x 2^-14, tokens x 2^-7.
constexpr float WHOLE = UNSHIFT * 128;

// Eight tokens are four registers of sums. Warps with the first part of K store the first of them.
template <int N>
struct Split {
  static constexpr int ALL = N / 8, FIRST = KGROUPS == 1 ? ALL : (ALL + 1) / 2;
};

// Eights of tokens [FROM, TO) to where the lane's own are, and from there to the sums of the warp
// that has the same rows.
template <int FROM, int TO, int N>
__device__ __forceinline__ void send(const float (&d)[N], unsigned to) {
#pragma unroll
  for (int i = FROM; i < TO; i++)
    store_shared(to + (i - FROM) * 512,
                 make_uint4(__float_as_uint(d[4 * i]), __float_as_uint(d[4 * i + 1]),
                            __float_as_uint(d[4 * i + 2]), __float_as_uint(d[4 * i + 3])));
}
template <int FROM, int TO, int N>
__device__ __forceinline__ void add(float (&d)[N], unsigned from) {
#pragma unroll
  for (int i = FROM; i < TO; i++) {
    float x[4];
    load_shared(x, from + (i - FROM) * 512);
#pragma unroll
    for (int j = 0; j < 4; j++) d[4 * i + j] += x[j];
  }
}
// Two warps that have the same rows and different parts of K have the sums of both, each of the
// tokens that it stores, in the first registers: a sum of two is the same in either order.
template <int N>
__device__ __forceinline__ void meet(float (&d)[N / 2], unsigned base, int group) {
  constexpr int FIRST = Split<N>::FIRST, ALL = Split<N>::ALL;
  int pair = thread() / 32 % SHARERS;
  unsigned at = base + MEETINGS + pair * MEETING + thread() % 32 * 16;
  if (group == 0) send<FIRST, ALL>(d, at);
  if (!MUTANT(best_early_add)) sync_some<64>(1 + pair);
  if (group != 0) {
    add<FIRST, ALL>(d, at);
    send<0, FIRST>(d, at);
#pragma unroll
    for (int i = 4 * FIRST; i < 4 * ALL; i++) d[i - 4 * FIRST] = d[i];
  }
  // The other has read them, and written where they were.
  sync_some<64>(1 + pair);
  if (group == 0 && !MUTANT(best_lost_sums)) add<0, FIRST>(d, at);
}

// A warp's sums of a part of K.
constexpr int PARTIAL = (KGROUPS == 1 ? MAXN / 8 : (MAXN / 8 + 1) / 2) * 128;

// Of a tile that is in pieces, each with a part of K: the warp that is there last has all sums.
// Two may be added in either order; more are added in the order of K.
template <int COUNT, int N>
__device__ __forceinline__ bool gather(float (&d)[N], const Item& item, int warp) {
  int slot = rank() * WARPS + warp, pieces = item.pieces;
  float* sums = item.partial + (long long)slot * PARTIAL + thread() % 32 * 4;
  unsigned* counter = item.counters + slot;
  bool first = thread() % 32 == 0, last = false;
  if (pieces == 2) {
    // Where the other's sums are there already, these need not be written.
    last = __shfl_sync(~0u, first ? load_acquire(counter) : 0, 0) == 1;
    if (last && first) *counter = 0;
  }
  if (!last) {
    float* to = sums + (long long)item.piece * CLUSTER * WARPS * PARTIAL;
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
    const float* from = sums + (long long)piece * CLUSTER * WARPS * PARTIAL;
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

// Stores 16 rows of weights by `eights` of tokens, no more than COUNT: through a patch of shared
// memory of the warp's own, in which a token's 16 results lie side by side.
template <int COUNT, int N>
__device__ __forceinline__ void store(const float (&d)[N], const Item& item, unsigned patch,
                                      int row, int token, int eights) {
  unsigned lane = thread() % 32;
  unsigned to = patch + (lane % 8 + lane / 16 * 8) * 48 + lane / 8 % 2 * 16;
  // By rows of N a lane has half of a token's results, M-major the results of half the rows.
  int column = MMAJOR ? lane % 16 : lane / 2, half = MMAJOR ? lane / 16 : lane % 2;
  int from = row + 8 * half, tokens = min(item.m - token, 8 * eights), m = item.m, n = item.n;
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
