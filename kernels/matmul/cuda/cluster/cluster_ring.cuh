// The way of the one-launch kernels whose operands go through the ring; after a product_*.cuh.
#ifndef MNKBENCH_CLUSTER_RING
#define MNKBENCH_CLUSTER_RING
#include "../tile/ring.cuh"

struct Ring {
  using TiledMma = ::TiledMma;
  static constexpr int ROOM =
      (PRIVATE ? WARPS : 1) * STAGES * (TileA::BYTES + TiledMma::TileB::BYTES);
  template <bool WHOLE, class Work>
  __device__ static bool run(TiledMma& product, const TYPE* A, const TYPE* B, int m0, int n0, int k0,
                             int length, Sizes s, Work meanwhile) {
    Corner at(A, B, m0, n0, k0, s.lda, s.ldb);
    multiply<TiledMma, WHOLE>(product, at.a, at.b, s.M - m0, s.N - n0, length, s.lda, s.ldb,
                             meanwhile);
    return true;
  }
};

#endif
