// C[i] = sum of row i of A[m, n], in fp32.
void row_sums(const float *A, float *C, int m, int n) {
  for (int i = 0; i < m; i++) {
    float sum = 0;
    for (int j = 0; j < n; j++) sum += A[(long)i * n + j];
    C[i] = sum;
  }
}
