// Kernels that fail in ways that kernels fail. (A, B, C, M, N, K, lda, ldb, ldc), f32, nn.
#include <math.h>
#include <unistd.h>

#define ARGS                                                                                   \
  const float *A, const float *B, float *C, int M, int N, int K, int lda, int ldb, int ldc

static void product(ARGS) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < K; k++) sum += (double)A[i * lda + k] * B[k * ldb + j];
      C[i * ldc + j] = sum;
    }
}
#define PRODUCT product(A, B, C, M, N, K, lda, ldb, ldc)

#ifdef UNCOMPILABLE
void uncompilable(void) { this is not C; }
#endif
void right(ARGS) { PRODUCT; }
void segfault(ARGS) { *(volatile float *)8 = A[0]; }
void illegal(ARGS) { __builtin_trap(); }
void forever(ARGS) { for (;;) pause(); }
void unwritten(ARGS) { PRODUCT; C[(M - 1) * ldc + N - 1] = NAN; }
void nan_result(ARGS) { for (int i = 0; i < M * ldc; i++) C[i] = NAN; }
void out_of_bounds(ARGS) { PRODUCT; C[M * ldc] = 0; }
void off_by_some(ARGS) { PRODUCT; C[0] += 100; }
void stops(ARGS) { static int calls; if (++calls > 5) return; PRODUCT; }

#ifdef KIND
// A right product, but for what KIND does first.
void searched(ARGS) {
#if KIND == 2
  *(volatile float *)8 = A[0];
#elif KIND == 4
  for (;;) pause();
#elif KIND != 5
  usleep(300);
#endif
  PRODUCT;
}
#endif
