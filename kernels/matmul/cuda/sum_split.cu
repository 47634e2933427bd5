// Sums the K slices' partial products, with the slices spread over the threads of a block.
//
// Idea: the output is a flat line of M * N elements, cut into pieces of X; of a piece, X / 4
// threads read one slice (16 bytes each) and the block reads 512 / X slices at once, BATCH
// times in flight. Sums then meet by shuffles and once in shared memory. A small output so
// has as many loads in flight as a large one. Rows are found only where C has padding or
// there is a bias.
//
// PDL=1: it was launched while its predecessor ran, and waits until all of P is written and
// visible.
//
//   P [S, M, N] fp32, 16-byte aligned   bias [N] or null   C [M, N], rows ldc apart
//   grid ceil(M * N / X), block 128; entries for X = 32, 16, 8: the more slices, the narrower
#include "../../common/mutant.h"
#include "tile/element.cuh"

constexpr int THREADS = 128, BATCH = 4;

template <int X>
__device__ inline void sum(const float* P, const TYPE* bias, TYPE* C, int M, int N, int S,
                           int ldc, int relu) {
  constexpr int LANES = X / 4, ROWS = THREADS / LANES, WARPS = THREADS / 32;
  using Four = Pack<float, 4>;
  SHARED(Four, met, [WARPS][LANES]);
  int tid = threadIdx.x, count = M * N;
  int x = blockIdx.x * X + tid % LANES * 4;
  // Where M * N is no multiple of 4, the slices are not aligned either.
  bool whole = count % 4 == 0;
  const float* p = P + x;

  // While loads, or the predecessor, are on their way: where this thread's result goes.
  int e = blockIdx.x * X + tid;
  bool writes = tid < X && e < count;
  float b = 0;
  TYPE* c = C + e;
  auto place = [&] {
    if (!writes || !(bias || ldc != N)) return;
    int row = e / N, col = e - row * N;
    c = C + (long long)row * ldc + col;
    if (bias) b = widen(bias[col]);
  };
#if PDL
  place();
  if (!MUTANT(sum_no_launch_wait)) wait_for_prerequisites();
#endif

  Pack<float, 4> sum = {};
  for (int first = tid / LANES; first < S - MUTANT(sum_skip_slice); first += ROWS * BATCH) {
    Pack<float, 4> v[BATCH] = {};
#pragma unroll
    for (int i = 0; i < BATCH; i++) {
      int s = first + i * ROWS;
      const float* q = p + (long long)s * count;
      if (whole) {
        if (s < S && x < count) v[i] = *(const Pack<float, 4>*)q;
      } else if (s < S) {
        v[i] = load<4>(q, count - x);
      }
    }
#pragma unroll
    for (int i = 0; i < BATCH; i++)
      for (int j = 0; j < 4; j++) sum.at[j] += v[i].at[j];
  }

#if !PDL
  place();
#endif

#pragma unroll
  for (int apart = LANES << MUTANT(sum_skip_lanes); apart < 32; apart *= 2)
    for (int j = 0; j < 4; j++) sum.at[j] += __shfl_xor_sync(~0u, sum.at[j], apart);
  if (tid % 32 < LANES) met[tid / 32][tid % 32] = sum;
  if (!MUTANT(sum_no_barrier)) __syncthreads();
  if (!writes) return;
  float total = 0;
#pragma unroll
  for (int w = 0; w < WARPS; w++) total += met[w][tid / 4].at[tid % 4];
  narrow(epilogue(total, b, leastOf(relu)), *c);
}

#define ENTRY(X)                                                                              \
  extern "C" __global__ void __launch_bounds__(THREADS)                                      \
  sum_split_##X(const float* P, const TYPE* bias, TYPE* C, int M, int N, int S, int ldc,     \
                int relu) {                                                                   \
    sum<X>(P, bias, C, M, N, S, ldc, relu);                                                   \
  }
ENTRY(32)
ENTRY(16)
ENTRY(8)
