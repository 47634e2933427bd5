/* Products of a few rows of fp32 with four rows that were converted to fp32 for all of them. */
#ifndef DOT_PANEL_H
#define DOT_PANEL_H

#define QUAD 4     /* rows that are converted and multiplied together */
#define DEPTH 1024 /* their K that are converted at a time */
#define CHUNK 256  /* other rows whose sums are held at a time */
#define LANES 16

typedef float Vec __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* One version for each of these CPUs, chosen when the library is loaded. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__)
#define FASTEST __attribute__((target_clones("default", "arch=haswell", "arch=skylake-avx512")))
#else
#define FASTEST
#endif

/* Of functions that are compiled for their caller's CPU. */
#define INLINED static inline __attribute__((always_inline))

/* Adds the products of `rows` rows, at most two, with QUAD others over `depth` to their sums. */
INLINED void dots(const int rows, const float *x, long stride, const float (*w)[DEPTH],
                  long depth, float (*sums)[QUAD]) {
  Vec sum[2][QUAD] = {{{0}}};
  long p = 0;
  for (; p + LANES <= depth; p += LANES)
    for (int j = 0; j < QUAD; j++)
      for (int i = 0; i < rows; i++)
        sum[i][j] += *(const Vec *)(x + i * stride + p) * *(const Vec *)(w[j] + p);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < QUAD; j++) {
      float all = 0;
      for (int l = 0; l < LANES; l++) all += sum[i][j][l];
      for (long q = p; q < depth; q++) all += x[i * stride + q] * w[j][q];
      sums[i][j] += all;
    }
}

/* The same for any number of rows. */
INLINED void all_dots(long rows, const float *x, long stride, const float (*w)[DEPTH], long depth,
                      float (*sums)[QUAD]) {
  long i = 0;
  for (; i + 2 <= rows; i += 2) dots(2, x + i * stride, stride, w, depth, sums + i);
  if (i < rows) dots(1, x + i * stride, stride, w, depth, sums + i);
}

static int least(int x, int y) { return x < y ? x : y; }

#endif
