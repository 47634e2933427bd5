/* Decoding and multiplying for one instruction set.
 *
 * Included once for each: SET names its functions, TARGET is their attribute, LANES its
 * 32-bit lanes a vector, X_ROWS the rows of x for which four rows of W leave registers.
 *
 * Weights are decoded into fp32 in the first-level cache, once for all rows of x. Eight
 * codes of any width fit into 64 bits, so each lane shifts the same word to its own code.
 */
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define FN(name) JOIN(name, SET)
#define INLINE static inline __attribute__((always_inline)) TARGET
#define VEC FN(vec)

#define CODES FN(codes)
#define INTS FN(ints)
#define HALVES FN(halves)
#define BYTES FN(bytes)

typedef float VEC __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef uint32_t CODES __attribute__((vector_size(4 * LANES)));
typedef int32_t INTS __attribute__((vector_size(4 * LANES)));
typedef uint16_t HALVES __attribute__((vector_size(2 * LANES)));
typedef uint8_t BYTES __attribute__((vector_size(LANES)));

#include "decode.h"

/* x as fp32, the rows of one share. */
TARGET static void FN(widen)(const void *arg, int share) {
  const Job *job = arg;
  const long all = (long)job->m * job->k;
  const long end = all * (share + 1) / job->tasks;
  const uint16_t *half = (const uint16_t *)job->x;
  if (job->weights.type == BF16)
    for (long i = all * share / job->tasks; i < end; i++) job->wide[i] = from_bf16(half[i]);
  else
    for (long i = all * share / job->tasks; i < end; i++) job->wide[i] = from_f16(half[i]);
}

/* Adds the products of `rows` rows of x and four of W over `depth` to their sums. */
INLINE void FN(dots)(const int rows, const float *x, long x_stride, const float *w, int depth,
                     float *sums) {
  VEC sum[6][QUAD] = {{{0}}};
  for (int p = 0; p < depth; p += LANES) {
    VEC four[QUAD];
    for (int j = 0; j < QUAD; j++) four[j] = *(const VEC *)(w + j * DEPTH + p);
    for (int i = 0; i < rows; i++) {
      const VEC some = *(const VEC *)(x + i * x_stride + p);
      for (int j = 0; j < QUAD; j++) sum[i][j] += some * four[j];
    }
  }
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < QUAD; j++) {
      float lanes[LANES];
      memcpy(lanes, &sum[i][j], sizeof lanes);
      for (int half = LANES / 2; half; half /= 2)
        for (int l = 0; l < half; l++) lanes[l] += lanes[l + half];
      sums[i * MAX_ROWS + j] += lanes[0];
    }
}

/* y = x · Wᵀ for a block of W's rows: dot products along K, the weights decoded once for
 * CHUNK rows of x. */
TARGET static void FN(rows)(const Job *job, int block) {
  float panel[MAX_ROWS * DEPTH], sums[CHUNK * MAX_ROWS];
  const int j0 = block * job->rows;
  const int cols = job->n - j0 < job->rows ? job->n - j0 : job->rows;
  const int whole = (cols + QUAD - 1) / QUAD * QUAD;
  for (int i0 = 0; i0 < job->m; i0 += CHUNK) {
    const int rows = job->m - i0 < CHUNK ? job->m - i0 : CHUNK;
    memset(sums, 0, sizeof(float) * MAX_ROWS * (size_t)rows);
    for (int k0 = 0; k0 < job->k; k0 += DEPTH) {
      const int depth = job->k - k0 < DEPTH ? job->k - k0 : DEPTH;
      for (int j = 0; j < whole; j++) {
        if (j < cols) FN(decode)(&job->weights, j0 + j, k0, depth, panel + j * DEPTH);
        else memset(panel + j * DEPTH, 0, sizeof(float) * (size_t)depth);
      }
      const float *x = job->wide + (long)i0 * job->k + k0;
      int i = 0;
#define TILES(R)                                                             \
  for (; i + R <= rows; i += R)                                              \
    for (int j = 0; j < whole; j += QUAD)                                    \
      FN(dots)(R, x + (long)i * job->k, job->k, panel + j * DEPTH, depth, sums + i * MAX_ROWS + j);
      TILES(X_ROWS) TILES(2) TILES(1)
#undef TILES
    }
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++)
        store_float(job->y + 2 * ((i0 + i) * (long)job->n + j0 + j), job->weights.type,
                    sums[i * MAX_ROWS + j]);
  }
}

/* y = x · W for a block of W's columns: rows of W times numbers of x. */
TARGET static void FN(columns)(const Job *job, int block) {
  float panel[STEPS * COLUMNS], sums[CHUNK * COLUMNS];
  const int j0 = block * COLUMNS;
  const int cols = job->n - j0 < COLUMNS ? job->n - j0 : COLUMNS;
  for (int i0 = 0; i0 < job->m; i0 += CHUNK) {
    const int rows = job->m - i0 < CHUNK ? job->m - i0 : CHUNK;
    memset(sums, 0, sizeof(float) * COLUMNS * (size_t)rows);
    for (int k0 = 0; k0 < job->k; k0 += STEPS) {
      const int steps = job->k - k0 < STEPS ? job->k - k0 : STEPS;
      for (int p = 0; p < steps; p++)
        FN(decode)(&job->weights, k0 + p, j0, cols, panel + p * COLUMNS);
      for (int i = 0; i < rows; i++) {
        const float *x = job->wide + (long)(i0 + i) * job->k + k0;
        for (int j = 0; j < cols; j += LANES) {
          VEC sum = *(VEC *)(sums + i * COLUMNS + j);
          for (int p = 0; p < steps; p++) sum += x[p] * *(const VEC *)(panel + p * COLUMNS + j);
          *(VEC *)(sums + i * COLUMNS + j) = sum;
        }
      }
    }
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++)
        store_float(job->y + 2 * ((i0 + i) * (long)job->n + j0 + j), job->weights.type,
                    sums[i * COLUMNS + j]);
  }
}

TARGET static void FN(rows_task)(const void *arg, int task) {
  const Job *job = arg;
  for (int block = task; block < job->blocks; block += job->tasks) FN(rows)(job, block);
}

TARGET static void FN(columns_task)(const void *arg, int task) {
  const Job *job = arg;
  for (int block = task; block < job->blocks; block += job->tasks) FN(columns)(job, block);
}

static const Tasks FN(tasks) = {FN(widen), FN(rows_task), FN(columns_task)};

#undef JOIN_
#undef JOIN
#undef FN
#undef INLINE
#undef VEC
#undef CODES
#undef INTS
#undef HALVES
#undef BYTES
#undef SET
#undef TARGET
#undef LANES
#undef X_ROWS
#undef LOOKUP
#undef NIBBLES
#undef WIDEN
