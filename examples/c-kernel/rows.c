// C = A · B in fp32, any leading dimensions. The inner loop runs along rows of B and C, which the
// compiler turns into vector instructions; a loop along K would read a column of B.
void rows(const float *A, const float *B, float *C, int M, int N, int K, int lda, int ldb, int ldc) {
  for (int i = 0; i < M; i++) {
    float *c = C + (long)i * ldc;
    for (int j = 0; j < N; j++) c[j] = 0;
    for (int k = 0; k < K; k++) {
      const float a = A[(long)i * lda + k], *b = B + (long)k * ldb;
      for (int j = 0; j < N; j++) c[j] += a * b[j];
    }
  }
}
