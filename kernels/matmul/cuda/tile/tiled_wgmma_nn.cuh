// One K step by warpgroups where rows of B are K: 16-bit operands, both read from shared memory, fp32
// sums.
//
// Idea: wgmma reads a B whose columns lie side by side as it reads one whose K does, so B is copied
// as it is stored: boxes of 64 columns and all rows of a step, one after another.
#ifndef MNKBENCH_TILED_WGMMA_NN
#define MNKBENCH_TILED_WGMMA_NN
// The include guard of tiled_wgmma.cuh: a source that includes it after this one has this TiledMma.
#define MNKBENCH_PRODUCT_WGMMA
#include "../../../common/mutant.h"
#include "../../../device/ptx_mma_mn.h"
#include "tensor_ring.cuh"

template <class T> struct Warpgroup;
template <> struct Warpgroup<bf16> {
  template <int N>
  __device__ static void multiply(float (&d)[N / 2], unsigned long long a, unsigned long long b) {
    wgmma_bf16_mn<N>(d, a, b);
  }
};
template <> struct Warpgroup<f16> {
  template <int N>
  __device__ static void multiply(float (&d)[N / 2], unsigned long long a, unsigned long long b) {
    wgmma_f16_mn<N>(d, a, b);
  }
};

// Bytes of a box: of 64 columns, the rows of a step.
constexpr int BOX_B = BK * 128;

// A warp's 16 x WN of the sums of its warpgroup. A slot is four columns of a row once lanes have
// met.
struct TiledMma {
  static_assert(!NT && BN % BOX == 0 && (WN % BOX == 0 || BOX % WN == 0), "products are in boxes");
  using Vec = Pack<float, 4>;
  static constexpr int SLOTS = WN / 8;
  // Steps under way when start() returns, beside its own.
  static constexpr int BEHIND = 1;
  Vec part[SLOTS] = {};
  int m, n, lane;

  __device__ TiledMma(int m, int n, int, int lane) : m(m), n(n), lane(lane) {}

  // Products of a step, which are a group.
  __device__ void start(unsigned a, unsigned b) {
    static_assert(BK % BOX == 0 && BM % 64 == 0, "products are whole");
    float (&d)[WN / 2] = *(float (*)[WN / 2])part;
    a += m / 64 * 64 * 128;
    if (!MUTANT(wgmma_nn_same_columns)) b += n / BOX * BOX_B + n % BOX * 2;
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < BK / 16; i++) {
      int rows = (MUTANT(wgmma_nn_same_rows) ? i % 2 : i) * 16;
      unsigned apart = MUTANT(wgmma_nn_same_box) ? 0 : BOX_B;
      Warpgroup<TYPE>::template multiply<WN>(d, descriptor(a + i / 4 * BM * 128, i % 4),
                                             descriptor_mn(b + rows * 128, apart));
    }
    wgmma_commit();
  }
  // Until the sums are there.
  __device__ void finish() {
    wgmma_wait<0>();
#pragma unroll
    for (int i = 0; i < SLOTS; i++)
      for (int j = 0; j < 4; j++) not_before(part[i].at[j]);
  }

  // Every sum is one lane's. Lanes side by side give each other half of a product's four, so that
  // each has four columns of one row, which are sent and stored at once.
  __device__ void meet() {
    bool odd = lane % 2;
#pragma unroll
    for (int i = 0; i < SLOTS; i++)
#pragma unroll
      for (int j = 0; j < 2; j++) {
        float &upper = part[i].at[j], &lower = part[i].at[j + 2];
        float came = __shfl_xor_sync(~0u, odd ? upper : lower, 1);
        if (odd) upper = came;
        else lower = came;
      }
  }

  __device__ int row(int) const { return m + lane % 2 * 8 + lane / 4; }
  __device__ int col(int slot) const { return n + slot * 8 + lane % 4 / 2 * 4; }
};

// B's part of the K step at `k`: blocks that share its columns ask for an equal number of rows each.
template <>
__device__ __forceinline__ void TensorRing<TiledMma>::copy_b(const TensorMap* B, int n0, int k,
                                                             unsigned to, unsigned bar) const {
  static_assert(BK % (8 * DOWN) == 0, "parts are whole swizzle atoms");
  constexpr int OWN = BK / DOWN;
  int first = MUTANT(wgmma_nn_same_part) ? 0 : down * OWN;
  unsigned mask = 0;
#pragma unroll
  for (int i = 0; i < DOWN; i++) mask |= 1u << rank(i, across);
#pragma unroll
  for (int box = 0; box < BN / BOX; box++) {
    unsigned there = to + BYTES_A + box * BOX_B + first * 128;
    int column = n0 + (MUTANT(wgmma_nn_same_copy) ? 0 : box) * BOX;
    if (DOWN > 1) copy_tile_to_all(there, B, column, k + first, bar, mask);
    else copy_tile(there, B, column, k + first, bar);
  }
}

#endif
