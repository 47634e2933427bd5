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
//   early: 1 if the launch may start before the previous one ends
//   slice: K of a block, whole steps; slice * CLUSTER >= K. wide: rows of w start on 16 bytes.
//   shared memory: ROOM + MAIL + BN rows of scales, and of biases where there are any
#include "../../common/mutant.h"
#include "../../matmul/cuda/tile/element.cuh"
#include "qmm_ring.cuh"

// A K step of the tensor-core kernel: packed weights and x from shared memory to sums in
// registers.
//
// Compile-time: qmm_ring.cuh's.

// How much K is unrolled: registers for more than a group are left where a warp has few sums.
constexpr int AT_ONCE = RT * NT > 8 || !EVEN ? 32 : BITS == 8 || GROUP > 64 ? 64 : 128;
// Passes over ALIKE groups.
constexpr int GROUPS_AT_ONCE = AT_ONCE > GROUP * ALIKE ? AT_ONCE / GROUP / ALIKE : 1;
constexpr int UNITS_AT_ONCE = AT_ONCE > 32 * LO ? AT_ONCE / 32 / LO : 1;
struct Two {
  Pack<float, 2> top, low;
};
struct Lane {
  int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
};

// The octets of a lane in a row whose step is at `row`, from octet `o` of the row on.
__device__ inline void fetch(unsigned (&v)[LO][2], unsigned row, int o) {
  unsigned from = row + o * BITS;
  if constexpr (BITS == 2 && LO == 1) {
    v[0][0] = load_shared_u16_movable(from);
  } else if constexpr (BITS == 2) {
    v[0][0] = load_shared_u32_movable(from);
    v[LO - 1][0] = v[0][0] >> 16;
  } else if constexpr (BITS == 4 && LO == 1) {
    v[0][0] = load_shared_u32_movable(from);
  } else if constexpr (BITS == 4) {
    uint2 x;
    load_shared_movable(x, from);
    v[0][0] = x.x, v[LO - 1][0] = x.y;
  } else if constexpr (BITS == 8 && LO == 1) {
    uint2 x;
    load_shared_movable(x, from);
    v[0][0] = x.x, v[0][1] = x.y;
  } else if constexpr (BITS == 8) {
    uint4 x;
    load_shared_movable(x, from);
    v[0][0] = x.x, v[0][1] = x.y, v[LO - 1][0] = x.z, v[LO - 1][1] = x.w;
  } else {
    // Bytes that start anywhere, but end within the second word.
    unsigned a = load_shared_u32_movable(from & ~3u);
    unsigned b = load_shared_u32_movable((from & ~3u) + 4);
    v[0][0] = __funnelshift_r(a, b, from % 4 * 8);
    v[0][1] = MUTANT(qmm_no_shift) ? b : b >> from % 4 * 8;
  }
}

// K of 32 * LO: sums += W . x, and ones += 1 . x where biases need it.
__device__ inline void multiply(Two (&sums)[RT][NT], Two (&ones)[NT], unsigned w, unsigned x,
                                int k, const Table& table, int group, int row, unsigned magic) {
  Lane lane;
  unsigned v[RT][2][LO][2] = {};
#pragma unroll
  for (int r = 0; r < RT; r++)
#pragma unroll
    for (int h = 0; h < 2; h++)
      fetch(v[r][h], w + (r * 16 + h * 8) * PITCH_W, k / 8 + lane.t * LO);
#pragma unroll
  for (int o = 0; o < LO; o++) {
    unsigned a[RT][2][4];
#pragma unroll
    for (int r = 0; r < RT; r++)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        pairs<TYPE>(v[r][h][o][0], v[r][h][o][1], a[r][h], magic);
        if (FOLDED) {
          unsigned s = table.pair(group + (MUTANT(qmm_same_group) ? 0 : lane.t), row + r * 16 + h * 8);
          for (int i = 0; i < 4; i++) a[r][h][i] = times<TYPE>(a[r][h][i], s);
        }
      }
#pragma unroll
    for (int j = 0; j < NT; j++) {
      uint4 raw;
      unsigned b[4];
      load_shared_movable(raw, x + j * 8 * PITCH_X + (k + (lane.t * LO + o) * 8) * 2);
      order(raw, b);
#pragma unroll
      for (int q = 0; q < 2; q++) {
#pragma unroll
        for (int r = 0; r < RT; r++) {
          unsigned f[4] = {a[r][0][2 * q], a[r][1][2 * q], a[r][0][2 * q + 1],
                           a[r][1][2 * q + 1]};
          mma<TYPE>(sums[r][j].top, sums[r][j].low, f, b + 2 * q);
        }
        if (BIASED) {
          constexpr unsigned ONES = Kind<TYPE>::ONES;
          unsigned f[4] = {ONES, ONES, ONES, ONES};
          mma<TYPE>(ones[j].top, ones[j].low, f, b + 2 * q);
        }
      }
    }
  }
}

