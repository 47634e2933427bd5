// How a block's tile and K step are cut into parts for its warps.
//
// Compile-time: BM, BN, WARPS, TYPE, LAYOUT (nn: B[K, N], nt: B[N, K]), and KWARPS where more
// than one warp shares a K step whatever the tile, EVEN_A and EVEN_B where A, or B, is whole tiles
// and K whole steps, all on 16 bytes: nothing is asked then, and WARPGROUPS where products are
// those of whole warpgroups.
#ifndef MNKBENCH_CUT
#define MNKBENCH_CUT
#include "element.cuh"

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
#ifndef WARPGROUPS
#define WARPGROUPS 0
#endif

// At least KWARPS warps split BK; the others halve the longer side of the tile as long as 16, and
// columns by eights, are left, and then split BK too. A warp of a warpgroup has 16 of its 64 rows;
// those that are more than BM needs share the columns.
struct Cut {
  int m = BM, n = BN, k = KWARPS;
  __host__ __device__ constexpr Cut() {
    if (WARPGROUPS) m = 16, n = BM * BN / 16 / WARPS;
    for (int warps = WARPGROUPS ? 1 : WARPS / KWARPS; warps > 1; warps /= 2) {
      if (m >= n && m > 16) m /= 2;
      else if (n > 16 && n % 16 == 0) n /= 2;
      else if (m > 16) m /= 2;
      else k *= 2;
    }
  }
};
constexpr int WM = Cut().m, WN = Cut().n, WK = Cut().k;
// Warps of different output, and where the calling one stands among them.
constexpr int POSITIONS = WARPS / WK;
struct Place {
  int k, position;
  __device__ Place() : k(threadIdx.x / 32 % WK), position(threadIdx.x / 32 / WK) {}
};
// The corner of a position's part of the tile.
__device__ inline int rowOf(int position) { return position % (BM / WM) * WM; }
__device__ inline int columnOf(int position) { return position / (BM / WM) * WN; }

// Elements from a matrix's first row to one that is `rows` below it: one instruction, as neither is
// negative.
__device__ inline unsigned long long below(unsigned rows, unsigned ld) {
  return (unsigned long long)rows * ld;
}

// All of the block's shared memory; offsets are the kernel's.
SHARED_MEMORY(WARPGROUPS ? 1024 : 128);

#endif
