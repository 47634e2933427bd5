// A right product, but for what KIND does first. (A, B, C, M, N, K, lda, ldb, ldc), f32, nn.
#include <unistd.h>

void product(const float *A, const float *B, float *C, int M, int N, int K, int lda, int ldb,
             int ldc) {
#if KIND == 2
  *(volatile float *)8 = A[0];
#elif KIND == 4
  for (;;) pause();
#elif KIND != 5
  usleep(300);
#endif
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < K; k++) sum += (double)A[i * lda + k] * B[k * ldb + j];
      C[i * ldc + j] = sum;
    }
}
