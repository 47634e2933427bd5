// A product of K slices through a ring of K steps in shared memory.
//
// Compile-time: warp_tiling.cuh's, and BK, STAGES. A `TiledMma` (tiled_mma.cuh, tiled_ffma.cuh)
// says how one K step is multiplied.
#ifndef MNKBENCH_RING
#define MNKBENCH_RING
#include "../../../common/mutant.h"
#include "warp_reduce.cuh"
#include "tile.cuh"

// product += a[.., length] . b[length, ..], of which `rows` rows and `cols` columns exist.
// Calls `meanwhile` with the first copies under way. Lanes, and then warps, that split K add their
// sums, and each has a share of them.
template <class TiledMma, bool WHOLE, class Work>
__device__ inline void multiply(TiledMma& product, const TYPE* a, const TYPE* b, int rows,
                               int cols, int length, int lda, int ldb, Work meanwhile) {
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
  auto copy = [&](int step, int stage) {
    int k = step * BK + (MUTANT(ring_same_k) ? 0 : warp) * TILE_K, at = stage * STAGE;
    TileA::template copy<WHOLE, EVEN_A>(ownA, at, 0, k, lda, rows, length - k);
    if (NT) TileB::template copy<WHOLE, EVEN_B>(ownB, at, 0, k, ldb, cols, length - k);
    else TileB::template copy<WHOLE, EVEN_B>(ownB, at, k, 0, ldb, length - k, cols);
  };

  // As much in flight as the ring holds, before anything else.
#pragma unroll
  for (int s = 0; s < STAGES; s++) {
    if (s == 0 || s < steps) copy(s, s);
    commit_copies();
  }
  meanwhile();

  int stage = 0;
#pragma unroll 1
  for (int step = 0; step < steps; step++) {
    // Each step finds STAGES groups under way, and waits for the oldest.
    if (!MUTANT(ring_no_wait)) wait_copies<STAGES - 1 + MUTANT(ring_late_wait)>();
    product.copied();
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
      copy(step + STAGES, MUTANT(ring_wrong_stage) ? (stage + STAGES - 1) % STAGES : stage);
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
