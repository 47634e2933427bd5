// A product of K slices through a ring of K steps in shared memory.
//
// Compile-time: warps.cuh's, and BK, STAGES. A `TiledMma` (tiled_mma.cuh, tiled_ffma.cuh)
// says how one K step is multiplied.
#ifndef MNKBENCH_RING
#define MNKBENCH_RING
#include "../../../common/mutant.h"
#include "../../../device/ptx_memory.h"
#include "warps.cuh"
#include "warps.cuh"

// A tile of an operand in shared memory, and how a block copies it there, or a warp.
//
// Compile-time: warps.cuh's.

// ROWS x COLS elements as stored. The chunks of a row are permuted
// by the row (XOR), so that eight rows' chunks of one column lie in different banks; rows that are
// read together may be 2^APART apart.
template <int ROWS, int COLS, int APART = 0>
struct Tile {
  static constexpr int CHUNKS = COLS / PER, ALL = ROWS * CHUNKS;
  static constexpr int BYTES = ALL * 16, TURNS = (ALL + COPIERS - 1) / COPIERS;
  static constexpr int WIDE = CHUNKS < 8 ? CHUNKS : 8;
  static constexpr bool POWERS = (CHUNKS & CHUNKS - 1) == 0 && (COPIERS & COPIERS - 1) == 0;
  static_assert(POWERS, "a turn adds bits to a thread's row and chunk that it has not");

  __host__ __device__ static constexpr unsigned flips(unsigned row) {
    return (row >> APART) / (8 / WIDE) % WIDE;
  }
  // Bytes from the start of the tile to a chunk.
  __device__ static unsigned at(unsigned row, unsigned chunk) {
    return (row * CHUNKS + (chunk ^ flips(row))) * 16;
  }

  // A thread's first chunk: where it is and where it goes. All others are constants away, as the
  // first load of a block waits for what is computed before it. All threads take one row after
  // another: memory answers long runs faster than many short ones.
  struct Own {
    unsigned row, chunk, to;
    const TYPE* from;
    __device__ Own(unsigned tile, const TYPE* all, int ld)
        : row(copier() / CHUNKS), chunk(copier() % CHUNKS), to(tile + at(row, chunk)),
          from(all + below(row, ld) + chunk * PER) {}
  };

  // Starts to copy the tile `down` rows and `right` columns into the operand, `stage` bytes into
  // the ring. Of it `rows` x `cols` exist, all if EVEN; the rest is 0. WHOLE: chunks start on 16
  // bytes, and each exists wholly or not at all.
  template <bool WHOLE, bool EVEN>
  __device__ static void copy(const Own& own, unsigned stage, int down, int right, int ld, int rows,
                              int cols) {
    constexpr int UNROLL = !WHOLE ? 1 : TURNS <= 32 ? TURNS : 16;
    int left = cols - (int)own.chunk * PER, under = rows - (int)own.row;
#pragma unroll UNROLL
    for (int turn = 0; turn < TURNS; turn++) {
      int i = turn * COPIERS, row = i / CHUNKS, chunk = i % CHUNKS;
      if (ALL % COPIERS != 0 && turn == TURNS - 1 && own.row + row >= ROWS) break;
      const TYPE* p = own.from + below(down + row, ld) + right + chunk * PER;
      unsigned to = (own.to ^ flips(row) * 16) + stage + (row * CHUNKS + chunk) * 16;
      int there = row < under || MUTANT(tile_no_row_guard) ? left - chunk * PER : 0;
      if (EVEN) {
        copy_async_16_line(to, p);
      } else if (WHOLE) {
        copy_async_16_line(to, p, there);
      } else {
        Pack<TYPE, PER> x = {};
        for (int j = 0; j < PER; j++)
          if (j < there || MUTANT(tile_no_column_guard)) x.at[j] = p[j];
        store_shared(to, *(uint4*)&x);
      }
    }
  }
};
using TileA = Tile<BM, TILE_K>;

