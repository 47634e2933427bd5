/* Partial products of one K slice for one instruction set.
 *
 * Included once for each: SET names its functions, TARGET is their attribute, LANES is
 * its 32-bit lanes a vector, PANEL_VECTORS the widest panel of B in vectors (as many as
 * leave room in the registers for the rows below), and PAIRS is 1 where a 32-bit unit
 * holds two bf16 that one instruction multiplies and adds.
 *
 * The micro-kernel is the outer product of Goto and van de Geijn ("Anatomy of
 * High-Performance Matrix Multiplication", 2008): for each k, a few rows' values of A
 * times a row of B, the sums in registers. A is read where it lies, since broadcasts need
 * no packing, and B too where its rows are whole vectors; otherwise a block is converted
 * to 32-bit units first. The next block is prefetched while this one is multiplied: with
 * M and N this small, memory sets the pace.
 */
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define FN(name) JOIN(name, SET)
#define INLINE static inline __attribute__((always_inline)) TARGET
#define VEC FN(vec)
#define PANEL (PANEL_VECTORS * LANES)
#define LINE 64 /* bytes */

typedef float VEC __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* Where the micro-kernel finds its operands. Strides are bytes. */
typedef struct {
  const char *a, *b, *warm_a, *warm_b; /* warm_*: what the next block will read, or null */
  float *c;
  long a_stride, b_stride, c_stride, warm_step;
  int units; /* 32-bit units along K */
  int first; /* whether the sums start at 0 */
} FN(Tile);

INLINE void FN(tile)(const int rows, const int vectors, const FN(Tile) * t) {
  VEC sum[6][4];
  const char *a = t->a, *b = t->b, *warm_b = t->warm_b;
  for (int r = 0; r < rows; r++)
    for (int v = 0; v < vectors; v++) {
      const float *c = (const float *)((char *)t->c + r * t->c_stride) + v * LANES;
      if (t->first) sum[r][v] = (VEC){0};
      else sum[r][v] = *(const VEC *)c;
    }
  for (int start = 0; start < t->units; start += 16) {
    int count = t->units - start < 16 ? t->units - start : 16;
    if (t->warm_a)
      for (int r = 0; r < rows; r++)
        __builtin_prefetch(t->warm_a + r * t->a_stride + 4 * start, 0, 2);
    if (warm_b) {
      for (long at = 0; at < t->warm_step; at += LINE)
        __builtin_prefetch(warm_b + at, 0, 2);
      warm_b += t->warm_step;
    }
    for (int u = 0; u < count; u++, a += 4, b += t->b_stride) {
      VEC row[4];
      for (int v = 0; v < vectors; v++) row[v] = *(const VEC *)(b + 4 * LANES * v);
      for (int r = 0; r < rows; r++) {
        float unit;
        memcpy(&unit, a + r * t->a_stride, 4);
        for (int v = 0; v < vectors; v++) {
#if PAIRS
          sum[r][v] = (VEC)_mm512_dpbf16_ps(
              (__m512)sum[r][v], (__m512bh)_mm512_set1_ps(unit), (__m512bh)row[v]);
#else
          sum[r][v] += unit * row[v];
#endif
        }
      }
    }
  }
  for (int r = 0; r < rows; r++)
    for (int v = 0; v < vectors; v++)
      *(VEC *)((float *)((char *)t->c + r * t->c_stride) + v * LANES) = sum[r][v];
}

/* All rows of a chunk by one panel: tiles of as many rows as the registers hold. */
TARGET static void FN(panel)(FN(Tile) t, int rows, int vectors) {
#define TILES(R, V)                        \
  for (; rows >= R; rows -= R) {           \
    FN(tile)(R, V, &t);                    \
    t.a += R * t.a_stride;                 \
    if (t.warm_a) t.warm_a += R * t.a_stride; \
    if (t.warm_b) t.warm_b += (t.units + 15) / 16 * t.warm_step; \
    t.c = (float *)((char *)t.c + R * t.c_stride); \
  }
  /* At most 6 rows, whatever the registers would hold: rows of A that are a power of two
   * apart share a set of a cache of 8 ways. */
#define CASE(V) \
  case V: TILES(6, V) TILES(4, V) TILES(2, V) TILES(1, V) break;
  switch (vectors) {
    CASE(1)
    CASE(2)
#if PANEL_VECTORS == 4
    CASE(3)
    CASE(4)
#endif
  }
#undef CASE
#undef TILES
}

