// Sums the K slices' partial products, and applies the epilogue: to the sums, or to what a library
// has written.
//
//   P [S, M, N] fp32, 16-byte aligned   bias [N] or null   C [M, N], rows ldc apart
#include "../../common/mutant.h"
#include "tile/element.cuh"

// Sums the K slices' partial products, one block for each BM x BN tile of the output.
//
// Idea: the reducer has the shape of the product before it: a thread owns four columns of a
// row and walks the slices one after another. With M = N = 16 that is a single block, which
// waits for S dependent steps: what the split-axis reducer below mends.
//
//   grid (ceil(N / BN), ceil(M / BM)), block (BN / 4, threads / (BN / 4))
extern "C" __global__ void __launch_bounds__(128)
sum_tile(const float* P, const TYPE* bias, TYPE* C, int M, int N, int S, int ldc, int BM,
         int relu) {
  int col = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  int left = N - col;
  if (left <= 0) return;
  int end = (int)(blockIdx.y + 1) * BM;
  if (!MUTANT(sum_tile_no_row_guard)) end = min(M, end);
  for (int row = blockIdx.y * BM + threadIdx.y; row < end; row += blockDim.y) {
    const float* p = P + (long long)row * N + col;
    Pack<float, 4> sum = {};
#pragma unroll 4
    for (int s = 0; s < S; s++) {
      Pack<float, 4> x = load<4>(p + (long long)s * M * N, left);
      for (int i = 0; i < 4; i++) sum.at[i] += x.at[i];
    }
    Pack<TYPE, 4> b = {}, c;
    if (bias) b = load<4>(bias + col, left);
    for (int i = 0; i < 4; i++)
      narrow(epilogue(sum.at[i], widen(b.at[i]), leastOf(relu)), c.at[i]);
    store(C + (long long)row * ldc + col, c, left);
  }
}

// Sums the K slices' partial products, with the slices spread over the threads of a block.
//
// Idea: the output is a flat line of M * N elements, cut into pieces of X; of a piece, X / 4
// threads read one slice (16 bytes each) and the block reads 512 / X slices at once, BATCH
// times in flight. Sums then meet by shuffles and once in shared memory. A small output so
// has as many loads in flight as a large one. Rows are found only where C has padding or
// there is a bias.
//
// PDL=1: it was launched while its predecessor ran, and waits until all of P is written and
// visible. The call after it may start to launch before that.
//
//   grid ceil(M * N / X), block 128; entries for X = 32, 16, 8: the more slices, the narrower
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
  launch_dependents();
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

// The epilogue as a kernel of its own, elementwise, as torch.relu after torch.mm.
//
// Idea: none; this launch and its trip through memory are what fused kernels save.
// Each thread moves 16 bytes of a row (8 or 4 elements), one by one where a row is ragged
// or not aligned. `in` may be `out`.
//
//   in   [M, N], rows ldin apart     bias [N] or null
//   out  [M, N], rows ldout apart    block (x, 128 / x), grid (ceil(N / W / x), rows of blocks)
constexpr int W = 16 / sizeof(TYPE);

extern "C" __global__ void __launch_bounds__(128)
epilogue_kernel(const TYPE* in, const TYPE* bias, TYPE* out, int M, int N, int ldin, int ldout,
                int relu) {
  int col = (blockIdx.x * blockDim.x + threadIdx.x) * W;
  int left = N - col;
  if (left <= 0) return;
  // Rows beyond what a grid may have are reached by striding.
  for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < M; row += gridDim.y * blockDim.y) {
    Pack<TYPE, W> x = load<W>(in + (long long)row * ldin + col, left);
    Pack<TYPE, W> b = {};
    if (bias) b = load<W>(bias + col, left);
    for (int i = 0; i < W; i++)
      narrow(epilogue(widen(x.at[i]), MUTANT(epilogue_no_bias) ? 0 : widen(b.at[i]), leastOf(relu)),
             x.at[i]);
    store(out + (long long)row * ldout + col, x, left);
  }
}
