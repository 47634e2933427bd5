// The partial products of K slices on tensor cores, 16-bit operands, fp32 sums.
//
// Idea: with M and N far below K, output tiles alone leave most of the GPU idle; slices of K
// become blocks too, each writing its own fp32 product, summed by a second kernel.
//
//   A [M, K], rows lda apart   B [K, N] (nn) or [N, K] (nt), rows ldb apart
//   P [K / slice, M, N] fp32   block 32 * WARPS, STAGES * (BM + BN) * BK * 2 bytes
#include "partial.cuh"
#include "tile/tiled_mma.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, 1)
partial_mma(const TYPE* A, const TYPE* B, float* P, int M, int N, int slice, int lda, int ldb,
            int groups, int whole) {
  partial<TiledMma>(A, B, P, M, N, slice, lda, ldb, groups, whole);
}
