// A product in one launch. See cluster.cuh; how operands are loaded and multiplied is one of these:
//
//              cluster_mma      a ring in shared memory, tensor cores
//   FFMA       cluster_ffma     the same in IEEE fp32
//   WARPGROUPS cluster_wgmma    a ring that tensor maps fill, products of whole warpgroups
//
// Ideas: a product of 64 x BN by a warpgroup reads its operands from shared memory once, not once
// for each warp, so that tiles are large, and each operand is read from the cache less often. With
// tensor maps a thread of a warp of its own asks for a K step of both operands; no other has
// anything to do with addresses, and what does not exist arrives as zeros.
//
//   A [M, K], rows lda apart   B [K, N] (nn) or [N, K] (nt), rows ldb apart
//   bias [N] or null           C [M, N], rows ldc apart
//   early: 1 if the launch may start before the previous one ends
//   block 32 * WARPS; shared memory of STAGES * (BM + BN) * BK elements and, but where CLUSTER *
//   PARTS is 1, BM * BN * 4 + 16 bytes
//   WARPGROUPS: boxes of BM / TILES_N x 64 of A and BN / TILES_M x 64 of B (nn: BK / TILES_M x 64);
//   slice is whole K steps; block 32 more, 16 bytes a stage more
#include "cluster.cuh"
#if WARPGROUPS
#include "../tile/tiled_wgmma.cuh"
#elif FFMA
#include "../tile/tiled_ffma.cuh"
#elif BM == 8
#include "../tile/tiled_mma8.cuh"
#else
#include "../tile/tiled_mma.cuh"
#endif

#if !WARPGROUPS
struct Mainloop {
  using TiledMma = ::TiledMma;
  static constexpr int ROOM =
      (PRIVATE ? WARPS : 1) * STAGES * (TileA::BYTES + TiledMma::TileB::BYTES);
  template <bool WHOLE, class Work>
  __device__ static bool run(TiledMma& product, const TYPE* A, const TYPE* B, int m0, int n0, int k0,
                             int length, Sizes s, int early, Work meanwhile) {
    Corner at(A, B, m0, n0, k0, s.lda, s.ldb);
    multiply<TiledMma, WHOLE>(product, at.a, at.b, s.M - m0, s.N - n0, length, s.lda, s.ldb,
                             early, meanwhile);
    return true;
  }
};
#endif

#if WARPGROUPS
extern "C" __global__ void __launch_bounds__(TensorRing<TiledMma>::BLOCK, 1)
cluster_wgmma(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
               const TYPE* bias, TYPE* C, int M, int N, int K, int slice, int ldc, int relu,
               int early) {
  cluster_of<TensorRing<TiledMma>, true>(&A, &B, {C, bias, relu}, nullptr, {M, N, K, slice, 0, 0, ldc},
                                          early);
}
#elif FFMA
CLUSTER_ENTRY(cluster_ffma)
#else
CLUSTER_ENTRY(cluster_mma)
#endif
