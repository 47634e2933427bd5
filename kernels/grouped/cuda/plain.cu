// A tile of C by tensor cores, the plain way: decode a slab of both operands into shared memory,
// wait, multiply, wait.
//
// A slab is 64 elements of K. Both operands keep its elements in the order in which pair() makes
// them, so that no lane has to sort.
#include "../../common/mutant.h"
#include "../../device/ptx_mma.h"
#include "nvfp4.cuh"

constexpr int TILE = 64, THREADS = 128, LINE = 36; // words of a row: 32, and 4 for the banks

__device__ inline int tiles_of(const Problem& p) {
  return (p.m + TILE - 1) / TILE * ((p.n + TILE - 1) / TILE);
}

// Rows [row, row + TILE) of a slab; rows past the last are 0.
__device__ inline void decode(const unsigned char* codes, const unsigned char* scales, int row,
                              int rows, int slab, int k, unsigned (*to)[LINE]) {
#pragma unroll
  for (int e = threadIdx.x; e < TILE * 8; e += THREADS) {
    int r = row + e / 8, w = e % 8; // eight elements are a word
    uint4 x = {};
    if (r < rows || MUTANT(plain_no_row_guard)) {
      unsigned word = *(const unsigned*)(codes + (long long)r * (k / 2) + slab * 32 + 4 * w);
      unsigned scale = low_twice(scale_pair(scales[blocked_offset(r, 4 * slab + w / 2, k / 16)]));
      x = make_uint4(pair<0>(word, scale), pair<1>(word, scale), pair<2>(word, scale),
                     pair<3>(word, scale));
    }
    *(uint4*)&to[e / 8][4 * w] = x;
  }
}

// The tile whose first element is (m0, n0). Each of four warps has a quarter of it.
__device__ inline void multiply(const Problem& p, int m0, int n0, int mmajor) {
  SHARED_ALIGNED(16, unsigned, a, [TILE][LINE]);
  SHARED_ALIGNED(16, unsigned, b, [TILE][LINE]);
  int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  int top = warp / 2 * 32 + g, left = warp % 2 * 32;
  float d[2][4][4] = {};
  for (int slab = 0; slab < p.k / 64; slab++) {
    decode(p.a, p.sfa, m0, p.m, slab, p.k, a);
    decode(p.b, p.sfb, n0, p.n, slab, p.k, b);
    if (!MUTANT(plain_early_product)) __syncthreads();
#pragma unroll
    for (int s = 0; s < 32; s += 8) { // words of a product's 16 elements
      unsigned x[2][4], y[4][2];
#pragma unroll
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++) x[i][j] = a[top + 16 * i + j % 2 * 8][s + t + j / 2 * 4];
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++) y[i][j] = b[left + 8 * i + g][s + t + 4 * j];
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++) mma_f16(d[i][j], d[i][j] + 2, x[i], y[j]);
    }
    if (!MUTANT(plain_early_refill)) __syncthreads();
  }
#pragma unroll
  for (int e = 0; e < 16; e++) // of 16 x 8 blocks, the upper and the lower half
    store(p, m0 + top + e / 8 * 16 + e % 2 * 8, n0 + left + 2 * t + e / 2 % 4 * 8,
          d[e / 8][e / 2 % 4][e % 2 * 2], d[e / 8][e / 2 % 4][e % 2 * 2 + 1], mmajor);
}

// C = A . B^T of one problem of a list: the list is as many launches, each waited for.
//
// Idea: what one has first. A small problem fills a part of the device, and the next one starts
// when all of it is done.
//
//   grid (tiles of N, tiles of M), block 128
extern "C" __global__ void __launch_bounds__(THREADS)
per_group(const Problem* problems, int problem, int mmajor) {
  multiply(problems[problem], blockIdx.y * TILE, blockIdx.x * TILE, mmajor);
}

// C = A . B^T for a list of problems in one launch.
//
// Idea: the tiles of all problems are one row of numbers. As many blocks as the device holds at
// once take each gridDim.x-th of them, so a small problem leaves nothing idle but at the very end.
//
//   block 128
extern "C" __global__ void __launch_bounds__(THREADS)
persistent(const Problem* problems, int count, int mmajor) {
  int first = 0, tile = blockIdx.x; // the first tile of problem `problem`
  for (int problem = 0; problem < count; problem++) {
    const Problem& p = problems[problem];
    int end = first + tiles_of(p), across = (p.n + TILE - 1) / TILE;
    for (; tile < end; tile += gridDim.x) {
      int own = tile - first;
      multiply(p, own / across * TILE, own % across * TILE, mmajor);
    }
    if (!MUTANT(persistent_same_tiles)) first = end;
  }
}
