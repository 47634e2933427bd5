/* Replaces the matrix products of cuBLAS and cuBLASLt: each function calls the real one.
 * Declarations follow cublas_api.h and cublasLt.h of CUDA 11 to 13. */
#include <string.h>

#include "recorder.h"

/* cublasStatus_t, cudaDataType_t, cublasComputeType_t and cublasMath_t. */
enum { STATUS_NOT_SUPPORTED = 15 };
enum { F32 = 0, F64 = 1, F16 = 2, C32 = 4, C64 = 5, I32 = 10 };
enum {
  COMPUTE_16F = 64,
  COMPUTE_16F_PEDANTIC = 65,
  COMPUTE_32F = 68,
  COMPUTE_64F = 70,
  COMPUTE_64F_PEDANTIC = 71,
  COMPUTE_32I = 72,
  COMPUTE_32I_PEDANTIC = 73,
  COMPUTE_TF32 = 77,
  COMPUTE_BF16X9 = 78,
};
enum { MATH_TF32 = 3, MATH_BF16X9 = 4 };
enum { POINTERS_DEVICE = 1 };

/* What a function of cuBLAS was called with: column-major. */
struct arguments {
  const char *function;
  /* Of the handle, which is not asked within a call: it may be locked. */
  int math, mode;
  int trans_a, trans_b;
  int64_t m, n, k, lda, ldb, ldc, batch;
  int type_a, type_b, type_c, compute;
  const void *beta;
  int32_t groups;
};

static _Atomic(void *) known_mode, known_math, known_stream;

static int ask(const char *name, _Atomic(void *) *known, void *handle) {
  int (*get)(void *, int *) = (int (*)(void *, int *))real_function(name, known);
  int value = 0;
  return get != NULL && get(handle, &value) == 0 ? value : 0;
}

static void *stream_of(void *handle) {
  if (cupti_works() || atomic_load(&window_state) != WINDOW_OPEN) return NULL;
  int (*get)(void *, void **) =
      (int (*)(void *, void **))real_function("cublasGetStream_v2", &known_stream);
  void *stream = NULL;
  return get != NULL && get(handle, &stream) == 0 ? stream : NULL;
}

static int is_nonzero(const void *value, int type) {
  if (value == NULL) return 0;
  uint64_t parts[2] = {0, 0};
  int is_complex = type == C32 || type == C64;
  size_t size = type == F16 ? 2 : type == F64 || type == C64 ? 8 : 4;
  memcpy(&parts[0], value, size);
  if (is_complex) memcpy(&parts[1], (const char *)value + size, size);
  /* -0 is 0 too; an integer has no such value. */
  uint64_t sign = type == I32 ? 0 : UINT64_C(1) << (8 * size - 1);
  return (parts[0] & ~sign) != 0 || (parts[1] & ~sign) != 0;
}

static int scalar_type(int compute, int type_c) {
  int is_complex = type_c == C32 || type_c == C64;
  switch (compute) {
  case COMPUTE_16F:
  case COMPUTE_16F_PEDANTIC: return F16;
  case COMPUTE_64F:
  case COMPUTE_64F_PEDANTIC: return is_complex ? C64 : F64;
  case COMPUTE_32I:
  case COMPUTE_32I_PEDANTIC: return I32;
  default: return is_complex ? C32 : F32;
  }
}

