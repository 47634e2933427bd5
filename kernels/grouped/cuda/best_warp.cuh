// The weights of a warp of best.cu: how they come, and how they become operands.
#ifndef GROUPED_BEST_WARP
#define GROUPED_BEST_WARP
#include "../../common/mutant.h"

// Which part of K is this warp's: the compiler is told that it is the same for all lanes.
__device__ __forceinline__ int part_of_k() {
  return KGROUPS == 1 ? 0 : __shfl_sync(~0u, thread() / (32 * SHARERS), 0);
}

// A warp's weights on their way: 16 rows, of SPAN slabs at a time, as a slab's 32 bytes of a row
// are a quarter of what the second-level cache gives at best. Slab s of these has its row r at
// row r ^ s % 4 of its place: else all slabs of a row would come to the same banks.
struct Weights {
  static constexpr int LANES = 2 * SPAN, AT_ONCE = 32 / LANES; // of a row; rows
  const Item* items;
  int at; // of the item that is copied
  const unsigned char* from;
  unsigned step, below; // bytes to the rows that are copied next, and to the last eight
  int left;             // slabs to be copied of it; none after the last item
  unsigned slot, to;    // shared addresses of the warp's ring, and of the lane's part of a place

  __device__ Weights(const Item* items, int at, unsigned base)
      : items(items), at(at - 1), slot(base + RING + threadIdx.x / 32 * OWN) {
    unsigned lane = threadIdx.x % 32, slab = lane % LANES / 2;
    unsigned turn = MUTANT(best_no_swizzle) ? 0 : slab % 4;
    to = slot + slab * 512 + (lane / LANES ^ turn) * 32 + lane % 2 * 16;
    open();
  }
  // The next item that has slabs for this warp, if any.
  __device__ __forceinline__ void open() {
    do {
      at++;
      left = Part(items[at], part_of_k()).count;
    } while (KGROUPS > 1 && left == 0 && items[at].k);
    if (left == 0) return;
    const Item& item = items[at];
    unsigned t = thread(), lane = t % 32, bytes = item.k / 2;
    int row = item.row + t / 32 % SHARERS * 16;
    // Rows beyond the last are others again; N is a multiple of 8.
    from = item.b + (long long)(min(row, item.n - 8) + lane / LANES) * bytes +
           Part(item, MUTANT(best_same_weights) ? 0 : part_of_k()).first * 32 + lane % LANES * 16;
    step = bytes * AT_ONCE;
    below = row + 8 < item.n || MUTANT(best_no_row_guard) ? bytes * 8 : 0;
  }
  // Starts the copy of the next SPAN slabs to `place`, of the next item where this has no more.
  __device__ __forceinline__ void fetch(unsigned place) {
    if (left > 0) {
      int slab = thread() % LANES / 2;
#pragma unroll
      for (int row = 0; row < 16; row += AT_ONCE) {
        const unsigned char* at = from + (row % 8 ? step : 0) + (row >= 8 ? below : 0);
        // Past the first-level cache, which has no room for all the lines that are on their way.
        int there = MUTANT(best_no_k_guard) ? 1 : left - slab;
        copy_async_16_line(to + place * 512 + row * 32, at, there);
      }
      from += 32 * SPAN;
      left -= SPAN;
      if (left <= 0) open();
    }
    commit_copies();
  }
};

// What a lane has of a slab, 16 weights of rows r and r + 8 each, which are a block of the format:
// four weights of a row in each word, by bytes that are as the upper half of fp16 their values x
// 2^-14.
struct Bytes {
  unsigned top[4], low[4];

  // From where the lane's words are, 256 bytes apart.
  __device__ __forceinline__ explicit Bytes(unsigned words) {
    uint2 x, y;
    load_shared(x, words);
    load_shared(y, words + 256);
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
  // The register operands of the four products of the slab, under scales of which both rows' are
  // in `scales`: pairs of elements I and I + 4 of a word are two apart.
  __device__ __forceinline__ void decode(unsigned (&a)[16], unsigned scales) const {
    unsigned scale_top = low_half_twice(scales), scale_low = high_half_twice(scales);
#pragma unroll
    for (int i = 0; i < 4; i++) {
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
  int slot = warp, pieces = item.pieces;
  float* sums = item.partial + (long long)slot * PARTIAL + thread() % 32 * 4;
  unsigned* counter = item.counters + slot;
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
