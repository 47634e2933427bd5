// cuBLAS and cuBLASLt on the CPU, in one library that tests open under either name.
// A column-major product, as the mock matrix libraries compute it.
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// cuBLAS on the CPU: fp32 products are computed, every call is written down.

enum { NOT_INITIALIZED = 1, INVALID_VALUE = 7, NOT_SUPPORTED = 15 };

static char calls[4096];
static int next_status;
// What was called since the last question, one line a call.
const char *mock_cublas_calls(void) {
  static char told[4096];
  strcpy(told, calls);
  calls[0] = 0;
  return told;
}
void mock_cublas_fail(int status) { next_status = status; }

static int note(const char *format, ...) {
  va_list values;
  va_start(values, format);
  size_t at = strlen(calls);
  vsnprintf(calls + at, sizeof calls - at, format, values);
  va_end(values);
  int status = next_status;
  next_status = 0;
  return status;
}

int cublasCreate_v2(u64 *to) { *to = 11; return note("create\n"); }
int cublasDestroy_v2(u64 h) { return note("destroy %lu\n", h); }
int cublasGetVersion_v2(u64 h, int *to) { *to = 130102; return h != 11; }
int cublasSetStream_v2(u64 h, u64 stream) { return note("stream %lu %d\n", h, stream != 0); }
int cublasSetWorkspace_v2(u64 h, u64 at, u64 bytes) { return note("workspace %lu %d %lu\n", h, at % 256 == 0, bytes); }
int cublasSetMathMode(u64 h, int mode) { return note("math %lu %d\n", h, mode); }

int cublasGemmEx(u64 h, int ta, int tb, int m, int n, int k, const float *alpha, const float *a, int at, int lda,
                 const float *b, int bt, int ldb, const float *beta, float *c, int ct, int ldc, int compute, int algo) {
  int status = note("gemm %lu %d %d %d %d %d %g %d %d %d %d %g %d %d %d %d\n", h, ta, tb, m, n, k, *alpha, at, lda, bt, ldb,
                    *beta, ct, ldc, compute, algo);
  if (status) return status;
  if (at == 0) column_major((Product){ta, tb, m, n, k, lda, ldb, ldc, a, b, c});
  return 0;
}
int cublasGemmStridedBatchedEx(u64 h, int ta, int tb, int m, int n, int k, const float *alpha, const float *a, int at,
                               int lda, long long sa, const float *b, int bt, int ldb, long long sb, const float *beta,
                               float *c, int ct, int ldc, long long sc, int batch, int compute, int algo) {
  int status = note("batched %lu %d %d %d %d %d %g %d %d %lld %d %d %lld %g %d %d %lld %d %d %d\n", h, ta, tb, m, n, k,
                    *alpha, at, lda, sa, bt, ldb, sb, *beta, ct, ldc, sc, batch, compute, algo);
  if (status) return status;
  for (int i = 0; i < batch && at == 0; i++)
    column_major((Product){ta, tb, m, n, k, lda, ldb, ldc, a + i * sa, b + i * sb, c + i * sc});
  return 0;
}

