// Kernels that fail in ways that kernels fail. (A, B, C, M, N, K, lda, ldb, ldc), f32, nn.
#define ARGS                                                                                   \
  const float *A, const float *B, float *C, int M, int N, int K, int lda, int ldb, int ldc
#define ENTRY extern "C" __global__ void

// One thread for each element.
static __device__ void product(ARGS) {
  int i = blockIdx.x, j = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < K; k++) sum += A[i * lda + k] * B[k * ldb + j];
  C[i * ldc + j] = sum;
}
#define PRODUCT product(A, B, C, M, N, K, lda, ldb, ldc)
#define LAST (blockIdx.x == gridDim.x - 1 && threadIdx.x == N - 1)

#ifdef UNCOMPILABLE
ENTRY uncompilable(void) { no such thing; }
#endif
ENTRY right(ARGS) { PRODUCT; }
ENTRY segfault(ARGS) { asm("trap;"); }
ENTRY illegal(ARGS) { *(volatile float*)8 = A[0]; }
ENTRY forever(ARGS) { while (*(volatile const float*)A == A[0]) C[0] = 1; }
ENTRY unwritten(ARGS) { if (!LAST) PRODUCT; }
ENTRY nan_result(ARGS) { C[blockIdx.x * ldc + threadIdx.x] = nanf(""); }
ENTRY out_of_bounds(ARGS) { PRODUCT; if (LAST) C[M * ldc] = 0; }
ENTRY off_by_some(ARGS) { PRODUCT; if (LAST) C[(M - 1) * ldc + N - 1] += 100; }

// One for each block: blocks of one launch must not see one another's.
static __device__ int calls[64];
ENTRY stops(ARGS) {
  bool works = calls[blockIdx.x] < 5;
  __syncthreads();
  if (threadIdx.x == 0) calls[blockIdx.x]++;
  if (works) PRODUCT;
}
