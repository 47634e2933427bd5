// C = A · B in fp32 in column blocks of BN and K steps of BK; both are macros that `tune` searches.
void tiled(const float *A, const float *B, float *C, int M, int N, int K, int lda, int ldb,
           int ldc) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) C[(long)i * ldc + j] = 0;
  for (int j0 = 0; j0 < N; j0 += BN) {
    const int columns = N - j0 < BN ? N - j0 : BN;
    for (int k0 = 0; k0 < K; k0 += BK) {
      const int end = K - k0 < BK ? K : k0 + BK;
      for (int i = 0; i < M; i++) {
        float sums[BN] = {0};
        for (int k = k0; k < end; k++) {
          const float a = A[(long)i * lda + k], *b = B + (long)k * ldb + j0;
          for (int j = 0; j < columns; j++) sums[j] += a * b[j];
        }
        for (int j = 0; j < columns; j++) C[(long)i * ldc + j0 + j] += sums[j];
      }
    }
  }
}
