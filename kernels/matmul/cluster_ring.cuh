// The way of the one-launch kernels whose operands go through the ring; after a product_*.cuh.
#ifndef MNKBENCH_CLUSTER_RING
#define MNKBENCH_CLUSTER_RING
#include "ring.cuh"

struct Ring {
  using Product = ::Product;
  static constexpr int ROOM =
      (PRIVATE ? WARPS : 1) * STAGES * (TileA::BYTES + Product::TileB::BYTES);
  template <bool WHOLE, class... Args>
  __device__ static void run(Product& product, Args... args) {
    multiply<Product, WHOLE>(product, args...);
  }
};

#endif
