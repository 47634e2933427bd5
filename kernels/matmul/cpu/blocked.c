/* C = epilogue(A · B) as textbooks have it: blocks of K that stay in the cache, tiles of C that
 * stay in registers, one thread. What a kernel must beat where there is no library.
 */
#include "element.h"

#define DEPTH 256 /* k's of a block */
#define ROWS 6    /* of a tile */
#define COLS 16   /* of a tile: one vector */

#define INLINE static inline __attribute__((always_inline))

/* Compiled once for each of these; the dynamic linker takes the best for the CPU. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__has_attribute)
#if __has_attribute(target_clones)
#define FOR_EACH_CPU \
  __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#endif
#endif
#ifndef FOR_EACH_CPU
#define FOR_EACH_CPU
#endif

static inline long padded(long n, long to) { return (n + to - 1) / to * to; }

/* `count` consecutive elements in fp32. */
INLINE void widen(const char *from, int type, int count, float *to) {
  const uint16_t *half = (const uint16_t *)from;
  if (type == F32) memcpy(to, from, sizeof(float) * (size_t)count);
  else if (type == BF16)
    for (int i = 0; i < count; i++) to[i] = from_bf16(half[i]);
  else
    for (int i = 0; i < count; i++) to[i] = from_f16(half[i]);
}

/* sums[rows][cols] += a[rows][DEPTH] · b[cols / COLS][DEPTH][COLS], of which `depth` k's count. */
INLINE void multiply(const float *a, const float *b, float *sums, long rows, long cols,
                            int depth) {
  for (long j = 0; j < cols; j += COLS, b += DEPTH * COLS)
    for (long i = 0; i < rows; i += ROWS) {
      float tile[ROWS][COLS];
      for (int r = 0; r < ROWS; r++)
        for (int v = 0; v < COLS; v++) tile[r][v] = sums[(i + r) * cols + j + v];
      for (int p = 0; p < depth; p++)
        for (int r = 0; r < ROWS; r++)
          for (int v = 0; v < COLS; v++) tile[r][v] += a[(i + r) * DEPTH + p] * b[p * COLS + v];
      for (int r = 0; r < ROWS; r++)
        for (int v = 0; v < COLS; v++) sums[(i + r) * cols + j + v] = tile[r][v];
    }
}

/* Operands as in decompose_k.c. `scratch` has room for (rows + cols) · DEPTH + rows · cols floats,
 * where m is padded to ROWS and n to COLS.
 */
FOR_EACH_CPU
void blocked(const char *a, const char *b, const char *bias, char *c, float *scratch, int m, int n,
             int k, long lda, long ldb, long ldc, long stepc, int type, int nt, int has_bias,
             int relu) {
  const int bytes = type_bytes(type);
  const long rows = padded(m, ROWS), cols = padded(n, COLS);
  float *block_a = scratch, *block_b = block_a + rows * DEPTH, *sums = block_b + cols * DEPTH;
  memset(scratch, 0, sizeof(float) * ((rows + cols) * DEPTH + rows * cols));
  for (long k0 = 0; k0 < k; k0 += DEPTH) {
    const int depth = k - k0 < DEPTH ? (int)(k - k0) : DEPTH;
    for (long i = 0; i < m; i++)
      widen(a + (i * lda + k0) * bytes, type, depth, block_a + i * DEPTH);
    for (long j = 0; j < n && nt; j++) {
      float line[DEPTH];
      widen(b + (j * ldb + k0) * bytes, type, depth, line);
      float *to = block_b + j / COLS * DEPTH * COLS + j % COLS;
      for (int p = 0; p < depth; p++) to[p * COLS] = line[p];
    }
    for (long j = 0; j < n && !nt; j += COLS)
      for (int p = 0; p < depth; p++) {
        const char *from = b + ((k0 + p) * ldb + j) * bytes;
        float *to = block_b + j * DEPTH + p * COLS;
        if (n - j < COLS) widen(from, type, (int)(n - j), to);
        else widen(from, type, COLS, to); /* a length that the compiler knows */
      }
    multiply(block_a, block_b, sums, rows, cols, depth);
  }
  for (long i = 0; i < m; i++)
    for (long j = 0; j < n; j++) {
      float x = sums[i * cols + j];
      if (has_bias) x += load_float(bias + j * bytes, type);
      if (relu && x < 0) x = 0;
      store_float(c + (i * ldc + j * stepc) * bytes, type, x);
    }
}
