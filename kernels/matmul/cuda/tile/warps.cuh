// How the sums of warps that share K steps meet in shared memory.
#ifndef MNKBENCH_WARP_REDUCE
#define MNKBENCH_WARP_REDUCE
#include "../../../common/mutant.h"
#include "element.cuh"

// How a block's tile and K step are cut into parts for its warps.
//
// Compile-time: BM, BN, WARPS, TYPE, LAYOUT (nn: B[K, N], nt: B[N, K]), and where they apply:
//   KWARPS          more than one warp shares a K step whatever the tile: so many at least
//   EVEN_A, EVEN_B  A, or B, is whole tiles and K whole steps, all on 16 bytes: nothing is asked
//   WARPGROUPS      products are those of whole warpgroups
//   PRIVATE         each warp has a ring of its own, for its part of K: nobody waits for what
//                   others copy, or for others
//   COLUMNS         so many of a tile's columns are multiplied, as the output has no more: B by
//                   rows is stored in tiles of a power of two

enum Layout { nn, nt };
constexpr bool NT = LAYOUT == nt;
constexpr int THREADS = 32 * WARPS;
// Elements of a 16-byte chunk.
constexpr int PER = 16 / sizeof(TYPE);

#ifndef EVEN_A
#define EVEN_A 0
#endif
#ifndef EVEN_B
#define EVEN_B 0
#endif
#ifndef KWARPS
#define KWARPS 1
#endif
#ifndef COLUMNS
#define COLUMNS BN
#endif
#ifndef WARPGROUPS
#define WARPGROUPS 0
#endif
#ifndef PRIVATE
#define PRIVATE 0
#endif

// At least KWARPS warps split BK; the others halve the longer side of the tile as long as rows by
// sixteens, and columns by eights or in fp32 by sixteens, are left, and then split BK too. A warp of
// a warpgroup has 16 of its 64 rows; those that are more than BM needs share the columns.
struct WarpTiling {
  int m = BM, n = COLUMNS, k = KWARPS;
  __host__ __device__ constexpr WarpTiling() {
    if (WARPGROUPS) m = 16, n = BM * BN / 16 / WARPS;
    for (int warps = WARPGROUPS ? 1 : WARPS / KWARPS; warps > 1; warps /= 2) {
      bool rows = m % 32 == 0;
      if (m >= n && rows) m /= 2;
      else if (n > 16 && n % (sizeof(TYPE) == 4 ? 32 : 16) == 0) n /= 2;
      else if (rows) m /= 2;
      else k *= 2;
    }
  }
};
constexpr int WM = WarpTiling().m, WN = WarpTiling().n, WK = WarpTiling().k;
// Warps of different output, and where the calling one stands among them.
constexpr int POSITIONS = WARPS / WK;
struct Place {
  int k, position;
  __device__ Place() : k(threadIdx.x / 32 % WK), position(threadIdx.x / 32 / WK) {}
};
static_assert(!PRIVATE || WK == WARPS, "each warp has its own part of K");
// The K of a tile in shared memory, and which part of it is a warp's next.
constexpr int TILE_K = PRIVATE ? BK / WK : BK;
__device__ inline int turnOf(int i, int k) { return PRIVATE ? i : i * WK + k; }
// Those who copy it.
constexpr int COPIERS = PRIVATE ? 32 : THREADS;
__device__ inline int copier() { return PRIVATE ? threadIdx.x % 32 : threadIdx.x; }

// The corner of a position's part of the tile.
__device__ inline int rowOf(int position) { return position % (BM / WM) * WM; }
__device__ inline int columnOf(int position) { return position / (BM / WM) * WN; }

// Elements from a matrix's first row to one that is `rows` below it: one instruction, as neither is
// negative.
__device__ inline unsigned long long below(unsigned rows, unsigned ld) {
  return (unsigned long long)rows * ld;
}

// Where the first row of a tile starts in A and, of B, the first column (nt) or the first K (nn).
struct Corner {
  const TYPE *a, *b;
  __device__ Corner(const TYPE* A, const TYPE* B, int m0, int n0, int k0, int lda, int ldb)
      : a(A + below(m0, lda) + k0),
        b(NT ? B + below(n0, ldb) + k0 : B + below(k0, ldb) + n0) {}
};

// All of the block's shared memory; offsets are the kernel's.
SHARED_MEMORY(WARPGROUPS ? 1024 : 128);

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
