// C = scaleA . A . (scaleB . B)^T, E4M3 A[M, K] and B[N, K], bf16 C[M, N], in one launch.
//
// Idea: rows of B are the 16 rows of a tensor core product and rows of A its 8 columns, so that
// a few rows of A waste little. A lane loads 16 consecutive K of each of its rows to registers,
// without shared memory: the K of a product may be permuted as long as both operands agree. The
// codes become f16 there, exactly: mma.sync has no FP8 units on sm_90, where ptxas converts e4m3
// operands as well, and FP8 wgmma keeps about 14 bits of a sum. Warps take turns on 128 of K,
// the depth of a block scale; blocks of a cluster have slices of K and add their sums in
// cluster_reduce.cuh.
//
// Compile-time: SCALE (tensor, row, block128), ROWS (of B, a tile's), TOKENS (rows of A, a
// tile's), WARPS, CLUSTER, STAGES: turns under way in a warp.
//
//   A, B rows of K, a multiple of 16, on 16 bytes   scales as in point.ts
//   grid (CLUSTER, tiles of N, tiles of M), block 32 * WARPS,
//   (WARPS + 1) * ROWS * TOKENS * 4 + 16 bytes
//
// With REFERENCE instead: C in f64, the definition in double precision.
//   grid enough warps for M * N or fewer (they stride), block 128
enum Scale { tensor, row, block128 };
constexpr int BLOCK = 128;

#ifdef REFERENCE

#include "../../device/ptx.h"

// From f16 without its exponent's bias: seven bits further up a code is f16 but for 2^8.
__device__ inline double value(unsigned char code) {
  return (double)f16_to_f32((unsigned short)((code & 0x80) << 8 | (code & 0x7f) << 7)) * 256;
}

extern "C" __global__ void __launch_bounds__(128)
reference(const unsigned char* A, const unsigned char* B, const float* scaleA,
          const float* scaleB, double* C, int M, int N, int K, int scale) {
  int lane = threadIdx.x % 32, blocks = (K + BLOCK - 1) / BLOCK, stride = (blocks + 3) / 4 * 4;
  long long count = (long long)M * N, warps = (long long)gridDim.x * 4;
  for (long long e = blockIdx.x * 4ll + threadIdx.x / 32; e < count; e += warps) {
    long long i = e / N, j = e - i * N;
    double sum = 0;
    for (int k = lane; k < K; k += 32) {
      int block = k / BLOCK;
      double a = scaleA[scale == block128 ? (long long)block * M + i : scale == row ? i : 0];
      double b = scaleB[scale == block128 ? j / BLOCK * stride + block : scale == row ? j : 0];
      sum += value(A[i * K + k]) * value(B[j * K + k]) * a * b;
    }
    for (int apart = 16; apart; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
    if (lane == 0) C[e] = sum;
  }
}

#else

// What cluster_reduce.cuh and what it includes are told of the tile.
#define TYPE bf16
#define LAYOUT nt
#define BM ROWS
#define BN TOKENS
#define BK BLOCK
#define KWARPS WARPS

#include "../../common/mutant.h"
#include "../../device/ptx_memory.h"
#include "../../device/ptx_mma.h"
#include "../../matmul/cuda/tile/cluster_reduce.cuh"

constexpr int HIGH = ROWS / 16, WIDE = TOKENS / 8;
constexpr bool BLOCKS = SCALE == block128;

struct Operands {
  const unsigned char *A, *B;
  const float *scaleA, *scaleB;
  int M, N, K, m0, n0;
};

// Sums of a tile: of each 16 x 8 product columns 2 (lane % 4) + {0, 1} of row lane / 4, then of
// the row 8 below.
struct Product {
  using Vec = Pack<float, 4>;
  static constexpr int SLOTS = HIGH * WIDE;
  Vec part[SLOTS] = {};
};

struct Mainloop {
  using TiledMma = Product;
  static constexpr int ROOM = WarpReduce<Product>::BYTES;
};

// 128 of K, of which a lane has two chunks of 16 of each of its rows.
struct Turn {
  uint4 b[2][2 * HIGH], a[2][WIDE];
  float scaleA[WIDE][2], scaleB;

  __device__ void read(const Operands& at, int k0, int end, unsigned long long policy) {
    int row = threadIdx.x % 32 / 4, chunk = threadIdx.x % 4 * 16;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      int k = k0 + half * 64 + chunk;
      bool more = k < end || MUTANT(scaled_no_end_guard);
#pragma unroll
      for (int h = 0; h < 2 * HIGH; h++) {
        int n = at.n0 + h * 8 + row;
        bool there = more && (n < at.N || MUTANT(scaled_no_row_guard));
        load_once(b[half][h], at.B + (long long)n * at.K + k, there, policy);
      }
#pragma unroll
      for (int w = 0; w < WIDE; w++) {
        int m = at.m0 + w * 8 + row;
        bool there = more && (m < at.M || MUTANT(scaled_no_token_guard));
        a[half][w] = {};
        if (there) a[half][w] = *(const uint4*)(at.A + (long long)m * at.K + k);
      }
    }
    if constexpr (!BLOCKS) return;
    int block = MUTANT(scaled_same_block) ? 0 : k0 / BLOCK, blocks = (at.K + BLOCK - 1) / BLOCK;
    int stride = MUTANT(scaled_dense_scales) ? blocks : (blocks + 3) / 4 * 4;
    scaleB = k0 < end ? at.scaleB[at.n0 / BLOCK * stride + block] : 0;
#pragma unroll
    for (int w = 0; w < WIDE; w++)
#pragma unroll
      for (int e = 0; e < 2; e++) {
        int m = at.m0 + w * 8 + threadIdx.x % 4 * 2 + (MUTANT(scaled_same_token) ? 0 : e);
        scaleA[w][e] = k0 < end && m < at.M ? at.scaleA[(long long)block * at.M + m] : 0;
      }
  }

  // Sixteen codes as eight pairs of f16.
  __device__ static void widen(unsigned (&to)[8], const uint4& from) {
    e4m3_to_4f16(*(unsigned(*)[2])(to + 0), from.x);
    e4m3_to_4f16(*(unsigned(*)[2])(to + 2), from.y);
    e4m3_to_4f16(*(unsigned(*)[2])(to + 4), MUTANT(scaled_same_word) ? from.y : from.z);
    e4m3_to_4f16(*(unsigned(*)[2])(to + 6), from.w);
  }

  __device__ void multiply(Product& product) const {
    unsigned rows[2][2 * HIGH][8];
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
      for (int h = 0; h < 2 * HIGH; h++) widen(rows[half][h], b[half][h]);
#pragma unroll
    for (int w = 0; w < WIDE; w++) {
      Product::Vec sums[HIGH] = {};
#pragma unroll
      for (int half = 0; half < 2; half++) {
        unsigned tokens[8];
        widen(tokens, a[MUTANT(scaled_same_half) ? 0 : half][w]);
#pragma unroll
        for (int q = 0; q < 8; q += 2)
#pragma unroll
          for (int h = 0; h < HIGH; h++) {
            const unsigned(*r)[8] = rows[half] + 2 * h;
            int low = MUTANT(scaled_same_rows) ? 0 : 1;
            unsigned x[4] = {r[0][q], r[low][q], r[0][q + 1], r[low][q + 1]};
            Product::Vec& to = BLOCKS ? sums[h] : product.part[h * WIDE + w];
            mma_f16(to.at, to.at + 2, x, tokens + q);
          }
      }
      if constexpr (BLOCKS)
#pragma unroll
        for (int h = 0; h < HIGH; h++)
#pragma unroll
          for (int e = 0; e < 4; e++)
            product.part[h * WIDE + w].at[e] +=
                sums[h].at[e] * ((MUTANT(scaled_no_fold) ? 1 : scaleA[w][e % 2]) * scaleB);
    }
  }
};

