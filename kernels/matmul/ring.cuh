// A product of K slices through a ring of K steps in shared memory.
//
// Compile-time: cut.cuh's, and BK, STAGES. A `Product` (product_mma.cuh, product_ffma.cuh)
// says how one K step is multiplied.
#ifndef MNKBENCH_RING
#define MNKBENCH_RING
#include "../api/ptx_copy.h"
#include "../api/ptx_memory.h"
#include "meeting.cuh"

// A tile of ROWS x COLS elements as stored. The chunks of a row are permuted by the row
// (XOR), so that eight rows' chunks of one column lie in different banks; rows that are read
// together may be 2^APART apart.
template <int ROWS, int COLS, int APART = 0>
struct Tile {
  static constexpr int CHUNKS = COLS / PER, ALL = ROWS * CHUNKS;
  static constexpr int BYTES = ALL * 16, TURNS = (ALL + THREADS - 1) / THREADS;
  static constexpr int WIDE = CHUNKS < 8 ? CHUNKS : 8;

  // Bytes from the start of the tile to a chunk.
  __device__ static unsigned at(int row, int chunk) {
    return (row * CHUNKS + (chunk ^ ((row >> APART) / (8 / WIDE) % WIDE))) * 16;
  }

  // Starts to copy what is at `from`, of which only `rows` x `cols` exist; the rest is 0. All
  // threads take one row after another: memory answers long runs faster than many short ones.
  // WHOLE: chunks start on 16 bytes, and each exists wholly or not at all.
  template <bool WHOLE>
  __device__ static void copy(unsigned to, const TYPE* from, int ld, int rows, int cols) {
    constexpr int UNROLL = !WHOLE ? 1 : TURNS <= 16 ? TURNS : 8;
#pragma unroll UNROLL
    for (int turn = 0; turn < TURNS; turn++) {
      int i = turn * THREADS + threadIdx.x, row = i / CHUNKS, chunk = i % CHUNKS;
      if (ALL % THREADS != 0 && row >= ROWS) break;
      const TYPE* p = from + (long long)row * ld + chunk * PER;
      int there = row < rows ? cols - chunk * PER : 0;
      if (WHOLE) {
        copy_async_16_line(to + at(row, chunk), p, there);
      } else {
        Pack<TYPE, PER> x = {};
        for (int j = 0; j < PER; j++)
          if (j < there) x.at[j] = p[j];
        store_shared(to + at(row, chunk), *(uint4*)&x);
      }
    }
  }
};
using TileA = Tile<BM, BK>;

// product += a[.., length] . b[length, ..], of which `rows` rows and `cols` columns exist.
// Calls `meanwhile` with the first copies under way. What warps that split K sum is theirs.
template <class Product, bool WHOLE, class Work>
__device__ inline void multiply(Product& product, const TYPE* a, const TYPE* b, int rows,
                               int cols, int length, int lda, int ldb, Work meanwhile) {
  static_assert(STAGES >= 1, "there is somewhere to copy to");
  using TileB = typename Product::TileB;
  constexpr int STAGE = TileA::BYTES + TileB::BYTES;
  unsigned ring = shared_address(memory);

  // An empty slice is a step of zeros.
  int steps = length > BK ? (length + BK - 1) / BK : 1;
  auto copy = [&](int step, int stage) {
    int k = step * BK;
    unsigned toA = ring + stage * STAGE, toB = toA + TileA::BYTES;
    TileA::template copy<WHOLE>(toA, a + k, lda, rows, length - k);
    if (NT) TileB::template copy<WHOLE>(toB, b + k, ldb, cols, length - k);
    else TileB::template copy<WHOLE>(toB, b + (long long)k * ldb, ldb, length - k, cols);
  };

  // As much in flight as the ring holds, before anything else.
#pragma unroll
  for (int s = 0; s < STAGES; s++) {
    if (s == 0 || s < steps) copy(s, s);
    commit_copies();
  }
  meanwhile();

  int stage = 0, before = 0;
#pragma unroll 1
  for (int step = 0; step < steps; step++) {
    // The first step finds STAGES groups under way, every later one STAGES - 1.
    if (STAGES == 1 && step > 0) {
      __syncthreads();
      copy(step, 0);
      commit_copies();
    }
    if (step == 0 || STAGES == 1) wait_copies<STAGES - 1>();
    else wait_copies<STAGES == 1 ? 0 : STAGES - 2>();
    __syncthreads();
    if (STAGES > 1 && step > 0) {
      // All warps are past the step before: its stage takes the next copy.
      if (step - 1 + STAGES < steps) copy(step - 1 + STAGES, before);
      commit_copies();
    }
    unsigned from = ring + stage * STAGE;
    product.step(from, from + TileA::BYTES);
    before = stage;
    stage = stage + 1 == STAGES ? 0 : stage + 1;
  }
  using Met = Meeting<Product>;
  static_assert(Met::BYTES <= STAGES * STAGE, "the sums of all warps fit in the ring");
  // The stage after the last is free already; for more, all must have read theirs.
  if (STAGES == 1 || Met::BYTES > STAGE) {
    __syncthreads();
    stage = 0;
  }
  Met::meet(product, memory + stage * STAGE);
}

#endif
