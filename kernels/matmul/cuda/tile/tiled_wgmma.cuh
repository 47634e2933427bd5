// One K step by warpgroups: 16-bit operands, both read from shared memory, fp32 sums.
//
// Idea: wgmma reads a B whose columns lie side by side (nn) as it reads one whose K does, so B is copied
// as it is stored: boxes of 64 columns and all rows of a step, one after another.
#ifndef MNKBENCH_PRODUCT_WGMMA
#define MNKBENCH_PRODUCT_WGMMA
#include "../../../common/mutant.h"
#include "../../../device/ptx_mma_mn.h"
#include "tensor_ring.cuh"

template <class T> struct Warpgroup;
template <> struct Warpgroup<bf16> {
  template <int N>
  __device__ static void multiply(float (&d)[N / 2], unsigned long long a, unsigned long long b) {
    if constexpr (NT) wgmma_bf16<N>(d, a, b);
    else wgmma_bf16_mn<N>(d, a, b);
  }
};
template <> struct Warpgroup<f16> {
  template <int N>
  __device__ static void multiply(float (&d)[N / 2], unsigned long long a, unsigned long long b) {
    if constexpr (NT) wgmma_f16<N>(d, a, b);
    else wgmma_f16_mn<N>(d, a, b);
  }
};

// A warp's 16 x WN of the sums of its warpgroup. A slot is four columns of a row once lanes have
// met.
struct TiledMma {
  static_assert(NT || BN % BOX == 0 && (WN % BOX == 0 || BOX % WN == 0), "products are in boxes");
  using Vec = Pack<float, 4>;
  static constexpr int SLOTS = WN / 8;
  // Steps under way when start() returns, beside its own.
  static constexpr int BEHIND = 1;
  Vec part[SLOTS] = {};
  int m, n, lane;

  __device__ TiledMma(int m, int n, int, int lane) : m(m), n(n), lane(lane) {}

  // Products of a step, which are a group.
  __device__ void start(unsigned a, unsigned b) {
    static_assert(BK % BOX == 0 && BM % 64 == 0 && WN % 8 == 0, "products are whole");
    float (&d)[WN / 2] = *(float (*)[WN / 2])part;
    if (!MUTANT(wgmma_same_rows)) a += m / 64 * 64 * 128;
    if (!MUTANT(wgmma_same_columns)) b += NT ? n * 128 : n / BOX * LINES_B * 128 + n % BOX * 2;
    unsigned apart = MUTANT(wgmma_nn_same_box) ? 0 : LINES_B * 128;
    if (!MUTANT(wgmma_no_fence)) wgmma_fence();
#pragma unroll
    for (int i = 0; i < BK / 16; i++) {
      int box = i / 4, box_a = MUTANT(wgmma_same_box) ? 0 : box;
      int k = i % 4, k_b = MUTANT(wgmma_same_k) ? i % 2 : k;
      Warpgroup<TYPE>::template multiply<WN>(d, descriptor(a + box_a * BM * 128, k),
                                             NT ? descriptor(b + box * LINES_B * 128, k_b)
                                                : descriptor_mn(b + (box * 4 + k_b) * 16 * 128, apart));
    }
    wgmma_commit();
  }
  // Until the sums are there.
  __device__ void finish() {
    wgmma_wait<MUTANT(wgmma_late_wait)>();
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
        float came = __shfl_xor_sync(~0u, odd != MUTANT(wgmma_wrong_half) ? upper : lower, 1);
        if (odd) upper = came;
        else lower = came;
      }
  }

  __device__ int row(int) const { return m + lane % 2 * 8 + lane / 4; }
  __device__ int col(int slot) const { return n + slot * 8 + lane % 4 / 2 * 4; }
};

#endif