/* `count` consecutive elements as 32-bit units; a last half pair gets a zero. */
INLINE void FN(widen)(const char *from, int type, int count, float *to) {
#if PAIRS
  (void)type;
  memcpy(to, from, 2 * (size_t)count);
  if (count & 1) ((uint16_t *)to)[count] = 0;
#else
  const uint16_t *half = (const uint16_t *)from;
  if (type == F32) memcpy(to, from, 4 * (size_t)count);
  else if (type == BF16)
    for (int i = 0; i < count; i++) to[i] = from_bf16(half[i]);
  else WIDEN_F16(half, count, to);
#endif
}

/* A panel of B as units[k][width], columns past `cols` zero. */
TARGET static void FN(pack_b)(const Job *job, int k0, int depth, int j0, int cols, float *to) {
  int width = (cols + LANES - 1) / LANES * LANES, bytes = type_bytes(job->type);
  if (job->nt) {
    float line[4][MAX_DEPTH];
    int units = PAIRS ? (depth + 1) / 2 : depth;
    for (int j = 0; j < width; j += 4) {
      for (int i = 0; i < 4; i++) {
        if (j + i < cols)
          FN(widen)(job->b + ((j0 + j + i) * job->ldb + k0) * bytes, job->type, depth, line[i]);
        else memset(line[i], 0, 4 * (size_t)units);
      }
      for (int u = 0; u < units; u++)
        for (int i = 0; i < 4; i++) to[(long)u * width + j + i] = line[i][u];
    }
    return;
  }
  for (int k = 0; k < depth; k += 1 + PAIRS, to += width) {
    const char *row = job->b + ((k0 + k) * job->ldb + j0) * bytes;
#if PAIRS
    static const uint16_t zeros[MAX_PANEL];
    const uint16_t *low = (const uint16_t *)row;
    const uint16_t *high = k + 1 < depth ? low + job->ldb : zeros;
    for (int j = 0; j < cols; j++) ((uint32_t *)to)[j] = low[j] | (uint32_t)high[j] << 16;
#else
    FN(widen)(row, job->type, cols, to);
#endif
    for (int j = cols; j < width; j++) to[j] = 0;
  }
}

/* The partial sums of slice `s`. */
TARGET static void FN(slice)(const void *arg, int s) {
  const Job *job = arg;
  const int bytes = type_bytes(job->type), per_unit = 1 + PAIRS;
  char *scratch = job->scratch + s * SCRATCH(job->depth);
  float *packed_b = (float *)scratch, *packed_a = packed_b + (long)MAX_PANEL * job->depth;
  const int end = slice_start(job, s + 1);
  for (int k0 = slice_start(job, s), first = 1; k0 < end; k0 += job->depth, first = 0) {
    const int depth = end - k0 < job->depth ? end - k0 : job->depth;
    const int next = k0 + 2 * job->depth <= end;
    const int direct_a = job->type == F32 || (PAIRS && depth % 2 == 0);
    for (int i0 = 0; i0 < job->m; i0 += ROW_CHUNK) {
      const int rows = job->m - i0 < ROW_CHUNK ? job->m - i0 : ROW_CHUNK;
      FN(Tile) t = {.units = (depth + per_unit - 1) / per_unit, .first = first};
      t.a = job->a + (i0 * job->lda + k0) * bytes;
      t.a_stride = job->lda * bytes;
      if (!direct_a) {
        for (int i = 0; i < rows; i++)
          FN(widen)(t.a + i * t.a_stride, job->type, depth, packed_a + (long)i * t.units);
        t.a = (const char *)packed_a;
        t.a_stride = 4L * t.units;
      } else if (next) t.warm_a = t.a + job->depth * bytes;
      for (int j0 = 0; j0 < job->n; j0 += PANEL) {
        const int cols = job->n - j0 < PANEL ? job->n - j0 : PANEL;
        const int vectors = (cols + LANES - 1) / LANES;
        const int direct_b = job->type == F32 && !job->nt && cols % LANES == 0;
        if (direct_b) {
          t.b = job->b + (k0 * job->ldb + j0) * bytes;
          t.b_stride = job->ldb * bytes;
          t.warm_b = NULL;
          if (next && job->ldb == cols) {
            t.warm_b = t.b + job->depth * t.b_stride;
            t.warm_step = 16 * t.b_stride / ((rows + 5) / 6);
          }
        } else {
          FN(pack_b)(job, k0, depth, j0, cols, packed_b);
          t.b = (const char *)packed_b;
          t.b_stride = 4L * vectors * LANES;
        }
        t.c = job->partials + ((long)s * job->m + i0) * job->padded + j0;
        t.c_stride = 4 * job->padded;
        FN(panel)(t, rows, vectors);
        t.warm_a = NULL;
      }
    }
  }
}

#undef JOIN_
#undef JOIN
#undef FN
#undef INLINE
#undef VEC
#undef PANEL
#undef LINE
#undef SET
#undef TARGET
#undef LANES
#undef PANEL_VECTORS
#undef PAIRS
#undef WIDEN_F16
