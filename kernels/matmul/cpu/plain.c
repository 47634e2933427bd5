/* Plain loops: the epilogue of a library's product, and the right answer. */
#include "element.h"

/* Bias, ReLU and rounding as a step of their own, after a product by a library.
 *
 * `sums` is fp32 [m,n] with rows `ld` apart; `c` has rows `ldc` apart, and may be `sums`
 * itself where its type is fp32.
 */
void epilogue(const float *sums, const void *bias, void *c, int m, int n, int ld, int ldc,
              int type, int has_bias, int relu) {
  const int bytes = type_bytes(type);
  for (long i = 0; i < m; i++)
    for (long j = 0; j < n; j++) {
      float x = sums[i * ld + j];
      if (has_bias) x += load_float((const char *)bias + j * bytes, type);
      if (relu && x < 0) x = 0;
      store_float((char *)c + (i * ldc + j) * bytes, type, x);
    }
}

/* The right answer: products and sums in double precision, epilogue included, rows of n
 * unrounded doubles. Plain loops, so that a person can see that it is right. Operands as
 * in decompose_k.c; `c` is unpadded f64 [m,n].
 */
void reference(const char *a, const char *b, const char *bias, double *c, int m, int n, int k,
             int lda, int ldb, int type, int nt, int has_bias, int relu) {
  const int bytes = type_bytes(type);
  for (long i = 0; i < m; i++) {
    double *row = c + i * n;
    for (long j = 0; j < n; j++) row[j] = 0;
    for (long p = 0; p < k; p++) {
      const double x = load_float(a + (i * lda + p) * bytes, type);
      for (long j = 0; j < n; j++) {
        const long at = nt ? j * ldb + p : p * ldb + j;
        row[j] += x * load_float(b + at * bytes, type);
      }
    }
    for (long j = 0; j < n; j++) {
      if (has_bias) row[j] += load_float(bias + j * bytes, type);
      if (relu && row[j] < 0) row[j] = 0;
    }
  }
}