static void fill_blas(struct gemm *gemm, const void *data) {
  const struct arguments *of = data;
  gemm->m = of->n;
  gemm->n = of->m;
  gemm->k = of->k;
  gemm->batch = of->batch;
  gemm->lda = of->ldb;
  gemm->ldb = of->lda;
  gemm->ldc = of->ldc;
  gemm->library = LIBRARY_CUBLAS;
  gemm->function = name_of(of->function);
  gemm->type_a = of->type_b;
  gemm->type_b = of->type_a;
  gemm->type_c = of->type_c;
  gemm->compute = of->compute;
  gemm->column_a = of->trans_b != 0;
  gemm->column_b = of->trans_a != 0;
  gemm->epilogue = 1;
  gemm->scale_a = gemm->scale_b = -1;
  gemm->groups = of->groups;
  if (of->compute == COMPUTE_32F && of->type_a == F32) {
    if ((of->math & 15) == MATH_TF32) gemm->compute = COMPUTE_TF32;
    if ((of->math & 15) == MATH_BF16X9) gemm->compute = COMPUTE_BF16X9;
  }
  gemm->beta = of->mode == POINTERS_DEVICE ? -1 : is_nonzero(of->beta, scalar_type(of->compute, of->type_c));
}

/* Takes the group with the most work, and counts the products of all. */
#define LARGEST_GROUP(of, groups, m, n, k, lda, ldb, ldc, ta, tb, sizes)                          \
  do {                                                                                            \
    int64_t total = 0, best = 0;                                                                  \
    for (int64_t i = 0; i < (groups); i++) {                                                      \
      if ((double)(m)[i] * (double)(n)[i] * (double)(k)[i] >                                      \
          (double)(m)[best] * (double)(n)[best] * (double)(k)[best])                              \
        best = i;                                                                                 \
      total += (sizes)[i];                                                                        \
    }                                                                                             \
    int shapes = 0;                                                                               \
    for (int64_t i = 0; i < (groups); i++) {                                                      \
      shapes += (m)[i] != (m)[best] || (n)[i] != (n)[best] || (k)[i] != (k)[best];                \
    }                                                                                             \
    if ((groups) > 0) {                                                                           \
      (of).m = (m)[best], (of).n = (n)[best], (of).k = (k)[best];                                 \
      (of).lda = (lda)[best], (of).ldb = (ldb)[best], (of).ldc = (ldc)[best];                     \
      (of).trans_a = (ta)[best], (of).trans_b = (tb)[best];                                       \
    }                                                                                             \
    (of).batch = total;                                                                           \
    (of).groups = shapes == 0 ? 1 : shapes + 1;                                                   \
  } while (0)

/* Calls the real function as `real`, between the begin and the end of a call. */
#define REPLACED(OF, STREAM, FILL, ...)                                                           \
  void *stream = (STREAM);                                                                        \
  struct call call;                                                                               \
  call_begin(&call, FILL, &(OF), stream);                                                         \
  int status = real(__VA_ARGS__);                                                                 \
  call_end(&call, status, stream);                                                                \
  return status

