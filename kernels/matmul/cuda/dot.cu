// C = epilogue(A . B) for a handful of rows of A, by dot_products.cuh of kernels/common.
//
//   A [M, K], rows lda apart   B rows ldb apart   bias [N] or null   C [M, N], rows ldc apart
//   nt, B[N, K]   nn, B[K, N]
//   grid ceil(N / COLS) * CLUSTER, block THREADS
#include "../../common/dot_products.cuh"

// The thread's columns of B, and the element of C that it stores, if it stores one.
struct Columns {
  const TYPE *B, *bias;
  TYPE* C;
  int M, N, K, ldb, ldc, relu;
  // The thread's first column.
  int n0;
  int n, row;
  bool stores;
  float b;

  __device__ int column(int c) const { return n0 + (NT ? c : 0); }
  __device__ bool has(int c) const { return column(c) < N || MUTANT(dot_no_column_guard); }
  __device__ const TYPE* chunk(int c, int step) const {
    return NT ? B + (long long)column(c) * ldb + (long long)step * PER
              : B + (long long)step * ldb + column(c);
  }
  __device__ int left(int c, int step) const { return NT ? K - step * PER : N - column(c); }

  __device__ void open(bool first) {
    int tid = threadIdx.x;
    n = firstColumn() + tid % COLS, row = tid / COLS;
    stores = first && row < M && n < N;
    b = stores && bias ? widen(bias[n]) : 0;
  }
  __device__ void finish(float total) const {
    if (stores) narrow(epilogue(total, b, leastOf(relu)), C[(long long)row * ldc + n]);
  }
};

template <bool WHOLE>
__device__ inline void multiply(const TYPE* A, const TYPE* B, const TYPE* bias, TYPE* C, int M,
                                int N, int K, int lda, int ldb, int ldc, int relu) {
  Columns columns = {B, bias, C, M, N, K, ldb, ldc, relu, firstColumn() + ownColumn()};
  dots<WHOLE>({A, M, K, lda}, columns);
}

#define ENTRY(NAME, WHOLE)                                                                        \
  extern "C" __global__ void __launch_bounds__(THREADS, 1)                                        \
  NAME(const TYPE* A, const TYPE* B, const TYPE* bias, TYPE* C, int M, int N, int K, int lda,     \
       int ldb, int ldc, int relu) {                                                              \
    multiply<WHOLE>(A, B, bias, C, M, N, K, lda, ldb, ldc, relu);                                 \
  }
// Where chunks of B, and of A where it is read by chunks, are as WHOLE needs them, and elsewhere: in
// one kernel the second path would take registers from the first.
ENTRY(dot, true)
ENTRY(dot_ragged, false)