const char *cublasGetStatusName(int s) { return s == NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_NOT_INITIALIZED"; }
const char *cublasGetStatusString(int s) { return s == NOT_SUPPORTED ? "the requested functionality is not supported" : "the library was not initialized"; }

// cuBLASLt on the CPU: fp32 products with their epilogue. It proposes three algorithms, of
// which the second is unusable, and refuses products with k = 13. It can be given algorithms
// 66 to 69, K split in 2 or 4 with sums in the workspace (reduction 2).

enum { EPILOGUE_RELU = 2, EPILOGUE_BIAS = 4 };

typedef struct { int compute, scale, ta, tb, epilogue; const float *bias; } Desc;
typedef struct { int type, batch; u64 rows, cols; int64_t ld, stride; } Layout;
typedef struct { u64 workspace; unsigned alignment[4]; } Preference;
typedef struct { int id, tile, splitk, stages, reduction, unused; u64 rest[5]; } Algo;
typedef struct { Algo algo; u64 workspace; int state; float waves; int rest[4]; } Result;
_Static_assert(sizeof(Algo) == 64 && sizeof(Result) == 96, "layout of cublasLt.h");

static int living;
static unsigned alignment[4];
static u64 last_stream;
int mock_lt_living(void) { return living; }
unsigned mock_lt_alignment(int i) { return alignment[i]; }
u64 mock_lt_stream(void) { return last_stream; }

static void *make(size_t bytes) {
  living++;
  return calloc(1, bytes);
}
static int drop(void *p) {
  living--;
  free(p);
  return 0;
}

int cublasLtCreate(void **to) { *to = make(1); return 0; }
int cublasLtDestroy(void *h) { return drop(h); }
int cublasLtMatmulDescCreate(Desc **to, int compute, int scale) {
  *to = make(sizeof **to);
  (*to)->compute = compute, (*to)->scale = scale;
  return compute == 68 && scale == 0 ? 0 : INVALID_VALUE;
}
int cublasLtMatmulDescDestroy(Desc *d) { return drop(d); }
static u64 scales[4]; /* pointers and modes of A and B, as they were set last */
u64 mock_lt_scale(int i) { return scales[i]; }
int cublasLtMatmulDescSetAttribute(Desc *d, int attribute, const void *from, u64 bytes) {
  int pointer = attribute - 17, mode = attribute - 31;
  if (pointer >= 0 && pointer < 2 && bytes == 8) return memcpy(&scales[pointer], from, 8), 0;
  if (mode >= 0 && mode < 2 && bytes == 4) return scales[2 + mode] = *(const unsigned *)from, 0;
  void *to = attribute == 3 ? (void *)&d->ta : attribute == 4 ? (void *)&d->tb : attribute == 7 ? (void *)&d->epilogue
           : attribute == 8 ? (void *)&d->bias : NULL;
  if (!to || bytes != (attribute == 8 ? 8 : 4)) return INVALID_VALUE;
  memcpy(to, from, bytes);
  return 0;
}
int cublasLtMatrixLayoutCreate(Layout **to, int type, u64 rows, u64 cols, int64_t ld) {
  *to = make(sizeof **to);
  **to = (Layout){type, 1, rows, cols, ld, 0};
  return ld >= (int64_t)rows ? 0 : INVALID_VALUE;
}
int cublasLtMatrixLayoutDestroy(Layout *l) { return drop(l); }
int cublasLtMatrixLayoutSetAttribute(Layout *l, int attribute, const void *from, u64 bytes) {
  void *to = attribute == 5 ? (void *)&l->batch : attribute == 6 ? (void *)&l->stride : NULL;
  if (!to || bytes != (attribute == 5 ? 4 : 8)) return INVALID_VALUE;
  memcpy(to, from, bytes);
  return 0;
}
int cublasLtMatmulPreferenceCreate(Preference **to) { *to = make(sizeof **to); return 0; }
int cublasLtMatmulPreferenceDestroy(Preference *p) { return drop(p); }
int cublasLtMatmulPreferenceSetAttribute(Preference *p, int attribute, const void *from, u64 bytes) {
  int at = attribute - 5;
  if (attribute == 1 && bytes == 8) memcpy(&p->workspace, from, 8);
  else if (at >= 0 && at < 4 && bytes == 4) memcpy(&p->alignment[at], from, 4);
  else return INVALID_VALUE;
  return 0;
}

static u64 inner(const Desc *d, const Layout *a) { return d->ta ? a->rows : a->cols; }
int cublasLtMatmulAlgoGetHeuristic(void *h, const Desc *d, const Layout *a, const Layout *b, const Layout *c, const Layout *out,
                                   const Preference *p, int asked, Result *to, int *count) {
  if (!h || c != out || inner(d, a) != (d->tb ? b->cols : b->rows)) return INVALID_VALUE;
  memcpy(alignment, p->alignment, sizeof alignment);
  *count = 0;
  if (inner(d, a) == 13) return 0;
  if (inner(d, a) == 14) return NOT_SUPPORTED;
  for (int i = 0; i < 3 && i < asked; i++) {
    u64 workspace = i * 1024;
    if (workspace > p->workspace) break;
    to[(*count)++] = (Result){{66 + i, i ? 600 : 15, 1 + i, i ? 5 : 0}, workspace, i == 1 ? NOT_SUPPORTED : 0, 1, {0}};
  }
  return 0;
}
static int *attribute_of(Algo *algo, int attribute) {
  return attribute == 0 ? &algo->id : attribute == 1 ? &algo->tile : attribute == 2 ? &algo->splitk
       : attribute == 3 ? &algo->reduction : attribute == 6 ? &algo->stages : NULL;
}
int cublasLtMatmulAlgoConfigGetAttribute(Algo *algo, int attribute, void *to, u64 bytes, u64 *written) {
  if (attribute > 6) return INVALID_VALUE;
  int *from = attribute_of(algo, attribute), none = 0;
  *written = bytes;
  memcpy(to, from ? from : &none, bytes);
  return 0;
}
int cublasLtMatmulAlgoConfigSetAttribute(Algo *algo, int attribute, const void *from, u64 bytes) {
  int *to = attribute_of(algo, attribute);
  if (!to || bytes != 4) return INVALID_VALUE;
  memcpy(to, from, 4);
  return 0;
}
int cublasLtMatmulAlgoInit(void *h, int compute, int scale, int a, int b, int c, int d, int id, Algo *to) {
  if (!h || compute != 68 || scale || a || b || c || d || id < 66 || id > 69) return INVALID_VALUE;
  *to = (Algo){.id = id, .splitk = 1};
  return 0;
}
int cublasLtMatmulAlgoCheck(void *h, const Desc *d, const Layout *a, const Layout *b, const Layout *c, const Layout *out,
                            const Algo *algo, Result *to) {
  if (!h || !d || !b || c != out || inner(d, a) < 1) return INVALID_VALUE;
  int split = algo->splitk, fits = split == 1 ? !algo->reduction : (split == 2 || split == 4) && algo->reduction == 2;
  if (!fits || algo->id > 69) return NOT_SUPPORTED;
  *to = (Result){.workspace = split > 1 ? 1024 * split : 0};
  return 0;
}
int cublasLtMatmul(void *h, const Desc *d, const float *alpha, const float *a, const Layout *la, const float *b,
                   const Layout *lb, const float *beta, const float *c, const Layout *lc, float *out, const Layout *ld,
                   const Algo *algo, void *workspace, u64 bytes, u64 stream) {
  if (!h || *alpha != 1 || *beta != 0 || c != out || lc != ld || la->type || algo->id < 66) return INVALID_VALUE;
  if (bytes && !workspace) return INVALID_VALUE;
  last_stream = stream;
  for (int i = 0; i < ld->batch; i++) {
    float *to = out + i * ld->stride;
    column_major((Product){d->ta, d->tb, ld->rows, ld->cols, inner(d, la), la->ld, lb->ld, ld->ld, a + i * la->stride,
                           b + i * lb->stride, to});
    for (u64 col = 0; col < ld->cols; col++)
      for (u64 row = 0; row < ld->rows; row++) {
        float *x = to + row + col * ld->ld;
        if (d->epilogue & EPILOGUE_BIAS) *x += d->bias[row];
        if (d->epilogue & EPILOGUE_RELU && *x < 0) *x = 0;
      }
  }
  return 0;
}
const char *cublasLtGetStatusName(int s) { return s == NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_INVALID_VALUE"; }
const char *cublasLtGetStatusString(int s) { (void)s; return "the mock refused"; }
