// C = silu(X . W1^T) * (X . W2^T) for a handful of rows of X, without tensor cores: X[M, K], W1[N, K],
// W2[N, K], C[M, N] of TYPE, fp32 sums.
//
// Idea: the weights are one matrix of 2 * N rows, of which the even ones are those of W1 and the odd
// ones those of W2. dot_products.cuh multiplies by them as by the columns of any other matrix. A gate
// and its up are then sums of neighbouring lanes of one warp.
//
// Compile-time: TYPE, ROWS (M or a little more), THREADS, COLS (rows of both weights, an even number),
// UNROLL, CLUSTER.
//
//   grid ceil(2 * N / COLS) * CLUSTER, block THREADS
#define LAYOUT nt

#include "../../common/dot_products.cuh"
#include "silu.cuh"

static_assert(COLS % 2 == 0, "a gate and its up are sums of one block");

struct Gated {
  const TYPE *W1, *W2;
  TYPE* C;
  int M, N, K;
  bool first;

  // The row of either weight that a column of the block is.
  __device__ static int rowOf(int column) { return firstColumn() / 2 + column / 2; }
  __device__ bool has(int c) const { return rowOf(c) < N || MUTANT(swiglu_dot_no_column_guard); }
  __device__ const TYPE* chunk(int c, int step) const {
    const TYPE* weights = c % 2 && !MUTANT(swiglu_dot_same_weights) ? W2 : W1;
    return weights + (long long)rowOf(c) * K + (long long)step * PER;
  }
  __device__ int left(int, int step) const { return K - step * PER; }

  __device__ void open(bool isFirst) { first = isFirst; }
  __device__ void finish(float total) const {
    float other = __shfl_xor_sync(~0u, total, 1);
    int tid = threadIdx.x, row = tid / COLS, n = rowOf(tid % COLS);
    bool stores = tid % 2 == MUTANT(swiglu_dot_swapped) && row < M && n < N;
    if (stores && first) narrow(joined(total, other), C[(long long)row * N + n]);
  }
};

template <bool WHOLE>
__device__ inline void multiply(const TYPE* X, const TYPE* W1, const TYPE* W2, TYPE* C, int M, int N,
                                int K) {
  Gated gated = {W1, W2, C, M, N, K};
  dots<WHOLE>({X, M, K, K}, gated);
}

#define ENTRY(NAME, WHOLE)                                                                 \
  extern "C" __global__ void __launch_bounds__(THREADS, 1)                                 \
  NAME(const TYPE* X, const TYPE* W1, const TYPE* W2, TYPE* C, int M, int N, int K) {      \
    multiply<WHOLE>(X, W1, W2, C, M, N, K);                                                \
  }
// Where chunks of X, W1 and W2 are as WHOLE needs them, and elsewhere: in one kernel the second path
// would take registers from the first.
ENTRY(swiglu_dot, true)
ENTRY(swiglu_dot_ragged, false)
