// An fp32 product in one launch, by products of bf16 parts of its operands. See cluster.cuh and
// tiled_bf16x6.cuh.
//
//   A [M, K], rows lda apart   B [K, N] (nn) or [N, K] (nt), rows ldb apart
//   bias [N] or null           C [M, N], rows ldc apart
//   early: 1 if the launch may start before the previous one ends
//   block 32 * WARPS; shared memory of STAGES * (BM + BN) * BK elements and, but where CLUSTER *
//   PARTS is 1, BM * BN * 4 + 16 bytes
#include "cluster.cuh"
#include "../tile/tiled_bf16x6.cuh"

struct Mainloop {
  using TiledMma = ::TiledMma;
  static constexpr int ROOM =
      (PRIVATE ? WARPS : 1) * STAGES * (TileA::BYTES + TiledMma::TileB::BYTES);
  template <bool WHOLE, class Work>
  __device__ static bool run(TiledMma& product, const TYPE* A, const TYPE* B, int m0, int n0, int k0,
                             int length, Sizes s, int early, Work meanwhile) {
    Corner at(A, B, m0, n0, k0, s.lda, s.ldb);
    multiply<TiledMma, WHOLE>(product, at.a, at.b, s.M - m0, s.N - n0, length, s.lda, s.ldb, early,
                              meanwhile);
    return true;
  }
};

CLUSTER_ENTRY(cluster_bf16x6)
