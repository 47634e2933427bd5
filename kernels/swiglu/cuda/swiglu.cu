// C = silu(X . W1^T) * (X . W2^T) in one launch: X[M, K], W1[N, K], W2[N, K], C[M, N] of TYPE, fp32
// sums, by products of warpgroups.
//
// Idea: a block has the same rows of both weights, so that a gate and its up meet in a thread's
// registers and X is read once for both. Rows of weights are the 64 rows of a product and rows of X
// its columns, of which there may be 8. One ring has K steps of all three (weight_ring.cuh). Blocks of
// a cluster have slices of K and add their sums in cluster_reduce.cuh: what they send is two gates
// with their two ups, so that one block has both sums.
//
// Compile-time: TYPE, BM (rows of either weight, a tile's), BN (rows of X, a tile's), BK, WARPS,
// STAGES, CLUSTER.
//
//   gates, ups, tokens: boxes of BM x 64 of W1 and of W2, and of BN x 64 of X
//   early: 1 if the launch may start before the previous one ends
//   `slice` of K, whole steps, for each block of a tile
//   grid (CLUSTER, tiles of M, tiles of N), block 32 * WARPS + 32, or + 128 with REGISTERS; shared
//   memory:
//   STAGES * ((2 * BM + BN) * BK * 2 + 16) bytes, and BM * BN * 8 + 16 where CLUSTER > 1
#define LAYOUT nt
#define WARPGROUPS 1

#include "../../common/weight_ring.cuh"
#include "../../device/ptx_copy.h"
#include "../../device/ptx_mma.h"
#include "../../matmul/cuda/tile/cluster_reduce.cuh"
#include "silu.cuh"

// K of a box: 128 bytes, swizzled as products read it.
constexpr int BOX = 64;
static_assert(BK % BOX == 0 && BM % 64 == 0 && WN % 8 == 0, "products are whole");

__device__ inline void multiply(bf16, float (&d)[WN / 2], unsigned long long a,
                                unsigned long long b) {
  wgmma_bf16<WN>(d, a, b);
}
__device__ inline void multiply(f16, float (&d)[WN / 2], unsigned long long a,
                                unsigned long long b) {
  wgmma_f16<WN>(d, a, b);
}

// A warp's 16 x WN of gates and of ups, once all steps are done. A slot is two tokens of a row:
// their gates, then their ups.
struct Sums {
  using Vec = Pack<float, 4>;
  static constexpr int SLOTS = WN / 4;
  Vec part[SLOTS];
};

// Bytes of a step, of each operand box after box.
constexpr int WEIGHTS = BM * BK * 2, TOKENS = BN * BK * 2;
using Ring = WeightRing<Sums, 2 * WEIGHTS + TOKENS>;

extern "C" __global__ void __launch_bounds__(Ring::BLOCK, 1)
swiglu(const __grid_constant__ TensorMap gates, const __grid_constant__ TensorMap ups,
       const __grid_constant__ TensorMap tokens, TYPE* C, int M, int N, int K, int slice,
       int early) {
  using S = ClusterReduce<Ring>;
  using Vec = Sums::Vec;
  int n0 = blockIdx.z * BM, m0 = blockIdx.y * BN, k0 = blockIdx.x * slice;
  Ring ring((min(slice, K - k0) + BK - 1) / BK);
  bool copies = threadIdx.x == THREADS;
  // Tiles of the same weights start together, so that these are read from memory once. Their lines take
  // one another's place in the second-level cache, and those that other kernels wrote stay: they cost no
  // write-back now.
  unsigned long long policy = evict_first();
  auto at = [&](int step, int box) {
    return k0 + step * BK + (MUTANT(swiglu_same_box) ? 0 : box) * BOX;
  };
  auto ask_weights = [&](int step, unsigned to, unsigned bar) {
#pragma unroll
    for (int box = 0; box < BK / BOX; box++) {
      copy_tile_once(to + box * BM * 128, &gates, at(step, box), n0, bar, policy);
      copy_tile_once(to + WEIGHTS + box * BM * 128, &ups, at(step, box), n0, bar, policy);
    }
  };
  auto ask_tokens = [&](int step, unsigned to, unsigned bar) {
#pragma unroll
    for (int box = 0; box < BK / BOX; box++)
      copy_tile(to + 2 * WEIGHTS + box * BN * 128, &tokens, at(step, box), m0, bar);
  };
  if (copies) ring.open(ask_weights, ask_tokens, early);
  S shares;
  shares.open();
  if (!MUTANT(swiglu_no_barrier)) __syncthreads();

  if (!Ring::multiplies()) {
    if (copies) ring.refill(ask_weights, ask_tokens);
    __syncwarp();
    if (CLUSTER > 1) cluster_wait();
    return;
  }

  Place here;
  int before = 0;
  unsigned row = MUTANT(swiglu_same_rows) ? 0 : rowOf(here.position) / 64 * 64 * 128;
  unsigned column = MUTANT(swiglu_same_tokens) ? 0 : columnOf(here.position) * 128;
  float gate[WN / 2], up[WN / 2];
#pragma unroll
  for (int i = 0; i < WN / 2; i++) zero_here(gate[i]), zero_here(up[i]);
#pragma unroll 1
  for (int step = 0; step < ring.steps; step++) {
    unsigned a = ring.here() + row, b = ring.here() + 2 * WEIGHTS + column;
    ring.wait();
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < BK / 16; i++) {
      unsigned at = a + i / 4 * BM * 128;
      int k = MUTANT(swiglu_same_k) ? 0 : i % 4;
      unsigned long long of = descriptor(b + i / 4 * BN * 128, i % 4);
      multiply(TYPE(), gate, descriptor(at, k), of);
      multiply(TYPE(), up, descriptor(at + (MUTANT(swiglu_same_weights) ? 0 : WEIGHTS), k), of);
    }
    wgmma_commit();
    // A stage has been read when the products of the next one are all that is under way.
    wgmma_wait<1 + MUTANT(swiglu_late_wait)>();
    if (step > 0) ring.release(step - 1, before);
    before = ring.stage;
    ring.next();
  }
  wgmma_wait<MUTANT(swiglu_no_finish)>();
  Sums sums;
#pragma unroll
  for (int i = 0; i < WN / 2; i++) {
    not_before(gate[i]);
    not_before(up[i]);
    sums.part[i / 2].at[i % 2] = gate[i];
    sums.part[i / 2].at[2 + i % 2] = up[i];
  }

  auto finish = [&](int unit, const Vec& sum) {
    int rest = unit / 32, position = rest % POSITIONS, slot = rest / POSITIONS, of = unit % 32;
    int n = n0 + rowOf(position) + slot % 2 * 8 + of / 4;
    int m = m0 + columnOf(position) + slot / 2 * 8 + of % 4 * 2;
#pragma unroll
    for (int e = 0; e < 2; e++) {
      if (n >= N && !MUTANT(swiglu_no_row_guard)) continue;
      if (m + e >= M && !MUTANT(swiglu_no_token_guard)) continue;
      float x = sum.at[e], y = sum.at[2 + e];
      if (MUTANT(swiglu_swapped)) x = sum.at[2 + e], y = sum.at[e];
      narrow(joined(x, y), C[(long long)(m + e) * N + n]);
    }
  };
  if (CLUSTER == 1) return S::each(sums, finish);
  shares.all(sums, [](int unit) { return unit; }, finish);
}
