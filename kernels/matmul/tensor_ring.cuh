// The way of the one-launch kernels whose operands are copied by tensor maps; after a product_*.cuh
// that multiplies tiles in boxes of 128 bytes.
//
// As ring.cuh's, a ring of K steps that is filled again as soon as it is read: an mbarrier of each
// stage counts the bytes that have come.
#ifndef MNKBENCH_TENSOR_RING
#define MNKBENCH_TENSOR_RING
#include "../api/ptx_tensor.h"
#include "cluster.cuh"

struct TensorRing {
  using Product = ::Product;
  using TileB = Product::TileB;
  static constexpr int STAGE = TileA::BYTES + TileB::BYTES, BARRIERS = STAGES * STAGE;
  static constexpr int ROOM = BARRIERS + (STAGES + 1) / 2 * 16;

  // Of both operands the K step at `k`.
  __device__ static void copy(const TensorMap* A, const TensorMap* B, int m0, int n0, int k,
                              unsigned to, unsigned bar) {
    barrier_expect(bar, STAGE);
#pragma unroll
    for (int box = 0; box < BK / BOX; box++)
      copy_tile(to + box * BM * 128, A, k + box * BOX, m0, bar);
#pragma unroll
    for (int box = 0; box < BK / BOX; box++)
      copy_tile(to + TileA::BYTES + box * BN * 128, B, k + box * BOX, n0, bar);
  }

  template <bool WHOLE, class Work>
  __device__ static void run(Product& product, const TensorMap* A, const TensorMap* B, int m0,
                             int n0, int k0, int length, Sizes, Work meanwhile) {
    unsigned ring = shared_address(memory), bars = ring + BARRIERS;
    int steps = length > BK ? (length + BK - 1) / BK : 1;
    if (threadIdx.x == 0) {
#pragma unroll
      for (int s = 0; s < STAGES; s++) barrier_init(bars + s * 8, 1);
      barrier_made();
#pragma unroll
      for (int s = 0; s < STAGES; s++)
        if (s == 0 || s < steps) copy(A, B, m0, n0, k0 + s * BK, ring + s * STAGE, bars + s * 8);
    }
    meanwhile();
    // All see the barriers.
    __syncthreads();
    int stage = 0, parity = 0;
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
      unsigned from = ring + stage * STAGE, bar = bars + stage * 8;
      barrier_wait(bar, parity);
      product.step(from, from + TileA::BYTES);
      if (step + STAGES < steps) {
        __syncthreads();
        if (threadIdx.x == 0) copy(A, B, m0, n0, k0 + (step + STAGES) * BK, from, bar);
      }
      if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    product.meet();
    Meeting<Product>::meet(product, memory);
  }
};

#endif
