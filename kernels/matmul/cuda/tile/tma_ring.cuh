// The way of the one-launch kernels whose operands are copied by tensor maps; after a product_*.cuh
// that multiplies tiles in boxes of 128 bytes.
//
// A ring of K steps, which a warp of its own fills: one lane of it asks for a step as soon as all
// who multiply have read what was there. Of each stage one mbarrier counts the bytes that have
// come, and one the warps that have read them.
#ifndef MNKBENCH_TENSOR_RING
#define MNKBENCH_TENSOR_RING
#include "../../../common/mutant.h"
#include "../../../device/ptx_tensor.h"
#include "../../../device/ptx_wgmma.h"
#include "../cluster/cluster.cuh"

struct TensorRing {
  using TiledMma = ::TiledMma;
  using TileB = TiledMma::TileB;
  static constexpr int STAGE = TileA::BYTES + TileB::BYTES, BARRIERS = STAGES * STAGE;
  static constexpr int ROOM = BARRIERS + STAGES * 16;
  // The warp that copies comes after those that multiply.
  static constexpr int BLOCK = THREADS + 32;

  // Of both operands the K step at `k`.
  __device__ static void copy(const TensorMap* A, const TensorMap* B, int m0, int n0, int k,
                              unsigned to, unsigned bar) {
    barrier_expect(bar, MUTANT(tma_few_bytes) ? TileA::BYTES : STAGE);
#pragma unroll
    for (int box = 0; box < BK / BOX; box++)
      copy_tile(to + box * BM * 128, A, k + (MUTANT(tma_same_box) ? 0 : box) * BOX, m0, bar);
#pragma unroll
    for (int box = 0; box < BK / BOX; box++)
      copy_tile(to + TileA::BYTES + (MUTANT(tma_same_place) ? 0 : box) * BN * 128, B, k + box * BOX, n0,
                bar);
  }

  // False for the warp that copies: it has no sums.
  template <bool WHOLE, class Work>
  __device__ static bool run(TiledMma& product, const TensorMap* A, const TensorMap* B, int m0,
                             int n0, int k0, int length, Sizes, Work meanwhile) {
    unsigned ring = shared_address(memory), come = ring + BARRIERS, read = come + STAGES * 8;
    int steps = length > BK ? (length + BK - 1) / BK : 1;
    bool copies = threadIdx.x == THREADS;
    auto ask = [&](int step, int stage) {
      copy(A, B, m0, n0, k0 + step * BK, ring + stage * STAGE, come + stage * 8);
    };
    if (copies) {
#pragma unroll
      for (int s = 0; s < STAGES; s++) {
        barrier_init(come + s * 8, 1);
        int readers = MUTANT(tma_one_warp) ? 1 : MUTANT(tma_one_warpgroup) ? 4 : WARPS;
        barrier_init(read + s * 8, readers);
      }
      if (!MUTANT(tma_no_fence)) barrier_made();
#pragma unroll
      for (int s = 0; s < STAGES; s++)
        if (s == 0 || s < steps) ask(s, s);
    }
    meanwhile();
    // All see the barriers.
    if (!MUTANT(tma_no_barrier)) __syncthreads();
    int stage = 0, parity = 0;
    if (threadIdx.x >= THREADS) {
#pragma unroll 1
      for (int step = STAGES; copies && step < steps; step++) {
        if (!MUTANT(tma_early_refill)) barrier_wait(read + stage * 8, parity);
        ask(step, stage);
        if (++stage == STAGES) stage = 0, parity ^= !MUTANT(tma_same_empty_phase);
      }
      __syncwarp();
      if (CLUSTER > 1) cluster_wait();
      return false;
    }
    // A stage has been read when the products of the next one are all that is under way: where
    // there is a next one, so are two stages.
    int before = 0;
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
      unsigned from = ring + stage * STAGE;
      if (!MUTANT(tma_no_wait)) barrier_wait(come + stage * 8, parity);
      product.start(from, from + TileA::BYTES);
      wgmma_wait<1 + MUTANT(tma_late_wait)>();
      __syncwarp();
      if (threadIdx.x % 32 == 0 && step > 0 && step - 1 + STAGES < steps)
        barrier_arrive(read + (MUTANT(tma_early_release) ? stage : before) * 8);
      before = stage;
      if (++stage == STAGES) stage = 0, parity ^= !MUTANT(tma_same_full_phase);
    }
    if (!MUTANT(tma_no_finish)) product.finish();
    product.meet();
    return true;
  }
};

#endif
