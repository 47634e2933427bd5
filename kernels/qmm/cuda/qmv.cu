// y = x . W^T for a handful of tokens: dot products by fused multiply-adds.
//
// Idea: all of W is read once, so everything is about bytes in flight: a thread asks for 32
// codes of each of COLS rows before it looks at any. Codes become floats by placing bits, a
// scale is applied to the sum of its group.
//
//   x [M, K]   w [N, K * BITS / 32] words   scales, biases [N, K / GROUP]   y [M, N]
//   grid (CLUSTER, groups of N, groups of M), block THREADS, cluster CLUSTER
//   wide: rows of w start on 16 bytes
//   early: 1 if the launch may start before the previous one ends
//   shared memory: WARPS * ROWS * COLS * 4 + ClusterReduce::bytes
#include "../../common/mutant.h"
#include "dots.cuh"

SHARED_MEMORY(128);

// Octets of a unit that share a scale.
constexpr int ALIKE = GROUP < 32 ? GROUP / 8 : 4, PARTS = 4 / ALIKE;
// Words of one load.
constexpr int WIDE = BITS % 4 == 0 ? 4 : BITS % 2 == 0 ? 2 : 1;

// A unit of 32 codes of a row. Words that do not exist are 0.
__device__ inline void take(unsigned (&w)[BITS], const unsigned* row, int unit, int words,
                            bool wide, const Stream& stream) {
  const unsigned* p = row + (long long)unit * BITS;
  if (wide && (unit + 1) * BITS <= words) {
#pragma unroll
    for (int i = 0; i < BITS; i += WIDE) stream(*(unsigned(*)[WIDE])(w + i), p + i);
  } else {
#pragma unroll
    for (int i = 0; i < BITS; i++)
      w[i] = unit * BITS + i < words || MUTANT(qmv_no_word_guard) ? p[i] : 0;
  }
}

// Octet `o` of a unit, its bits from the lowest on.
__device__ inline void octet(const unsigned (&w)[BITS], int o, unsigned& low, unsigned& high) {
  int first = o * BITS / 4, shift = o * BITS % 4 * 8;
  unsigned a = w[first], b = first + 1 < BITS ? w[(first + 1) % BITS] : 0;
  low = __funnelshift_r(a, b, shift);
  high = MUTANT(qmv_no_shift) ? b : b >> shift;
}

// Sums over the lanes of a warp. Halves change hands, so that each lane ends with one sum.
__device__ inline void meet(float (&sum)[OUT], float* to) {
  static_assert(OUT <= 32 && (OUT & (OUT - 1)) == 0, "a sum for each lane, or for several");
  int lane = threadIdx.x % 32, count = OUT;
#pragma unroll
  for (int apart = 16; apart; apart /= 2) {
    if (count > 1) {
      bool upper = lane & apart;
      count /= 2;
#pragma unroll
      for (int i = 0; i < OUT / 2; i++) {
        if (i >= count) break;
        float give = upper ? sum[i] : sum[i + count], keep = upper ? sum[i + count] : sum[i];
        sum[i] = keep + __shfl_xor_sync(~0u, give, apart);
      }
    } else {
      sum[0] += __shfl_xor_sync(~0u, sum[0], apart);
    }
  }
  if (lane % (32 / OUT) == 0) to[lane / (32 / OUT)] = sum[0];
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
qmv(const TYPE* x, const unsigned* w, const void* scales, const void* biases, TYPE* y, int M,
    int N, int K, int wide, int early) {
  int n0 = blockIdx.y * COLS, m0 = blockIdx.z * ROWS, words = K / 8 * BITS / 4;
  int units = (K + 31) / 32, share = (units + CLUSTER - 1) / CLUSTER;
  int end = MUTANT(qmv_long_slice) ? units : min(units, ((int)blockIdx.x + 1) * share);
  float* sums = (float*)memory;
  ClusterReduce box(sums + WARPS * OUT, UNITS);
  Stream stream;
  // The next launch may start: it asks for its own weights.
  launch_dependents();
  float all[OUT] = {};
#pragma unroll 1
  for (int unit = blockIdx.x * share + threadIdx.x; unit < end; unit += THREADS) {
    unsigned codes[COLS][BITS];
    Factors f[COLS][PARTS];
#pragma unroll
    for (int c = 0; c < COLS; c++) {
      int n = min(n0 + c, N - 1);
      take(codes[c], w + (long long)n * words, unit, words, wide, stream);
    }
#pragma unroll
    for (int c = 0; c < COLS; c++)
#pragma unroll
      for (int p = 0; p < PARTS; p++) {
        long long n = min(n0 + c, N - 1), k = unit * 32 + (MUTANT(qmv_same_scale) ? 0 : p) * GROUP;
        f[c][p] = k < K ? factors_of(scales, biases,
                                     CHANNEL && !MUTANT(qmv_channel_groups) ? n : (n * K + k) / GROUP)
                        : Factors{};
      }
    // Weights and scales are asked for while the previous launch runs, tokens after it.
    if (early && !MUTANT(qmv_no_launch_wait)) wait_for_prerequisites();
    early = 0;
#pragma unroll
    for (int p = 0; p < PARTS; p++) {
      float sum[COLS][ROWS] = {}, ones[ROWS] = {};
#pragma unroll
      for (int o = p * ALIKE; o < (p + 1) * ALIKE; o++) {
        int k = unit * 32 + o * 8;
        Pack<TYPE, 8> token[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
          token[r] = {};
          const TYPE* from = x + (long long)(m0 + r) * K + k;
          if (m0 + r < M && k < K) token[r] = *(const Pack<TYPE, 8>*)from;
        }
        float v[ROWS][8];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
          for (int i = 0; i < 8; i++) {
            v[r][i] = widen(token[r].at[i]);
            ones[r] += v[r][i];
          }
#pragma unroll
        for (int c = 0; c < COLS; c++) {
          unsigned low, high, pair[4];
          octet(codes[c], o, low, high);
          pairs<f16>(low, high, pair);
#pragma unroll
          for (int i = 0; i < 8; i++) {
            float q = half_of(pair[i / 2], i % 2);
#pragma unroll
            for (int r = 0; r < ROWS; r++) sum[c][r] += q * v[r][weight_of(i / 2, i % 2)];
          }
        }
      }
#pragma unroll
      for (int c = 0; c < COLS; c++)
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
          all[r * COLS + c] += f[c][p].scale * (GAIN * sum[c][r]);
          if (BIASED) all[r * COLS + c] += f[c][p].bias * ones[r];
        }
    }
  }
  box.open((MUTANT(qmv_many_bytes) ? ROWS : min(ROWS, M - m0)) * (COLS / 4));
  meet(all, sums + threadIdx.x / 32 * OUT);
  finish(box, sums, y, m0, n0, {M, N, K});
}
