// hipBLASLt on the CPU: descriptors, two algorithms of which the second is no use, products.
#include <stdlib.h>
#include "mock_hipgemm.h"

enum { INVALID_VALUE = 3, NOT_SUPPORTED = 7 };
typedef struct { int ta, tb, epilogue, bias_type; const void *bias; } Desc;
typedef struct { int type, batch; u64 rows, cols; int64_t ld, stride; } Layout;
typedef struct { u64 workspace; } Preference;
typedef struct { int solution; char rest[12]; u64 most; } Algo;
typedef struct { Algo algo; u64 workspace; int status; float waves; int reserved[4]; } Result;
_Static_assert(sizeof(Result) == 56 && sizeof(Algo) == 24, "layout of hipblaslt.h");

static int living;
int mock_lt_living(void) { return living; }
static void *make(size_t bytes) { return living++, calloc(1, bytes); }
static int drop(void *p) { return living--, free(p), 0; }

int hipblasLtCreate(void **to) { *to = make(1); return 0; }
int hipblasLtDestroy(void *h) { return drop(h); }
int hipblasLtGetVersion(void *h, int *to) { *to = 1200; return !h; }
int hipblasLtMatmulDescCreate(Desc **to, int compute, int scale) {
  *to = make(sizeof **to);
  **to = (Desc){OP_N, OP_N, 1, -1, NULL};
  return compute == 2 && scale == 0 ? 0 : INVALID_VALUE;
}
int hipblasLtMatmulDescDestroy(Desc *d) { return drop(d); }
int hipblasLtMatmulDescSetAttribute(Desc *d, int attribute, const void *from, u64 bytes) {
  void *to = attribute == 0 ? (void *)&d->ta : attribute == 1 ? (void *)&d->tb : attribute == 2 ? (void *)&d->epilogue
           : attribute == 3 ? (void *)&d->bias : attribute == 4 ? (void *)&d->bias_type : NULL;
  if (!to || bytes != (attribute == 3 ? 8 : 4)) return INVALID_VALUE;
  memcpy(to, from, bytes);
  return 0;
}
int hipblasLtMatrixLayoutCreate(Layout **to, int type, u64 rows, u64 cols, int64_t ld) {
  *to = make(sizeof **to);
  **to = (Layout){type, 1, rows, cols, ld, 0};
  return ld >= (int64_t)rows ? 0 : INVALID_VALUE;
}
int hipblasLtMatrixLayoutDestroy(Layout *l) { return drop(l); }
int hipblasLtMatrixLayoutSetAttribute(Layout *l, int attribute, const void *from, u64 bytes) {
  void *to = attribute == 0 ? (void *)&l->batch : attribute == 1 ? (void *)&l->stride : NULL;
  if (!to || bytes != (attribute ? 8 : 4)) return INVALID_VALUE;
  memcpy(to, from, bytes);
  return 0;
}
int hipblasLtMatmulPreferenceCreate(Preference **to) { *to = make(sizeof **to); return 0; }
int hipblasLtMatmulPreferenceDestroy(Preference *p) { return drop(p); }
int hipblasLtMatmulPreferenceSetAttribute(Preference *p, int attribute, const void *from, u64 bytes) {
  if (attribute != 1 || bytes != 8) return INVALID_VALUE;
  memcpy(&p->workspace, from, 8);
  return 0;
}
int hipblasLtMatmulAlgoGetHeuristic(void *h, const Desc *d, const Layout *a, const Layout *b, const Layout *c,
                                    const Layout *out, const Preference *p, int asked, Result *to, int *count) {
  u64 inner = d->ta == OP_T ? a->rows : a->cols;
  if (!h || c != out || inner != (d->tb == OP_T ? b->cols : b->rows)) return INVALID_VALUE;
  if (d->epilogue & 4 && d->bias_type != out->type) return INVALID_VALUE;
  *count = inner == 13 ? 0 : asked < 2 ? asked : 2;
  for (int i = 0; i < *count; i++)
    to[i] = (Result){{7001 + i, "", p->workspace}, i * 64, i ? NOT_SUPPORTED : 0, 1, {0}};
  return 0;
}
int hipblasLtMatmul(void *h, const Desc *d, const float *alpha, const char *a, const Layout *la, const char *b,
                    const Layout *lb, const float *beta, const char *c, const Layout *lc, char *out, const Layout *lo,
                    const Algo *algo, void *workspace, u64 bytes, void *stream) {
  if (!h || !stream || *alpha != 1 || *beta || c != out || lc != lo || algo->solution != 7001 || (bytes && !workspace))
    return INVALID_VALUE;
  for (int i = 0; i < lo->batch; i++)
    column_major((Product){d->ta, d->tb, lo->rows, lo->cols, d->ta == OP_T ? la->rows : la->cols, la->ld, lb->ld, lo->ld,
                           la->type, lb->type, lo->type, d->epilogue, a + i * la->stride * (la->type ? 2 : 4),
                           b + i * lb->stride * (lb->type ? 2 : 4), d->bias, out + i * lo->stride * (lo->type ? 2 : 4)});
  return 0;
}
