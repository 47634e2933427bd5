/* Bias, ReLU and rounding as a step of their own, after a product by a library.
 *
 * `sums` is fp32 [m,n] with rows `ld` apart; `c` has rows `ldc` apart, and may be `sums`
 * itself where its type is fp32.
 */
#include "element.h"

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
