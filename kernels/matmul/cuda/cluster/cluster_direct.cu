// A product in one launch on tensor cores whose operands never touch shared memory. See
// cluster.cuh and direct_mma.cuh.
//
//   A [M, K], rows lda apart   B [K, N] (nn) or [N, K] (nt), rows ldb apart
//   bias [N] or null           C [M, N], rows ldc apart
//   block 32 * WARPS, (WARPS > 1 ? WARPS + 1 : 1) * BM * BN * 4 + 16 bytes
#include "cluster.cuh"
#include "../tile/direct_mma.cuh"

struct Mainloop {
  using TiledMma = Direct;
  static constexpr int ROOM = WarpReduce<Direct>::BYTES;
  template <bool WHOLE, class Work>
  __device__ static bool run(Direct& product, const TYPE* A, const TYPE* B, int m0, int n0, int k0,
                             int length, Sizes s, Work meanwhile) {
    Corner at(A, B, m0, n0, k0, s.lda, s.ldb);
    multiply_directly<WHOLE>(product, at.a, at.b, s.M - m0, s.N - n0, length, s.lda, s.ldb,
                             meanwhile);
    WarpReduce<Direct>::reduce(product, memory);
    return true;
  }
};

CLUSTER_ENTRY(cluster_direct, Mainloop)
