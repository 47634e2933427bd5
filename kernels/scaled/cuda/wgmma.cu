// C = scaleA . A . (scaleB . B)^T, E4M3 A[M, K] and B[N, K], bf16 C[M, N], in one launch of
// FP8 products of warpgroups.
//
// Idea: rows of B are the 64 rows of a product and rows of A its columns, of which there may be 8,
// so that a few rows of A waste little and weights are read once. Tensor maps fill a ring of K steps
// (weight_ring.cuh). The tensor cores keep about 14 bits of a sum, so that the products of a step are
// added to sums in fp32, times their scale where blocks of 128 have one; with AHEAD while those of the
// next step are under way. Blocks of a cluster have slices of K and add their sums in
// cluster_reduce.cuh.
//
// Compile-time: SCALE (tensor, row, block128), BM (of B, a tile's), BN (rows of A, a tile's), BK,
// WARPS, STAGES, CLUSTER, AHEAD.
//
//   weights, tokens: boxes of BM x 128 of B and of BN x 128 of A
//   scales as in point.ts   `slice` of K, whole steps, for each block of a tile
//   grid (CLUSTER, tiles of M, tiles of N), block 32 * WARPS + 32; shared memory:
//   STAGES * ((BM + BN) * BK + 16) bytes, BM * BN * 4 + 16 where CLUSTER > 1, and 4 for each
//   scale: BM + BN, or of blocks BN for each 128 of a slice
enum Scale { tensor, row, block128 };
struct e4m3 { unsigned char bits; };

// What warps.cuh and what includes it are told of the tile.
#define TYPE e4m3
#define LAYOUT nt
#define WARPGROUPS 1

#include "../../common/weight_ring.cuh"
#include "../../device/ptx_copy.h"
#include "../../device/ptx_mma.h"
#include "../../matmul/cuda/tile/cluster_reduce.cuh"

// K of a box, whose rows are 128 bytes; and of a block of scales.
constexpr int BOX = 128, BLOCK = 128;
constexpr bool BLOCKS = SCALE == block128;
static_assert(BLOCK % BM == 0 && BK % BLOCK == 0, "scales are those of whole tiles");
static_assert(!BLOCKS || BK == BLOCK, "a step has one scale");

// A warp's 16 x WN of the sums of its warpgroup.
struct Sums {
  using Vec = Pack<float, 4>;
  static constexpr int SLOTS = WN / 8;
  Vec part[SLOTS] = {};
  // Adds the sums of a step, times the scales of the calling lane's tokens for it.
  __device__ __forceinline__ void add(const float (&fresh)[WN / 2], const float* scales) {
#pragma unroll
    for (int i = 0; i < SLOTS; i++) {
      Pack<float, 2> of = {{1, 1}};
      if (BLOCKS) of = *(const Pack<float, 2>*)(scales + i * 8);
#pragma unroll
      for (int j = 0; j < 4; j++)
        part[i].at[j] += fresh[4 * i + j] * of.at[MUTANT(fp8_same_token) ? 0 : j % 2];
    }
  }
};

// Bytes of a step, of each operand box after box.
constexpr int WEIGHTS = BM * BK, TOKENS = BN * BK;
using Ring = WeightRing<Sums, WEIGHTS + TOKENS>;

// The products of a warp's part of the tile, step by step.
struct Products {
  Ring& ring;
  Sums& sums;
  unsigned a, b;        // from a stage to the rows and tokens of this warpgroup
  const float* scales;  // of the calling lane's tokens, of the first step
  int added = 0, from = 0;  // the next step to add, and its stage

  // Starts those of the next step.
  __device__ __forceinline__ void start(float (&fresh)[WN / 2]) {
    unsigned at = ring.here();
    ring.wait();
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < BK; k += 32) {
      int box = k / BOX, turn = k % BOX / 32, add = MUTANT(fp8_no_reset) || k > 0;
      wgmma_e4m3<WN>(fresh, descriptor(at + a + box * BM * 128, MUTANT(fp8_same_k) ? 0 : turn),
                     descriptor(at + b + box * BN * 128, turn), add);
    }
    wgmma_commit();
    ring.next();
  }
  // Adds those of the oldest step, with PENDING later ones under way.
  template <int PENDING>
  __device__ __forceinline__ void add(float (&fresh)[WN / 2]) {
    wgmma_wait<PENDING + MUTANT(fp8_no_wait)>();
#pragma unroll
    for (int i = 0; i < WN / 2; i++) not_before(fresh[i]);
    ring.release(added, from);
    sums.add(fresh, scales + (MUTANT(fp8_same_block) ? 0 : added) * BN);
    added++;
    from = from + 1 == STAGES ? 0 : from + 1;
  }
};

