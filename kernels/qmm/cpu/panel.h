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

/* Decoding weights. Where the set has instructions for it, LOOKUP takes sixteen values by their
 * codes, NIBBLES makes a vector of the 4-bit codes at an address, and WIDEN one of f16.
 */
/* Eight codes of `bits` bits. Parts that are loaded apart are joined in registers: a load of
 * what was just stored in parts would wait for the stores. */
INLINE uint64_t FN(eight)(const char *from, const int bits) {
  uint32_t low = 0, high = 0;
  memcpy(&low, from, bits < 4 ? 2 : 4);
  if (bits == 3) low |= (uint32_t)(uint8_t)from[2] << 16;
  if (bits == 5) high = (uint8_t)from[4];
  if (bits == 6) memcpy(&high, from + 4, 2);
  if (bits == 8) memcpy(&high, from + 4, 4);
  return low | (uint64_t)high << 32;
}

/* What a vector of codes stands for. */
INLINE VEC FN(value)(const CODES codes, const int mode, float scale, float bias) {
  /* decode_affine but for products that overflow fp32: doubles are half as many a vector. */
  if (mode == AFFINE) return __builtin_convertvector((INTS)codes, VEC) * scale + bias;
  if (mode == MXFP8) {
    /* decode_e4m3, but subnormal codes by way of whole numbers: subnormal floats are slow. */
    const CODES magnitude = codes & 0x7f, small = (CODES)(magnitude < 8);
    const VEC low = __builtin_convertvector((INTS)magnitude, VEC) * 0x1p-9f;
    CODES value = (((magnitude << 20) + 0x3c000000) & ~small) | ((CODES)low & small);
    value |= (codes & 0x80) << 24 | ((CODES)(magnitude == 0x7f) & 0x7fc00000);
    return (VEC)value * scale;
  }
#ifdef LOOKUP
  static const float values[16] = {0,   .5f,  1,   1.5f,  2,   3,  4,  6,
                                   -0.f, -.5f, -1, -1.5f, -2, -3, -4, -6};
  return LOOKUP(values, codes) * scale;
#endif
  /* decode_e2m1, from a table of twice the magnitudes, four bits each. */
  const CODES twice = ((CODES){0} + 0xc8643210) >> ((codes & 7) << 2) & 15;
  const VEC x = __builtin_convertvector((INTS)twice, VEC);
  return (VEC)((CODES)x | (codes & 8) << 28) * (0.5f * scale);
}

#ifdef WIDEN
/* As many E4M3 numbers: seven bits further up they are f16, subnormals too, but for 2^8. */
INLINE VEC FN(e4m3)(const char *from) {
  BYTES bytes;
  memcpy(&bytes, from, sizeof bytes);
  const HALVES code = __builtin_convertvector(bytes, HALVES), magnitude = code & 0x7f;
  const HALVES nan = (HALVES)(magnitude == 0x7f) & 0x7f80;
  return (VEC)WIDEN(magnitude << 7 | (code & 0x80) << 8 | nan) * 256.0f;
}
#endif

/* Sixteen weights of a group, from codes of `bits` bits at `from`. */
INLINE void FN(sixteen)(const char *from, const int bits, const int mode, float scale, float bias,
                        float *to) {
#ifdef NIBBLES
  if (bits == 4) {
    for (int i = 0; i < 16; i += LANES)
      *(VEC *)(to + i) = FN(value)((CODES)NIBBLES(from + i / 2), mode, scale, bias);
    return;
  }
#endif
#ifdef WIDEN
  if (mode == MXFP8) {
    for (int i = 0; i < 16; i += LANES) *(VEC *)(to + i) = FN(e4m3)(from + i) * scale;
    return;
  }
#endif
  const Words shift = {0, bits, 2 * bits, 3 * bits, 4 * bits, 5 * bits, 6 * bits, 7 * bits};
  Codes8 codes[2];
  for (int half = 0; half < 2; half++) {
    const uint64_t word = FN(eight)(from + half * bits, bits);
    const Words all = {word, word, word, word, word, word, word, word};
    codes[half] = __builtin_convertvector(all >> shift & ((1u << bits) - 1), Codes8);
  }
  for (int i = 0; i < 16; i += LANES) {
    CODES some;
    memcpy(&some, (const char *)codes + 4 * i, sizeof some);
    *(VEC *)(to + i) = FN(value)(some, mode, scale, bias);
  }
}

INLINE void FN(groups)(const Weights *w, long first, const int bits, const int mode, int count,
                       float *to) {
  const char *from = (const char *)w->w + first * bits / 8;
  for (int i = 0; i < count;) {
    const long g = (first + i) / w->group, left = (g + 1) * w->group - first;
    const int end = left < count ? (int)left : count; /* a group may go on beyond the panel */
    const float scale = scale_of(w, g), bias = bias_of(w, g);
    for (; i < end; i += 16) FN(sixteen)(from + i * bits / 8, bits, mode, scale, bias, to + i);
  }
}

/* The weights of `row` from `col` on, `count` of them: whole groups, or a part of one. */
TARGET static void FN(decode)(const Weights *w, long row, long col, int count, float *to) {
  const long first = row * w->cols + col;
  if (w->mode == DENSE) {
    const uint16_t *half = (const uint16_t *)w->w + first;
    if (w->type == BF16)
      for (int i = 0; i < count; i++) to[i] = from_bf16(half[i]);
    else
      for (int i = 0; i < count; i++) to[i] = from_f16(half[i]);
    return;
  }
  if (w->mode == AFFINE) {
    switch (w->bits) {
#define CASE(B) case B: FN(groups)(w, first, B, AFFINE, count, to); return;
      CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(8)
#undef CASE
    }
  }
  if (w->mode == MXFP8) FN(groups)(w, first, 8, MXFP8, count, to);
  else FN(groups)(w, first, 4, NVFP4, count, to); /* what MXFP4 has other than it is scales */
}

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