extern "C" __global__ void __launch_bounds__(32 * WARPS, 1)
direct(const unsigned char* A, const unsigned char* B, const float* scaleA, const float* scaleB,
       bf16* C, int M, int N, int K, int) {
  using S = ClusterReduce<Mainloop>;
  using Vec = Product::Vec;
  // Scales of the tile's rows and tokens, where they have one each.
  SHARED(float, scales, [ROWS + TOKENS]);
  Operands at = {A, B, scaleA, scaleB, M, N, K, (int)blockIdx.z * TOKENS, (int)blockIdx.y * ROWS};
  int turns = (K + BLOCK - 1) / BLOCK, share = (turns + CLUSTER - 1) / CLUSTER;
  int first = blockIdx.x * share, end = min(K, (first + share) * BLOCK);
  int warp = threadIdx.x / 32, mine = (share - MUTANT(scaled_skip_turn) + WARPS - 1) / WARPS;
  auto start = [&](int turn) {
    return (first + turn * WARPS + (MUTANT(scaled_same_turn) ? 0 : warp)) * BLOCK;
  };
  unsigned long long policy = gridDim.z > 1 ? evict_normal() : evict_first();
  Turn held[STAGES];
#pragma unroll
  for (int s = 0; s < STAGES; s++) held[s].read(at, start(s), end, policy);

  S cluster;
  cluster.open();
  if (!BLOCKS && threadIdx.x < ROWS + TOKENS) {
    int i = threadIdx.x, n = at.n0 + i, m = at.m0 + i - ROWS;
    float x = 0;
    if (i < ROWS && n < N) x = scaleB[SCALE == row ? n : 0];
    if (i >= ROWS && m < M) x = scaleA[SCALE == row && !MUTANT(scaled_first_scale) ? m : 0];
    scales[i] = x;
  }

  Product product;
  for (int turn = 0; turn < mine; turn += STAGES)
#pragma unroll
    for (int s = 0; s < STAGES; s++) {
      if (turn + s >= mine) break;
      held[s].multiply(product);
      int next = turn + s + STAGES - MUTANT(scaled_early_turn);
      if (next < mine) held[s].read(at, start(next), end, policy);
    }

  auto finish = [&](int unit, const Vec& sum) {
    int slot = unit / 32, lane = unit % 32;
#pragma unroll
    for (int e = 0; e < 4; e++) {
      int i = slot / WIDE * 16 + e / 2 * 8 + lane / 4, n = at.n0 + i;
      int t = slot % WIDE * 8 + lane % 4 * 2 + e % 2, m = at.m0 + t;
      if (n >= N || m >= M) continue;
      float x = sum.at[e];
      if (!BLOCKS)
        x *= scales[MUTANT(scaled_next_scale) ? i ^ 1 : i] *
             (MUTANT(scaled_no_token_scale) ? 1 : scales[ROWS + t]);
      narrow(x, C[(long long)m * N + n]);
    }
  };
  WarpReduce<Product>::reduce(product, memory);
  if (CLUSTER == 1) return S::each(product, finish);
  cluster.send(product);
  cluster.receive();
  cluster.sums(cluster.units(), [&](int i, const Vec& sum) {
    finish(cluster.rank * S::SHARE + i, sum);
  });
}

#endif
