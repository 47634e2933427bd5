// cuBLASLt on the CPU: fp32 products with their epilogue. It proposes three algorithms, of
// which the second is unusable, and refuses products with k = 13. It can be given algorithms
// 66 to 69, K split in 2 or 4 with sums in the workspace (reduction 2).
#include <stdlib.h>
#include <string.h>
#include "gemm.h"

enum { INVALID_VALUE = 7, NOT_SUPPORTED = 15 };
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
