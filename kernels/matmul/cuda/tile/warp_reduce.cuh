// How the sums of warps that share K steps meet in shared memory.
#ifndef MNKBENCH_MEETING
#define MNKBENCH_MEETING
#include "../../../common/mutant.h"
#include "warp_tiling.cuh"

// Of warps that split K, each sums its share of the slots: OWN of them.
template <class TiledMma>
struct WarpReduce {
  using Vec = typename TiledMma::Vec;
  static constexpr int SLOTS = TiledMma::SLOTS, OWN = (SLOTS + WK - 1) / WK;
  static constexpr int BYTES = WK > 1 ? WK * BM * COLUMNS * (int)sizeof(float) : 0;

  // The slot that the calling warp's element `i` of `part` is, once they have met.
  __device__ static int slot(int i) { return WK > 1 ? Place().k * OWN + i : i; }

  // `space`: BYTES of shared memory that no warp reads any more, or of each warp that many APART
  // that none but itself does.
  template <int APART = SLOTS * 32 * sizeof(Vec)>
  __device__ static void reduce(TiledMma& product, unsigned char* space) {
    constexpr int W = sizeof(Vec) / sizeof(float), NEXT = APART / sizeof(Vec);
    static_assert(APART >= SLOTS * 32 * sizeof(Vec), "a warp's sums fit in its space");
    if (WK == 1) return;
    Place here;
    Vec* met = (Vec*)space + here.position * WK * NEXT + threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < SLOTS; i++) met[here.k * NEXT + i * 32] = product.part[i];
    if (!MUTANT(warp_reduce_no_barrier)) __syncthreads();
#pragma unroll
    for (int i = 0; i < OWN; i++) {
      if (here.k * OWN + i >= SLOTS) break;
      Vec sum = {};
#pragma unroll
      for (int k = 0; k < WK - MUTANT(warp_reduce_skip_warp); k++) {
        Vec x = met[k * NEXT + (here.k * OWN + i) * 32];
        for (int j = 0; j < W; j++) sum.at[j] += x.at[j];
      }
      product.part[i] = sum;
    }
  }
};

#endif