// What a group adds.
__device__ inline void add(Two& all, const Two& sum, const Two& one, Factors top, Factors low) {
#pragma unroll
  for (int i = 0; i < 2; i++) {
    float &a = all.top.at[i], &b = all.low.at[i];
    a += top.scale * sum.top.at[i];
    b += low.scale * sum.low.at[i];
    if (BIASED) {
      a += top.bias * one.top.at[i];
      b += low.bias * one.low.at[i];
    }
  }
}

// A K step at `stage`; its first group is `group` of the table's. `magic` as for `pairs`.
__device__ inline void step(Two (&all)[RT][NT], unsigned stage, const Table& table, int group,
                            unsigned magic) {
  Lane lane;
  int row = threadIdx.x / 32 % WN * 16 * RT + lane.g;
  unsigned w = stage + row * PITCH_W, x = stage + STAGE_W + (BM > 1 ? lane.g : 0) * PITCH_X;
  if constexpr (FOLDED) {
    Two none[NT];
#pragma unroll UNITS_AT_ONCE
    for (int k = 0; k < KS; k += 32 * LO)
      multiply(all, none, w, x, k, table, group + k / GROUP, row, magic);
  } else {
#pragma unroll GROUPS_AT_ONCE
    for (int g = 0; g < KS / GROUP; g += ALIKE) {
      Factors top[RT][ALIKE], low[RT][ALIKE];
#pragma unroll
      for (int i = 0; i < ALIKE; i++) {
        Two sums[RT][NT] = {}, ones[NT] = {};
#pragma unroll UNITS_AT_ONCE
        for (int k = 0; k < GROUP; k += 32 * LO)
          multiply(sums, ones, w, x, (g + i) * GROUP + k, table, 0, 0, magic);
        if (i == 0)
#pragma unroll
          for (int r = 0; r < RT; r++) {
            table.get(top[r], group + g, row + r * 16);
            table.get(low[r], group + g, row + r * 16 + 8);
          }
#pragma unroll
        for (int r = 0; r < RT; r++)
#pragma unroll
          for (int j = 0; j < NT; j++) add(all[r][j], sums[r][j], ones[j], top[r][i], low[r][i]);
      }
    }
  }
}

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
    int M, int N, int K, int slice, int wide, int early) {
  int n0 = blockIdx.y * BN, m0 = blockIdx.z * BM, k0 = blockIdx.x * slice;
  int phase = threadIdx.x / GANG, bytes = K / 8 * BITS;
  int steps = (min(slice, K - k0) + KS - 1) / KS;
  unsigned shared = shared_address(memory);
  Ring ring{x + (long long)m0 * K, w + (long long)n0 * bytes, M - m0, N - n0, bytes, K, wide,
            shared + phase * STAGES * STAGE, evict_first()};
  int first = CHANNEL ? 0 : k0 / GROUP;
  Table table(shared + ROOM + MAIL, slice, first);
  table.fill(scales, biases, n0, N, first, CHANNEL ? 1 : K / GROUP,
             CHANNEL ? 1 : steps * (KS / GROUP));
  commit_copies();
  auto exists = [&](int s) { return s < STAGES && phase + s * WK < steps; };
  auto k_of = [&](int s) { return k0 + (phase + s * WK) * KS; };
  if (early) {
    // Weights are asked for while the previous launch runs, tokens after it.
#pragma unroll 1
    for (int s = 0; exists(s); s++) ring.copy_weights(k_of(s), s);
    if (!MUTANT(qmm_no_launch_wait)) wait_for_prerequisites();
#pragma unroll 1
    for (int s = 0; s < STAGES; s++) {
      if (exists(s)) ring.copy_tokens(k_of(s), s);
      commit_copies();
    }
  } else {
#pragma unroll
    for (int s = 0; s < STAGES; s++) {
      if (exists(s)) ring.copy_weights(k_of(s), s), ring.copy_tokens(k_of(s), s);
      commit_copies();
    }
  }
  // The next launch may start: it asks for its own weights.
  launch_dependents();
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
    if (s + STAGES * WK < steps) {
      int k = k0 + (s + STAGES * WK) * KS;
      ring.copy_weights(k, stage);
      ring.copy_tokens(k, stage);
    }
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