#define REAL(NAME)                                                                                \
  __typeof__(NAME) *real = (__typeof__(NAME) *)real_function(#NAME, &known_##NAME);               \
  if (real == NULL) return STATUS_NOT_SUPPORTED

#define MODES                                                                                     \
  .math = ask("cublasGetMathMode", &known_math, handle),                                          \
  .mode = ask("cublasGetPointerMode_v2", &known_mode, handle)

#define COMMON                                                                                    \
  MODES, .trans_a = ta, .trans_b = tb, .m = m, .n = n, .k = k, .lda = lda, .ldb = ldb, \
  .ldc = ldc, .beta = beta

#define ONE_TYPE(TYPE, COMPUTE) .type_a = TYPE, .type_b = TYPE, .type_c = TYPE, .compute = COMPUTE
#define THREE_TYPES(COMPUTE) .type_a = at, .type_b = bt, .type_c = ct, .compute = COMPUTE

#define PLAIN(NAME, INT, TYPE, COMPUTE)                                                           \
  static _Atomic(void *) known_##NAME;                                                            \
  EXPORT int NAME(void *handle, int ta, int tb, INT m, INT n, INT k, const void *alpha,           \
                  const void *a, INT lda, const void *b, INT ldb, const void *beta, void *c,      \
                  INT ldc) {                                                                      \
    REAL(NAME);                                                                                   \
    struct arguments of = {#NAME, COMMON, .batch = 1, ONE_TYPE(TYPE, COMPUTE), .groups = 1};      \
    REPLACED(of, stream_of(handle), fill_blas, handle, ta, tb, m, n, k, alpha, a, lda, b,   \
             ldb, beta, c, ldc);                                                                  \
  }

#define BATCHED(NAME, INT, TYPE, COMPUTE)                                                         \
  static _Atomic(void *) known_##NAME;                                                            \
  EXPORT int NAME(void *handle, int ta, int tb, INT m, INT n, INT k, const void *alpha,           \
                  const void *a, INT lda, const void *b, INT ldb, const void *beta, void *c,      \
                  INT ldc, INT batch) {                                                           \
    REAL(NAME);                                                                                   \
    struct arguments of = {#NAME, COMMON, .batch = batch, ONE_TYPE(TYPE, COMPUTE), .groups = 1};  \
    REPLACED(of, stream_of(handle), fill_blas, handle, ta, tb, m, n, k, alpha, a, lda, b,   \
             ldb, beta, c, ldc, batch);                                                           \
  }

#define STRIDED(NAME, INT, TYPE, COMPUTE)                                                         \
  static _Atomic(void *) known_##NAME;                                                            \
  EXPORT int NAME(void *handle, int ta, int tb, INT m, INT n, INT k, const void *alpha,           \
                  const void *a, INT lda, long long sa, const void *b, INT ldb, long long sb,     \
                  const void *beta, void *c, INT ldc, long long sc, INT batch) {                  \
    REAL(NAME);                                                                                   \
    struct arguments of = {#NAME, COMMON, .batch = batch, ONE_TYPE(TYPE, COMPUTE), .groups = 1};  \
    REPLACED(of, stream_of(handle), fill_blas, handle, ta, tb, m, n, k, alpha, a, lda, sa,  \
             b, ldb, sb, beta, c, ldc, sc, batch);                                                \
  }

#define GROUPED(NAME, INT, TYPE, COMPUTE)                                                         \
  static _Atomic(void *) known_##NAME;                                                            \
  EXPORT int NAME(void *handle, const int ta[], const int tb[], const INT m[], const INT n[],     \
                  const INT k[], const void *alpha, const void *a, const INT lda[],               \
                  const void *b, const INT ldb[], const void *beta, void *c, const INT ldc[],     \
                  INT groups, const INT sizes[]) {                                                \
    REAL(NAME);                                                                                   \
    struct arguments of = {#NAME, MODES, .beta = beta, ONE_TYPE(TYPE, COMPUTE)};       \
    LARGEST_GROUP(of, groups, m, n, k, lda, ldb, ldc, ta, tb, sizes);                             \
    REPLACED(of, stream_of(handle), fill_blas, handle, ta, tb, m, n, k, alpha, a, lda, b,   \
             ldb, beta, c, ldc, groups, sizes);                                                   \
  }

#define TYPED(NAME, INT, TYPE)                                                                    \
  static _Atomic(void *) known_##NAME;                                                            \
  EXPORT int NAME(void *handle, int ta, int tb, INT m, INT n, INT k, const void *alpha,           \
                  const void *a, int at, INT lda, const void *b, int bt, INT ldb,                 \
                  const void *beta, void *c, int ct, INT ldc) {                                   \
    REAL(NAME);                                                                                   \
    struct arguments of = {#NAME, COMMON, .batch = 1, THREE_TYPES(COMPUTE_32F), .groups = 1};     \
    REPLACED(of, stream_of(handle), fill_blas, handle, ta, tb, m, n, k, alpha, a, at, lda,  \
             b, bt, ldb, beta, c, ct, ldc);                                                       \
  }

#define EX(NAME, INT)                                                                             \
  static _Atomic(void *) known_##NAME;                                                            \
  EXPORT int NAME(void *handle, int ta, int tb, INT m, INT n, INT k, const void *alpha,           \
                  const void *a, int at, INT lda, const void *b, int bt, INT ldb,                 \
                  const void *beta, void *c, int ct, INT ldc, int compute, int algo) {            \
    REAL(NAME);                                                                                   \
    struct arguments of = {#NAME, COMMON, .batch = 1, THREE_TYPES(compute), .groups = 1};         \
    REPLACED(of, stream_of(handle), fill_blas, handle, ta, tb, m, n, k, alpha, a, at, lda,  \
             b, bt, ldb, beta, c, ct, ldc, compute, algo);                                        \
  }

#define EX_BATCHED(NAME, INT)                                                                     \
  static _Atomic(void *) known_##NAME;                                                            \
  EXPORT int NAME(void *handle, int ta, int tb, INT m, INT n, INT k, const void *alpha,           \
                  const void *a, int at, INT lda, const void *b, int bt, INT ldb,                 \
                  const void *beta, void *c, int ct, INT ldc, INT batch, int compute, int algo) { \
    REAL(NAME);                                                                                   \
    struct arguments of = {#NAME, COMMON, .batch = batch, THREE_TYPES(compute), .groups = 1};     \
    REPLACED(of, stream_of(handle), fill_blas, handle, ta, tb, m, n, k, alpha, a, at, lda,  \
             b, bt, ldb, beta, c, ct, ldc, batch, compute, algo);                                 \
  }

#define EX_STRIDED(NAME, INT)                                                                     \
  static _Atomic(void *) known_##NAME;                                                            \
  EXPORT int NAME(void *handle, int ta, int tb, INT m, INT n, INT k, const void *alpha,           \
                  const void *a, int at, INT lda, long long sa, const void *b, int bt, INT ldb,   \
                  long long sb, const void *beta, void *c, int ct, INT ldc, long long sc,         \
                  INT batch, int compute, int algo) {                                             \
    REAL(NAME);                                                                                   \
    struct arguments of = {#NAME, COMMON, .batch = batch, THREE_TYPES(compute), .groups = 1};     \
    REPLACED(of, stream_of(handle), fill_blas, handle, ta, tb, m, n, k, alpha, a, at, lda,  \
             sa, b, bt, ldb, sb, beta, c, ct, ldc, sc, batch, compute, algo);                     \
  }

#define EX_GROUPED(NAME, INT)                                                                     \
  static _Atomic(void *) known_##NAME;                                                            \
  EXPORT int NAME(void *handle, const int ta[], const int tb[], const INT m[], const INT n[],     \
                  const INT k[], const void *alpha, const void *a, int at, const INT lda[],       \
                  const void *b, int bt, const INT ldb[], const void *beta, void *c, int ct,      \
                  const INT ldc[], INT groups, const INT sizes[], int compute) {                  \
    REAL(NAME);                                                                                   \
    struct arguments of = {#NAME, MODES, .beta = beta, THREE_TYPES(compute)};          \
    LARGEST_GROUP(of, groups, m, n, k, lda, ldb, ldc, ta, tb, sizes);                             \
    REPLACED(of, stream_of(handle), fill_blas, handle, ta, tb, m, n, k, alpha, a, at, lda,  \
             b, bt, ldb, beta, c, ct, ldc, groups, sizes, compute);                               \
  }

/* Each function, with `int` and, since CUDA 12, with `int64_t`. */
#define FUNCTIONS(X_PLAIN, X_BATCHED, X_STRIDED, X_GROUPED, X_TYPED, X_EX, X_EX_BATCHED,          \
                  X_EX_STRIDED, X_EX_GROUPED)                                                     \
  X_PLAIN(cublasSgemm_v2, int, F32, COMPUTE_32F)                                                  \
  X_PLAIN(cublasSgemm_v2_64, int64_t, F32, COMPUTE_32F)                                           \
  X_PLAIN(cublasDgemm_v2, int, F64, COMPUTE_64F)                                                  \
  X_PLAIN(cublasDgemm_v2_64, int64_t, F64, COMPUTE_64F)                                           \
  X_PLAIN(cublasCgemm_v2, int, C32, COMPUTE_32F)                                                  \
  X_PLAIN(cublasCgemm_v2_64, int64_t, C32, COMPUTE_32F)                                           \
  X_PLAIN(cublasZgemm_v2, int, C64, COMPUTE_64F)                                                  \
  X_PLAIN(cublasZgemm_v2_64, int64_t, C64, COMPUTE_64F)                                           \
  X_PLAIN(cublasHgemm, int, F16, COMPUTE_16F)                                                     \
  X_PLAIN(cublasHgemm_64, int64_t, F16, COMPUTE_16F)                                              \
  X_BATCHED(cublasSgemmBatched, int, F32, COMPUTE_32F)                                            \
  X_BATCHED(cublasSgemmBatched_64, int64_t, F32, COMPUTE_32F)                                     \
  X_BATCHED(cublasDgemmBatched, int, F64, COMPUTE_64F)                                            \
  X_BATCHED(cublasDgemmBatched_64, int64_t, F64, COMPUTE_64F)                                     \
  X_BATCHED(cublasCgemmBatched, int, C32, COMPUTE_32F)                                            \
  X_BATCHED(cublasCgemmBatched_64, int64_t, C32, COMPUTE_32F)                                     \
  X_BATCHED(cublasZgemmBatched, int, C64, COMPUTE_64F)                                            \
  X_BATCHED(cublasZgemmBatched_64, int64_t, C64, COMPUTE_64F)                                     \
  X_BATCHED(cublasHgemmBatched, int, F16, COMPUTE_16F)                                            \
  X_BATCHED(cublasHgemmBatched_64, int64_t, F16, COMPUTE_16F)                                     \
  X_STRIDED(cublasSgemmStridedBatched, int, F32, COMPUTE_32F)                                     \
  X_STRIDED(cublasSgemmStridedBatched_64, int64_t, F32, COMPUTE_32F)                              \
  X_STRIDED(cublasDgemmStridedBatched, int, F64, COMPUTE_64F)                                     \
  X_STRIDED(cublasDgemmStridedBatched_64, int64_t, F64, COMPUTE_64F)                              \
  X_STRIDED(cublasCgemmStridedBatched, int, C32, COMPUTE_32F)                                     \
  X_STRIDED(cublasCgemmStridedBatched_64, int64_t, C32, COMPUTE_32F)                              \
  X_STRIDED(cublasZgemmStridedBatched, int, C64, COMPUTE_64F)                                     \
  X_STRIDED(cublasZgemmStridedBatched_64, int64_t, C64, COMPUTE_64F)                              \
  X_STRIDED(cublasHgemmStridedBatched, int, F16, COMPUTE_16F)                                     \
  X_STRIDED(cublasHgemmStridedBatched_64, int64_t, F16, COMPUTE_16F)                              \
  X_GROUPED(cublasSgemmGroupedBatched, int, F32, COMPUTE_32F)                                     \
  X_GROUPED(cublasSgemmGroupedBatched_64, int64_t, F32, COMPUTE_32F)                              \
  X_GROUPED(cublasDgemmGroupedBatched, int, F64, COMPUTE_64F)                                     \
  X_GROUPED(cublasDgemmGroupedBatched_64, int64_t, F64, COMPUTE_64F)                              \
  X_TYPED(cublasSgemmEx, int, F32)                                                                \
  X_TYPED(cublasSgemmEx_64, int64_t, F32)                                                         \
  X_TYPED(cublasCgemmEx, int, C32)                                                                \
  X_TYPED(cublasCgemmEx_64, int64_t, C32)                                                         \
  X_EX(cublasGemmEx, int)                                                                         \
  X_EX(cublasGemmEx_64, int64_t)                                                                  \
  X_EX_BATCHED(cublasGemmBatchedEx, int)                                                          \
  X_EX_BATCHED(cublasGemmBatchedEx_64, int64_t)                                                   \
  X_EX_STRIDED(cublasGemmStridedBatchedEx, int)                                                   \
  X_EX_STRIDED(cublasGemmStridedBatchedEx_64, int64_t)                                            \
  X_EX_GROUPED(cublasGemmGroupedBatchedEx, int)                                                   \
  X_EX_GROUPED(cublasGemmGroupedBatchedEx_64, int64_t)

FUNCTIONS(PLAIN, BATCHED, STRIDED, GROUPED, TYPED, EX, EX_BATCHED, EX_STRIDED, EX_GROUPED)

/* cublasLtMatmulDescAttributes_t and cublasLtMatrixLayoutAttribute_t. */
enum {
  DESC_COMPUTE = 0,
  DESC_SCALE_TYPE = 1,
  DESC_POINTER_MODE = 2,
  DESC_TRANS_A = 3,
  DESC_TRANS_B = 4,
  DESC_EPILOGUE = 7,
  DESC_A_SCALE_POINTER = 17,
  DESC_B_SCALE_POINTER = 18,
  DESC_A_SCALE_MODE = 31,
  DESC_B_SCALE_MODE = 32,
};
enum {
  LAYOUT_TYPE = 0,
  LAYOUT_ORDER = 1,
  LAYOUT_ROWS = 2,
  LAYOUT_COLS = 3,
  LAYOUT_LD = 4,
  LAYOUT_BATCH = 5,
};
enum { ORDER_COLUMNS = 0, ORDER_ROWS = 1 };
enum { POINTERS_HOST = 0, POINTERS_BETA_ZERO = 3, POINTERS_BETA_HOST = 4 };

struct lt_arguments {
  void *desc;
  void *a, *b, *d;
  const void *beta;
};

static _Atomic(void *) known_desc, known_layout;

/* An attribute that this version of cuBLASLt does not have is 0. */
static uint64_t attribute(const char *name, _Atomic(void *) *known, void *of, int which,
                          size_t size) {
  int (*get)(void *, int, void *, size_t, size_t *) =
      (int (*)(void *, int, void *, size_t, size_t *))real_function(name, known);
  uint64_t value = 0;
  size_t written = 0;
  return get != NULL && of != NULL && get(of, which, &value, size, &written) == 0 ? value : 0;
}

static uint64_t desc(void *of, int which, size_t size) {
  return attribute("cublasLtMatmulDescGetAttribute", &known_desc, of, which, size);
}

struct layout {
  int type, order;
  int64_t rows, cols, ld, batch;
};

static struct layout layout_of(void *of) {
  struct layout layout;
  const char *name = "cublasLtMatrixLayoutGetAttribute";
  layout.type = (int)attribute(name, &known_layout, of, LAYOUT_TYPE, 4);
  layout.order = (int)attribute(name, &known_layout, of, LAYOUT_ORDER, 4);
  layout.rows = (int64_t)attribute(name, &known_layout, of, LAYOUT_ROWS, 8);
  layout.cols = (int64_t)attribute(name, &known_layout, of, LAYOUT_COLS, 8);
  layout.ld = (int64_t)attribute(name, &known_layout, of, LAYOUT_LD, 8);
  layout.batch = (int64_t)attribute(name, &known_layout, of, LAYOUT_BATCH, 4);
  return layout;
}

static int scale_of(void *of, int pointer, int mode) {
  int scale = (int)desc(of, mode, 4);
  return scale == 0 && desc(of, pointer, 8) == 0 ? -1 : scale;
}

static void fill_lt(struct gemm *gemm, const void *data) {
  const struct lt_arguments *of = data;
  struct layout a = layout_of(of->a), b = layout_of(of->b), d = layout_of(of->d);
  bool trans_a = desc(of->desc, DESC_TRANS_A, 4) != 0;
  bool trans_b = desc(of->desc, DESC_TRANS_B, 4) != 0;
  bool rows_a = (a.order == ORDER_ROWS) != trans_a, rows_b = (b.order == ORDER_ROWS) != trans_b;
  int scale_a = scale_of(of->desc, DESC_A_SCALE_POINTER, DESC_A_SCALE_MODE);
  int scale_b = scale_of(of->desc, DESC_B_SCALE_POINTER, DESC_B_SCALE_MODE);
  gemm->k = trans_a ? a.rows : a.cols;
  gemm->batch = d.batch < 1 ? 1 : d.batch;
  gemm->ldc = d.ld;
  gemm->type_c = d.type;
  /* Columns of D are rows of its transpose, which is B' A'. */
  bool is_swapped = d.order != ORDER_ROWS;
  const struct layout *left = is_swapped ? &b : &a, *right = is_swapped ? &a : &b;
  gemm->m = is_swapped ? d.cols : d.rows;
  gemm->n = is_swapped ? d.rows : d.cols;
  gemm->lda = left->ld;
  gemm->ldb = right->ld;
  gemm->type_a = left->type;
  gemm->type_b = right->type;
  gemm->column_a = is_swapped ? rows_b : !rows_a;
  gemm->column_b = is_swapped ? rows_a : !rows_b;
  gemm->scale_a = is_swapped ? scale_b : scale_a;
  gemm->scale_b = is_swapped ? scale_a : scale_b;
  gemm->library = LIBRARY_CUBLASLT;
  gemm->function = name_of("cublasLtMatmul");
  gemm->compute = (int)desc(of->desc, DESC_COMPUTE, 4);
  int epilogue = (int)desc(of->desc, DESC_EPILOGUE, 4);
  gemm->epilogue = epilogue == 0 ? 1 : epilogue;
  gemm->groups = 1;
  /* Tiled orders have no leading dimension in the usual sense. */
  if (a.order > ORDER_ROWS || b.order > ORDER_ROWS || d.order > ORDER_ROWS) gemm->groups = -1;
  int mode = (int)desc(of->desc, DESC_POINTER_MODE, 4);
  int type = (int)desc(of->desc, DESC_SCALE_TYPE, 4);
  gemm->beta = mode == POINTERS_HOST || mode == POINTERS_BETA_HOST ? is_nonzero(of->beta, type)
               : mode == POINTERS_BETA_ZERO                        ? 0
                                                                   : -1;
}

static _Atomic(void *) known_cublasLtMatmul;

EXPORT int cublasLtMatmul(void *handle, void *computation, const void *alpha, const void *a,
                          void *a_layout, const void *b, void *b_layout, const void *beta,
                          const void *c, void *c_layout, void *d, void *d_layout,
                          const void *algo, void *workspace, size_t bytes, void *on) {
  REAL(cublasLtMatmul);
  struct lt_arguments of = {computation, a_layout, b_layout, d_layout, beta};
  REPLACED(of, on, fill_lt, handle, computation, alpha, a, a_layout, b, b_layout,
           beta, c, c_layout, d, d_layout, algo, workspace, bytes, on);
}

#define ROW(NAME, ...) {#NAME, (void *)NAME, &known_##NAME},

static const struct {
  const char *name;
  void *function;
  _Atomic(void *) *known;
} replaced[] = {
    FUNCTIONS(ROW, ROW, ROW, ROW, ROW, ROW, ROW, ROW, ROW){"cublasLtMatmul", (void *)cublasLtMatmul,
                                                           &known_cublasLtMatmul},
};

void *replacement_of(const char *name, _Atomic(void *) **known) {
  for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++) {
    if (strcmp(replaced[i].name, name) != 0) continue;
    *known = replaced[i].known;
    return replaced[i].function;
  }
  return NULL;
}
