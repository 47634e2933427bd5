// Sums the K slices' partial products, with the slices spread over the lanes of a block.
//
// Idea: the output is a flat line of M * N elements, cut into pieces of X; of a piece, X / 4
// lanes read one slice (16 bytes each) and the block reads 1024 / X slices at once, BATCH
// times in flight. Sums then meet by lane exchange and once in the local data share. A small
// output so has as many loads in flight as a large one.
//
//   P [S, M, N] fp32, 16-byte aligned   bias [N] or null   C [M, N], rows ldc apart
//   grid ceil(M * N / X), block 256, 4 * X * 4 bytes; entries for X = 32, 16, 8: the more
//   slices, the narrower
#include "../../common/mutant.h"
#include "element.hip.h"

constexpr int THREADS = 256, BATCH = 4;

template <int X>
DEVICE void sum(const float* P, const TYPE* bias, TYPE* C, int M, int N, int S, int ldc,
                int relu) {
  constexpr int LANES = X / 4, ROWS = THREADS / LANES, WAVES = THREADS / WAVE;
  Pack<float, 4>* met = (Pack<float, 4>*)LDS;  // [WAVES][LANES]
  int tid = thread_x(), count = M * N;
  int x = block_x() * X + tid % LANES * 4;
  // Where M * N is no multiple of 4, the slices are not aligned either.
  bool whole = count % 4 == 0;
  const float* p = P + x;

  Pack<float, 4> sum = {};
  for (int first = tid / LANES; first < S - MUTANT(hip_sum_skip_slice); first += ROWS * BATCH) {
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

  // While the loads are on their way: where this lane's result goes.
  int e = block_x() * X + tid;
  bool writes = tid < X && e < count;
  float b = 0;
  TYPE* c = C + e;
  if (writes && (bias || ldc != N)) {
    int row = e / N, col = e - row * N;
    c = C + (long long)row * ldc + col;
    if (bias) b = widen(bias[col]);
  }

#pragma unroll
  for (int apart = LANES; apart < WAVE; apart *= 2)
    for (int j = 0; j < 4; j++) sum.at[j] = sum_lanes(sum.at[j], apart);
  if (tid % WAVE < LANES) met[tid / WAVE * LANES + tid % WAVE] = sum;
  if (!MUTANT(hip_sum_no_barrier)) barrier();
  if (!writes) return;
  float total = 0;
#pragma unroll
  for (int w = 0; w < WAVES; w++) total += ((const float*)met)[w * X + tid];
  narrow(epilogue(total, b, relu), *c);
}

#define ENTRY(X)                                                                              \
  KERNEL(THREADS) void sum_split_##X(const float* P, const TYPE* bias, TYPE* C, int M, int N, \
                                     int S, int ldc, int relu) {                              \
    sum<X>(P, bias, C, M, N, S, ldc, relu);                                                   \
  }
ENTRY(32)
ENTRY(16)
ENTRY(8)
