// The weights of a warp of best.cu: how they come, and how they become operands.
#ifndef GROUPED_BEST_WEIGHTS
#define GROUPED_BEST_WEIGHTS
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
    int row = row_of(item) + t / 32 % SHARERS * 16;
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

#endif
