// The partial products of K slices: on tensor cores, 16-bit operands, fp32 sums; FFMA=1: in IEEE fp32.
//
// Idea: with M and N far below K, output tiles alone leave most of the GPU idle; slices of K
// become blocks too, each writing its own fp32 product, summed by a second kernel.
//
//   A [M, K], rows lda apart   B [K, N] (nn) or [N, K] (nt), rows ldb apart
//   P [K / slice, M, N] fp32   block 32 * WARPS, STAGES * (BM + BN) * BK elements
//
// PDL=1: the kernel that sums is launched once all blocks have their first copies under way; it waits
// for them itself. This one may be launched while its predecessor runs: it waits before it reads A
// and B, which that may write, and before it writes P.
#include "../../common/mutant.h"
#include "tile/ring.cuh"
#if FFMA
#include "tile/tiled_ffma.cuh"
#define ENTRY partial_ffma
#else
#include "tile/tiled_mma.cuh"
#define ENTRY partial_mma
#endif

// P[split, m0.., n0..] = A[m0.., K slice] . B[K slice, n0..].
template <class TiledMma, bool WHOLE>
__device__ inline void slice_of(const TYPE* A, const TYPE* B, float* P, int M, int N, int slice,
                                int lda, int ldb, int m0, int n0, int split) {
  int k0 = split * slice;
  Corner at(A, B, m0, n0, k0, lda, ldb);
  Place here;
  TiledMma product(rowOf(here.position), columnOf(here.position), here.k, threadIdx.x % 32);
  multiply<TiledMma, WHOLE>(product, at.a, at.b, M - m0, N - n0, slice, lda, ldb, 0, [] {});
  using Reduce = WarpReduce<TiledMma>;
#pragma unroll
  for (int i = 0; i < Reduce::OWN; i++) {
    int slot = Reduce::slot(i);
    int row = m0 + product.row(slot), col = n0 + product.col(slot);
    if (slot < TiledMma::SLOTS && (row < M || MUTANT(partial_no_row_guard)))
      store(P + ((long long)split * M + row) * N + col, product.part[i], N - col);
  }
}

// Apart, so that the path that matters reaches its first load in a straight line.
template <class TiledMma>
__device__ __noinline__ void ragged(const TYPE* A, const TYPE* B, float* P, int M, int N,
                                    int slice, int lda, int ldb, int m0, int n0, int split) {
  slice_of<TiledMma, false>(A, B, P, M, N, slice, lda, ldb, m0, n0, split);
}

// The part of the work that is this block's.
//
//   grid (tiles of M in a group, tiles of N, groups * splits): consecutive blocks share a
//   K slice and a few columns of B. slice = K / splits. `whole` says that the rows of A and
//   of B start on 16 bytes in every slice and are whole chunks long.
template <class TiledMma>
__device__ inline void partial(const TYPE* A, const TYPE* B, float* P, int M, int N, int slice,
                               int lda, int ldb, int groups, int whole) {
  int group = 0, split = blockIdx.z;
  if (groups > 1) {
    group = split % groups;
    split /= groups;
  }
  int m0 = (group * gridDim.x + blockIdx.x) * BM, n0 = blockIdx.y * BN;
  if (m0 >= M) return;
  if (whole) slice_of<TiledMma, true>(A, B, P, M, N, slice, lda, ldb, m0, n0, split);
  else ragged<TiledMma>(A, B, P, M, N, slice, lda, ldb, m0, n0, split);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
ENTRY(const TYPE* A, const TYPE* B, float* P, int M, int N, int slice, int lda, int ldb, int groups,
      int whole) {
#if PDL
  if (!MUTANT(partial_no_launch_wait)) wait_for_prerequisites();
#endif
  partial<TiledMma>(A, B, P, M, N, slice, lda, ldb, groups, whole);
}
