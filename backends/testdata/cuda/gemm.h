// A column-major product, as the mock matrix libraries compute it.
#pragma once
#include <stdint.h>

typedef uint64_t u64;
typedef struct {
  int ta, tb, m, n, k, lda, ldb, ldc;
  const float *a, *b;
  float *c;
} Product;

static inline void column_major(Product p) {
  for (int i = 0; i < p.m; i++)
    for (int j = 0; j < p.n; j++) {
      double sum = 0;
      for (int l = 0; l < p.k; l++)
        sum += (double)(p.ta ? p.a[l + i * p.lda] : p.a[i + l * p.lda]) *
               (p.tb ? p.b[j + l * p.ldb] : p.b[l + j * p.ldb]);
      p.c[i + j * p.ldc] = sum;
    }
}