extern "C" __global__ void __launch_bounds__(Ring::BLOCK, 1)
scaled_wgmma(const __grid_constant__ TensorMap weights, const __grid_constant__ TensorMap tokens,
      const float* scaleA, const float* scaleB, bf16* C, int M, int N, int K, int slice) {
  using S = ClusterReduce<Ring>;
  using Vec = Sums::Vec;
  int n0 = blockIdx.z * BM, m0 = blockIdx.y * BN, k0 = blockIdx.x * slice;
  // Scales of the tile's rows, then of its tokens; or products of both for each 128 of K.
  constexpr int SCALES = CLUSTER > 1 ? S::END : Ring::ROOM;
  float* scales = (float*)(memory + SCALES);
  Ring ring((min(slice, K - k0) + BK - 1) / BK);
  bool copies = threadIdx.x == THREADS;
  // As in swiglu.cu: weights are read from memory once.
  unsigned long long policy = evict_first();
  auto ask = [&](int step, unsigned to, unsigned bar) {
#pragma unroll
    for (int box = 0; box < BK / BOX; box++) {
      int k = k0 + step * BK + (MUTANT(fp8_same_box) ? 0 : box) * BOX;
      copy_tile_once(to + box * BM * 128, &weights, k, n0, bar, policy);
      copy_tile(to + WEIGHTS + box * BN * 128, &tokens, k, m0, bar);
    }
  };
  if (copies) ring.open(ask);
  S shares;
  shares.open();
  if constexpr (BLOCKS) {
    int blocks = (K + BLOCK - 1) / BLOCK, first = k0 / BLOCK;
    int stride = MUTANT(fp8_dense_scales) ? blocks : (blocks + 3) / 4 * 4;
    const float* own = scaleB + (long long)(n0 / BLOCK) * stride;
    for (int i = threadIdx.x; i < slice / BLOCK * BN; i += Ring::BLOCK) {
      int block = first + i / BN, m = m0 + i % BN;
      bool there = block < blocks && m < M;
      float of = there && n0 < N && !MUTANT(fp8_no_row_scale) ? own[block] : 1;
      scales[i] = there ? scaleA[(long long)block * M + m] * of : 0;
    }
  } else {
    for (int i = threadIdx.x; i < BM + BN; i += Ring::BLOCK) {
      bool token = i >= BM;
      int at = token ? m0 + i - BM : n0 + i, count = token ? M : N;
      const float* from = token ? scaleA : scaleB;
      scales[i] = at >= count ? 0 : from[SCALE == row && !MUTANT(fp8_first_scale) ? at : 0];
    }
  }
  if (!MUTANT(fp8_no_barrier)) __syncthreads();

  if (threadIdx.x >= THREADS) {
    if (copies) ring.refill(ask);
    __syncwarp();
    if (CLUSTER > 1) cluster_wait();
    return;
  }

  Place here;
  unsigned column = columnOf(here.position);
  unsigned row = MUTANT(fp8_same_rows) ? 0 : rowOf(here.position) / 64 * 64 * 128;
  Sums sums;
  Products products{ring, sums, row, WEIGHTS + (MUTANT(fp8_same_tokens) ? 0 : column * 128),
                    scales + column + threadIdx.x % 4 * 2};
  float fresh[WN / 2] = {};
  if constexpr (AHEAD) {
    // Two steps take turns, so that each has registers of its own.
    float other[WN / 2] = {};
    products.start(fresh);
    int left = ring.steps - 1;
#pragma unroll 1
    for (; left > 1; left -= 2) {
      products.start(other);
      products.add<1>(fresh);
      products.start(fresh);
      products.add<1>(other);
    }
    if (left) {
      products.start(other);
      products.add<1>(fresh);
      products.add<0>(other);
    } else {
      products.add<0>(fresh);
    }
  } else {
#pragma unroll 1
    for (int step = 0; step < ring.steps; step++) {
      products.start(fresh);
      products.add<0>(fresh);
    }
  }

  auto finish = [&](int unit, const Vec& sum) {
    int rest = unit / 32, position = rest % POSITIONS, of = unit % 32;
    int i = rowOf(position) + of / 4, t = columnOf(position) + rest / POSITIONS * 8 + of % 4 * 2;
#pragma unroll
    for (int e = 0; e < 4; e++) {
      int row = i + e / 2 * 8, token = t + e % 2, n = n0 + row, m = m0 + token;
      if (n >= N && !MUTANT(fp8_no_row_guard) || m >= M && !MUTANT(fp8_no_token_guard)) continue;
      float x = sum.at[e];
      if (!BLOCKS) x *= scales[row] * (MUTANT(fp8_no_token_scale) ? 1 : scales[BM + token]);
      narrow(x, C[(long long)m * N + n]);
    }
  };
  if (CLUSTER == 1) return S::each(sums, finish);
  shares.all(sums, [](int unit) { return unit; }, finish);
}
