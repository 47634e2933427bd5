// y = x . W^T on tensor cores, weights decoded in registers, K over warps and over a cluster.
//
// Idea: weights are the 16-row side of the product and tokens its 8-column side, so one token
// wastes no more than eight. The order of K within a group is free as long as x and W agree:
// a lane takes consecutive codes as they are stored. A group's sums are multiplied by its
// scale once, and what biases and offsets add is a factor of the sum of its x, which one more
// product with ones gives to every lane that needs it. Sums of all warps and blocks are added
// in a fixed order, in fp32.
//
//   x [M, K]   w [N, K * BITS / 32] words   scales, biases [N, K / GROUP]   y [M, N]
//   grid (CLUSTER, tiles of N, tiles of M), block 32 * WN * WK, cluster CLUSTER
//   slice: K of a block, whole steps; slice * CLUSTER >= K. wide: rows of w start on 16 bytes.
//   shared memory: ROOM + MAIL + BN rows of scales, and of biases where there are any
#include "../../common/mutant.h"
#include "qmm_mainloop.cuh"

// Leaves a phase's sums where all find them.
__device__ inline void leave(const Two (&all)[RT][NT], float* to) {
  constexpr float SCALE = FOLDED ? 0x1p7f : 1;
  Lane lane;
  int row = threadIdx.x / 32 % WN * 16 * RT + lane.g;
#pragma unroll
  for (int r = 0; r < RT; r++)
#pragma unroll
    for (int j = 0; j < NT; j++)
#pragma unroll
      for (int i = 0; i < 2; i++) {
        if (j * 8 + lane.t * 2 + i >= BM && !MUTANT(qmm_no_token_guard)) continue;
        float* p = to + (j * 8 + lane.t * 2 + i) * PITCH_S + row + r * 16;
        p[0] = all[r][j].top.at[i] * SCALE;
        p[8] = all[r][j].low.at[i] * SCALE;
      }
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
qmm(const TYPE* x, const unsigned char* w, const void* scales, const void* biases, TYPE* y,
    int M, int N, int K, int slice, int wide) {
  int n0 = blockIdx.y * BN, m0 = blockIdx.z * BM, k0 = blockIdx.x * slice;
  int phase = threadIdx.x / GANG, bytes = K / 8 * BITS;
  int steps = (min(slice, K - k0) + KS - 1) / KS;
  unsigned shared = shared_address(memory);
  Ring ring{x + (long long)m0 * K, w + (long long)n0 * bytes, M - m0, N - n0, bytes, K, wide,
            shared + phase * STAGES * STAGE, evict_first()};
  Table table(shared + ROOM + MAIL, slice, k0 / GROUP);
  table.fill(scales, biases, n0, N, k0 / GROUP, K / GROUP, steps * (KS / GROUP));
  commit_copies();
#pragma unroll
  for (int s = 0; s < STAGES; s++) {
    if (phase + s * WK < steps) ring.copy(k0 + (phase + s * WK) * KS, s);
    commit_copies();
  }
  int units = min(BM, M - m0) * (BN / 4);
  ClusterReduce box(memory + ROOM, UNITS);
  box.open(units);
  // Scales are the first group of copies of all; nobody waits for others' weights.
  if (!MUTANT(qmm_no_scale_wait)) wait_copies<STAGES>();
  if (!MUTANT(qmm_no_scale_barrier)) __syncthreads();

  Two all[RT][NT] = {};
  // The same, but not for the compiler: it stays in a register.
  unsigned magic = Kind<TYPE>::MAGIC + (unsigned)(wide >> 1);
  int stage = 0;
#pragma unroll 1
  for (int s = phase; s < steps; s += WK) {
    if (!MUTANT(qmm_no_wait)) wait_copies<STAGES - 1 + MUTANT(qmm_late_wait)>();
    if (!MUTANT(qmm_early_step)) gather();
    int group = s * (KS / GROUP) + 2 * MUTANT(qmm_wrong_group);
    step(all, ring.base + stage * STAGE, table, group, magic);
    if (!MUTANT(qmm_early_refill)) gather();
    if (s + STAGES * WK < steps) ring.copy(k0 + (s + STAGES * WK) * KS, stage);
    commit_copies();
    stage = stage + 1 + MUTANT(qmm_skip_stage) == STAGES ? 0 : stage + 1;
  }

  if (!MUTANT(qmm_early_sums)) __syncthreads();
  float* sums = (float*)memory;
  leave(all, sums + phase * BM * PITCH_S);
  if (!MUTANT(qmm_no_sum_barrier)) __syncthreads();
  auto place = [](int unit) { return unit / (BN / 4) * PITCH_S + unit % (BN / 4) * 4; };
  exchange(box, units,
           [&](int unit) {
             Four all = {};
#pragma unroll
             for (int p = 0; p < WK; p++) {
               Four part = *(const Four*)(sums + p * BM * PITCH_S + place(unit));
               for (int j = 0; j < 4; j++) all.at[j] += part.at[j];
             }
             return all;
           },
           [&](int unit, const Four& sum) {
             int m = m0 + unit / (BN / 4), n = n0 + unit % (BN / 4) * 4;
             Pack<TYPE, 4> out;
             for (int j = 0; j < 4; j++) narrow(sum.at[j], out.at[j]);
             store(y + (long long)m * N + n, out, N - n);
           });
}
