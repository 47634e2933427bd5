// The partial products of K slices in IEEE fp32, as partial_mma.cu's on tensor cores.
//
//   A [M, K], rows lda apart   B [K, N] (nn) or [N, K] (nt), rows ldb apart
//   P [K / slice, M, N] fp32   block 32 * WARPS, STAGES * (BM + BN) * BK * 4 bytes
#include "partial.cuh"
#include "tile/tiled_ffma.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, 1)
partial_ffma(const TYPE* A, const TYPE* B, float* P, int M, int N, int slice, int lda, int ldb,
             int groups, int whole) {
  partial<TiledMma>(A, B, P, M, N, slice, lda, ldb, groups, whole);
}
