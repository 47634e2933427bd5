// y = x . W for a handful of tokens, W stored as [K, N]: every thread owns eight columns.
//
// Idea: groups run along N here, so no sum over K has one scale: weights are made in full, by
// a multiply-add each, and multiplied by all tokens. Threads beside one another read what lies
// beside one another; the others of a block, and of a cluster, take other rows.
//
//   x [M, K]   w [K, N * BITS / 32] words   scales, biases [K, N / GROUP]   y [M, N]
//   grid (CLUSTER, groups of N, groups of M), block THREADS, cluster CLUSTER
//   shared memory: WARPS * ROWS * COLS * 4 + ClusterReduce::bytes
#include "../../common/mutant.h"
#include "dots.cuh"

SHARED_MEMORY(128);

constexpr int ACROSS = COLS / 8, PHASES = THREADS / ACROSS;
static_assert(ACROSS <= 32, "a warp has whole rows of the tile");

// The octet that starts at byte `at`. Reads no word in which it has no bit.
__device__ inline void take(unsigned (&v)[2], const unsigned char* w, long long at,
                            const Stream& stream) {
  if constexpr (BITS == 8) {
    stream(v, w + at);
  } else if constexpr (BITS == 4) {
    stream(*(unsigned(*)[1])v, w + at);
  } else {
    unsigned a[1], b[1] = {};
    int shift = at % 4 * 8;
    stream(a, w + at / 4 * 4);
    if (shift + 8 * BITS > 32) stream(b, w + at / 4 * 4 + 4);
    v[0] = __funnelshift_r(a[0], b[0], shift);
    v[1] = b[0] >> shift;
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
qvm(const TYPE* x, const unsigned char* w, const void* scales, const void* biases, TYPE* y,
    int M, int N, int K) {
  int n0 = blockIdx.y * COLS, m0 = blockIdx.z * ROWS;
  int share = (K + CLUSTER - 1) / CLUSTER, end = min(K, ((int)blockIdx.x + 1) * share);
  int n = n0 + threadIdx.x % ACROSS * 8;
  float* sums = (float*)memory;
  ClusterReduce box(sums + WARPS * OUT, UNITS);
  Stream stream;
  float all[ROWS][8] = {};
#pragma unroll 1
  for (int k = blockIdx.x * share + threadIdx.x / ACROSS;
       (n < N || MUTANT(qvm_no_column_guard)) && k < end; k += UNROLL * PHASES) {
    unsigned v[UNROLL][2] = {};
    Factors f[UNROLL];
    float token[UNROLL][ROWS];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
      int row = min(k + u * PHASES, K - 1);
      long long at = (long long)row * N + n;
      take(v[u], w, at / 8 * BITS, stream);
      f[u] = factors_of(scales, biases, CHANNEL ? row : at / GROUP);
#pragma unroll
      for (int r = 0; r < ROWS; r++)
        token[u][r] = m0 + r < M && k + u * PHASES < end
                          ? widen(x[(long long)(m0 + r) * K + k + u * PHASES])
                          : 0;
    }
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
      // What is beyond the slice would count as 0 times it, which is NaN for a scale of NaN.
      if (k + u * PHASES >= end) break;
      unsigned pair[4];
      pairs<f16>(v[u][0], v[u][1], pair);
#pragma unroll
      for (int i = 0; i < 8; i++) {
        float q = GAIN * half_of(pair[i / 2], i % 2);
        float weight = BIASED ? fmaf(f[u].scale, q, f[u].bias) : f[u].scale * q;
#pragma unroll
        for (int r = 0; r < ROWS; r++)
          all[r][weight_of(i / 2, i % 2)] += token[u][r] * weight;
      }
    }
  }
  box.open(min(ROWS, M - m0) * (COLS / 4));
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int i = 0; i < 8; i++) {
#pragma unroll
      for (int apart = 16; apart >= ACROSS; apart /= 2)
        all[r][i] += __shfl_xor_sync(~0u, all[r][i], apart);
      if (threadIdx.x % 32 < ACROSS || MUTANT(qvm_all_lanes))
        sums[threadIdx.x / 32 * OUT + r * COLS + threadIdx.x % ACROSS * 8 + i] = all[r][i];
    }
  finish(box, sums, y, m0, n0, {M, N, K});
}
