// C = scaleA . A . (scaleB . B)^T, E4M3 A[M, K] and B[N, K], bf16 C[M, N], in one launch of
// FP8 products of warpgroups.
//
// Idea: rows of B are the 64 rows of a product and rows of A its columns, of which there may be 8,
// so that a few rows of A waste little and weights are read once. Tensor maps fill a ring of K steps
// (tensor_ring.cuh). The tensor cores keep about 14 bits of a sum, so that the products of a step are
// added to sums in fp32, times their scale where blocks of 128 have one. Blocks of a cluster have
// slices of K and add their sums in cluster_reduce.cuh.
//
// Compile-time: SCALE (tensor, row, block128), BM (of B, a tile's), BN (rows of A, a tile's), BK,
// WARPS, STAGES, CLUSTER.
//
//   weights, tokens: boxes of BM x 128 of B and of BN x 128 of A
//   scales as in point.ts   `slice` of K, whole steps, for each block of a tile
//   grid (CLUSTER, tiles of N, tiles of M), block 32 * WARPS + 32; shared memory:
//   STAGES * ((BM + BN) * BK + 16) bytes, BM * BN * 4 + 16 where CLUSTER > 1, and 4 for each
//   scale: BM + BN, or of blocks BN for each 128 of a slice
enum Scale { tensor, row, block128 };
struct e4m3 { unsigned char bits; };

// What warps.cuh and what includes it are told of the tile.
#define TYPE e4m3
#define LAYOUT nt
#define WARPGROUPS 1

#include "../../matmul/cuda/tile/tensor_ring.cuh"

constexpr int BLOCK = 128;
constexpr bool BLOCKS = SCALE == block128;
static_assert(BLOCK % BM == 0 && BK % BLOCK == 0, "scales are those of whole tiles");
static_assert(!BLOCKS || BK == BLOCK, "a step has one scale");

// A warp's 16 x WN of the sums of its warpgroup.
struct TiledMma {
  using Vec = Pack<float, 4>;
  static constexpr int SLOTS = WN / 8, BEHIND = 0;
  Vec part[SLOTS] = {};
  float fresh[WN / 2] = {};
  // Of the next 128 of K where scales of blocks of the calling lane's tokens are.
  const float* scales;
  int m, n;

  __device__ TiledMma(int m, int n, int lane, const float* scales)
      : scales(scales + n + lane % 4 * 2), m(m), n(n) {}

  __device__ void start(unsigned a, unsigned b) {
    if (!MUTANT(fp8_same_rows)) a += m / 64 * 64 * 128;
    if (!MUTANT(fp8_same_tokens)) b += n * 128;
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < BK; k += 32) {
      int box = k / BOX, turn = k % BOX / 32, add = MUTANT(fp8_no_reset) || k > 0;
      wgmma_e4m3<WN>(fresh, descriptor(a + box * BM * 128, MUTANT(fp8_same_k) ? 0 : turn),
                     descriptor(b + box * BN * 128, turn), add);
    }
    wgmma_commit();
    wgmma_wait<MUTANT(fp8_no_wait)>();
#pragma unroll
    for (int i = 0; i < WN / 2; i++) not_before(fresh[i]);
    add();
  }
  __device__ void add() {
#pragma unroll
    for (int i = 0; i < SLOTS; i++) {
      Pack<float, 2> of = {{1, 1}};
      if (BLOCKS) of = *(const Pack<float, 2>*)(scales + i * 8);
#pragma unroll
      for (int j = 0; j < 4; j++)
        part[i].at[j] += fresh[4 * i + j] * of.at[MUTANT(fp8_same_token) ? 0 : j % 2];
    }
    if (!MUTANT(fp8_same_block)) scales += BN;
  }
  __device__ void finish() {}
  __device__ void meet() {}
};

using Ring = TensorRing<TiledMma>;

extern "C" __global__ void __launch_bounds__(Ring::BLOCK, 1)
scaled_wgmma(const __grid_constant__ TensorMap weights, const __grid_constant__ TensorMap tokens,
      const float* scaleA, const float* scaleB, bf16* C, int M, int N, int K, int slice) {
  using S = ClusterReduce<Ring>;
  using Vec = TiledMma::Vec;
  int n0 = blockIdx.y * BM, m0 = blockIdx.z * BN, k0 = blockIdx.x * slice;
  // Scales of the tile's rows, then of its tokens; or products of both for each 128 of K.
  constexpr int SCALES = CLUSTER > 1 ? S::END : Ring::ROOM;
  float* scales = (float*)(memory + SCALES);
  Place here;
  int lane = threadIdx.x % 32;
  TiledMma product(rowOf(here.position), columnOf(here.position), lane, scales);
  S shares;
  auto meanwhile = [&] {
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
  };
  int length = min(slice, K - k0);
  struct {
    int M;
  } rows{N};
  if (!Ring::run<true>(product, &weights, &tokens, n0, m0, k0, length, rows, meanwhile)) return;
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
  if (CLUSTER == 1) return S::each(product, finish);
  shares.all(product, [](int unit) { return unit; }, finish);
}