// product += a[.., length] . b[length, ..], of which `rows` rows and `cols` columns exist.
// Calls `meanwhile` with the first copies under way. Lanes, and then warps, that split K add their
// sums, and each has a share of them. `early`: b is asked for while the previous launch runs, a
// after it.
template <class TiledMma, bool WHOLE, class Work>
__device__ inline void multiply(TiledMma& product, const TYPE* a, const TYPE* b, int rows,
                               int cols, int length, int lda, int ldb, int early, Work meanwhile) {
  static_assert(STAGES >= 1, "there is somewhere to copy to");
  using TileB = typename TiledMma::TileB;
  constexpr int STAGE = TileA::BYTES + TileB::BYTES, RINGS = PRIVATE ? WARPS : 1;
  int warp = PRIVATE ? threadIdx.x / 32 : 0;
  unsigned ring = shared_address(memory) + (MUTANT(ring_shared) ? 0 : warp) * STAGES * STAGE;
  auto meet = [] {
    if (!PRIVATE) __syncthreads();
    else if (!MUTANT(ring_no_warp_barrier)) __syncwarp();
  };

  // An empty slice is a step of zeros.
  int steps = length > BK ? (length + BK - 1) / BK : 1;
  typename TileA::Own ownA(ring, a, lda);
  typename TileB::Own ownB(ring + TileA::BYTES, b, ldb);
  auto k_of = [&](int step) { return step * BK + (MUTANT(ring_same_k) ? 0 : warp) * TILE_K; };
  auto copy_a = [&](int step, int stage) {
    int k = k_of(step);
    TileA::template copy<WHOLE, EVEN_A>(ownA, stage * STAGE, 0, k, lda, rows, length - k);
  };
  auto copy_b = [&](int step, int stage) {
    int k = k_of(step), at = stage * STAGE;
    if (NT) TileB::template copy<WHOLE, EVEN_B>(ownB, at, 0, k, ldb, cols, length - k);
    else TileB::template copy<WHOLE, EVEN_B>(ownB, at, k, 0, ldb, length - k, cols);
  };

  // As much in flight as the ring holds, before anything else.
  auto exists = [&](int s) { return s < STAGES && (s == 0 || s < steps); };
  if (early) {
#pragma unroll 1
    for (int s = 0; exists(s); s++) copy_b(s, s);
    commit_copies();
    if (!MUTANT(ring_no_launch_wait)) wait_for_prerequisites();
#pragma unroll 1
    for (int s = 0; s < STAGES; s++) {
      if (exists(s)) copy_a(s, s);
      commit_copies();
    }
  } else {
#pragma unroll
    for (int s = 0; s < STAGES; s++) {
      if (exists(s)) copy_a(s, s), copy_b(s, s);
      commit_copies();
    }
  }
  // The next launch may start: it asks for its own B.
  launch_dependents();
  meanwhile();

  int stage = 0;
#pragma unroll 1
  for (int step = 0; step < steps; step++) {
    // Each step finds STAGES groups under way, and waits for the oldest; the first of an early launch
    // finds one more, which is older: B of all stages.
    if (!MUTANT(ring_no_wait)) wait_copies<STAGES - 1 + MUTANT(ring_late_wait)>();
    if (!MUTANT(ring_no_barrier)) meet();
    unsigned from = ring + stage * STAGE;
    product.step(from, from + TileA::BYTES);
    // A stage is filled again as soon as all who share it have read it, not with the next step:
    // while that is waited for, all stages are under way.
    if (step + STAGES < steps) {
      if (!MUTANT(ring_early_refill)) meet();
      // Registers are for what is multiplied: where chunks go is not kept from step to step.
      not_before(ownA.to);
      not_before(ownB.to);
      int to = MUTANT(ring_wrong_stage) ? (stage + STAGES - 1) % STAGES : stage;
      copy_a(step + STAGES, to);
      copy_b(step + STAGES, to);
    }
    if (step + STAGES < steps || !MUTANT(ring_no_empty_group)) commit_copies();
    stage = stage + 1 + MUTANT(ring_skip_stage) == STAGES ? 0 : stage + 1;
  }
  product.meet();
  using Reduce = WarpReduce<TiledMma>;
  static_assert(Reduce::BYTES <= RINGS * STAGES * STAGE, "the sums of all warps fit in the ring");
  if constexpr (PRIVATE) {
    // A warp's own ring is free once all its lanes have read.
    if (!MUTANT(ring_early_sums)) __syncwarp();
    Reduce::template reduce<STAGES * STAGE>(product, memory);
    return;
  }
  // The stage after the last is free already; for more, all must have read theirs.
  if (STAGES == 1 || Reduce::BYTES > STAGE) {
    __syncthreads();
    stage = 0;
  }
  Reduce::reduce(product, memory + stage * STAGE);
}

#endif
