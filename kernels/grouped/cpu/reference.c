/* The right answer: C = A . B^T for each problem, products and sums in double precision,
 * unrounded doubles. Plain loops, so that a person can see that it is right.
 */

#include <stdlib.h>

#include "../../../bench/formats/formats.h"
#include "../problem.h"

static double value(const unsigned char *codes, const unsigned char *scales, long row, long col,
                    int k) {
  const unsigned code = codes[(row * k + col) / 2] >> (col % 2 * 4) & 15;
  const unsigned scale = scales[blocked_offset((int)row, (int)(col / 16), k / 16)];
  return (double)decode_e2m1(code) * decode_e4m3(scale);
}

/* Decoded once, not once a product; null where there is no room. */
static double *decoded(const unsigned char *codes, const unsigned char *scales, long rows, int k) {
  double *values = malloc(sizeof(double) * (size_t)rows * (size_t)k);
  if (values)
    for (long row = 0; row < rows; row++)
      for (int col = 0; col < k; col++)
        values[row * k + col] = value(codes, scales, row, col, k);
  return values;
}

/* Where there is no room for what is decoded, C stays as it was, which a check finds. */
void reference(const Problem *problems, int count, int mmajor) {
  for (const Problem *p = problems; p < problems + count; p++) {
    double *c = p->c, *a = decoded(p->a, p->sfa, p->m, p->k);
    for (long j = 0; a && j < p->n; j++) {
      double *b = malloc(sizeof(double) * (size_t)p->k);
      if (!b) break;
      for (int x = 0; x < p->k; x++) b[x] = value(p->b, p->sfb, j, x, p->k);
      for (long i = 0; i < p->m; i++) {
        double sum = 0;
        for (long x = 0; x < p->k; x++) sum += a[i * p->k + x] * b[x];
        c[mmajor ? j * p->m + i : i * p->n + j] = sum;
      }
      free(b);
    }
    free(a);
  }
}
