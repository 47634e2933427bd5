// What the dot-product kernels share: loads of packed weights, and how a block's sums become
// outputs.
//
// Compile-time: TYPE, octet.cuh's, ROWS tokens and COLS outputs of a block, THREADS, CLUSTER.
#ifndef MNKBENCH_DOTS
#define MNKBENCH_DOTS
#include "../../common/mutant.h"
#include "../../device/ptx_memory.h"
#include "cluster_reduce.cuh"
#include "octet.cuh"

constexpr int WARPS = THREADS / 32, OUT = ROWS * COLS, UNITS = OUT / 4;

// Blocks that a multiprocessor has registers for: sums decide how many a thread needs.
constexpr int LEAST = (OUT > 8 ? 256 : 512) / THREADS, RESIDENT = LEAST > 1 ? LEAST : 1;

struct Sizes {
  int M, N, K;
};

// Bytes that are read once, and leave the caches first.
struct Stream {
  unsigned long long policy = evict_first();
  template <int W>
  __device__ void operator()(unsigned (&r)[W], const void* p) const {
    load_once(r, p, policy);
  }
};

__device__ inline float spread(TYPE scale) { return widen(scale); }
__device__ inline float spread(unsigned char scale) { return decode_scale(MODE, scale); }

// What codes are multiplied by and what is added, each to a sum, of group `g` of all. A power of
// two is still missing, GAIN: scales of bf16's range leave fp32's if it is multiplied into them.
__device__ inline Factors factors_of(const void* scales, const void* biases, long long g) {
  float scale = spread(((const Stored<TYPE>::Scale*)scales)[g]);
  float bias = BIASED ? widen(((const TYPE*)biases)[g]) : 0;
  return {scale, bias - Kind<f16>::OFFSET * scale};
}
constexpr float GAIN = Kind<f16>::GAIN;

// Adds what the warps left in sums[WARPS][ROWS][COLS], then what the cluster's blocks have,
// and stores it.
__device__ inline void finish(const ClusterReduce& box, const float* sums, TYPE* y, int m0, int n0,
                              Sizes s) {
  if (!MUTANT(dots_no_barrier)) __syncthreads();
  exchange(box, min(ROWS, s.M - m0) * (COLS / 4),
           [&](int unit) {
             Four all = {};
#pragma unroll
             for (int w = 0; w < WARPS; w++) {
               Four part = *(const Four*)(sums + w * OUT + unit * 4);
               for (int j = 0; j < 4; j++) all.at[j] += part.at[j];
             }
             return all;
           },
           [&](int unit, const Four& sum) {
             int m = m0 + unit / (COLS / 4), n = n0 + unit % (COLS / 4) * 4;
             Pack<TYPE, 4> out;
             for (int j = 0; j < 4; j++) narrow(sum.at[j], out.at[j]);
             store(y + (long long)m * s.N + n, out, s.N - n);
           });
}

#endif
