// A kernel that a GPU may well get right and the lane emulator refuses, and one that is right.
#define ARGS                                                                                   \
  const float *A, const float *B, float *C, int M, int N, int K, int lda, int ldb, int ldc
#define ENTRY extern "C" __global__ void

static __device__ void product(ARGS, int j) {
  const int i = blockIdx.x;
  float sum = 0;
  for (int k = 0; k < K; k++) sum += A[i * lda + k] * B[k * ldb + j];
  C[i * ldc + j] = sum;
}

ENTRY right(ARGS) { product(A, B, C, M, N, K, lda, ldb, ldc, threadIdx.x); }
// Two threads write each element, the same value.
ENTRY raced(ARGS) { product(A, B, C, M, N, K, lda, ldb, ldc, threadIdx.x / 2); }
