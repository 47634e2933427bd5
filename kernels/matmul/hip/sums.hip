// Sums the K slices' partial products, and applies the epilogue: to the sums, or to what a library
// has written.
//
//   P [S, M, N] fp32, 16-byte aligned   bias [N] or null   C [M, N], rows ldc apart
#include "../../common/mutant.h"
#include "element.hip.h"

// Sums the K slices' partial products, one block for each BM x BN tile of the output.
//
// Idea: the reducer has the shape of the product before it: a lane owns four columns of a row
// and walks the slices one after another. With M = N = 16 that is a single block, which waits
// for S dependent steps: what the split-axis reducer below mends.
//
//   grid (ceil(N / BN), ceil(M / BM)), block 256
KERNEL(256) void sum_tile(const float* P, const TYPE* bias, TYPE* C, int M, int N, int S,
                          int ldc, int BM, int BN, int relu) {
  int fours = BN / 4, rows = 256 / fours;
  int col = block_x() * BN + thread_x() % fours * 4, left = N - col;
  if (left <= 0) return;
  int end = (block_y() + 1) * BM < M ? (block_y() + 1) * BM : M;
  for (int row = block_y() * BM + thread_x() / fours; row < end; row += rows) {
    const float* p = P + (long long)row * N + col;
    Pack<float, 4> sum = {};
#pragma unroll 4
    for (int s = 0; s < S; s++) {
      Pack<float, 4> x = load<4>(p + (long long)s * M * N, left);
      for (int i = 0; i < 4; i++) sum.at[i] += x.at[i];
    }
    Pack<TYPE, 4> b = {}, c;
    if (bias) b = load<4>(bias + col, left);
    for (int i = 0; i < 4; i++) narrow(epilogue(sum.at[i], widen(b.at[i]), relu), c.at[i]);
    store(C + (long long)row * ldc + col, c, left);
  }
}

// Sums the K slices' partial products, with the slices spread over the lanes of a block.
//
// Idea: the output is a flat line of M * N elements, cut into pieces of X; of a piece, X / 4
// lanes read one slice (16 bytes each) and the block reads 1024 / X slices at once, BATCH
// times in flight. Sums then meet by lane exchange and once in the local data share. A small
// output so has as many loads in flight as a large one.
//
//   grid ceil(M * N / X), block 256, 4 * X * 4 bytes; entries for X = 32, 16, 8: the more
//   slices, the narrower
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

// The epilogue as a kernel of its own, elementwise, as torch.relu after torch.mm.
//
// Idea: none; this launch and its trip through memory are what fused kernels save. Each lane
// moves 16 bytes of a row, one by one where a row is ragged or not aligned. `in` may be `out`.
//
//   in   [M, N], rows ldin apart     bias [N] or null
//   out  [M, N], rows ldout apart    grid (ceil(N / W / 64), blocks of 4 rows), block 256
constexpr int W = 16 / sizeof(TYPE);

KERNEL(256) void epilogue_kernel(const TYPE* in, const TYPE* bias, TYPE* out, int M, int N,
                                 int ldin, int ldout, int rows, int relu) {
  int col = (block_x() * WAVE + thread_x() % WAVE) * W;
  int left = N - col;
  if (left <= 0) return;
  // Rows beyond what a grid may have are reached by striding.
  for (int row = block_y() * 4 + thread_x() / WAVE; row < M; row += rows) {
    Pack<TYPE, W> x = load<W>(in + (long long)row * ldin + col, left);
    Pack<TYPE, W> b = {};
    if (bias) b = load<W>(bias + col, left);
    for (int i = 0; i < W; i++) narrow(epilogue(widen(x.at[i]), widen(b.at[i]), relu), x.at[i]);
    store(out + (long long)row * ldout + col, x, left);
  }
}
