// hipBLAS and hipBLASLt on the CPU, in one library that tests open under either name.
// A column-major product of hipDataTypes, as the mock matrix libraries of ROCm compute it.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
enum { HIP_F32 = 0, HIP_F16 = 2, HIP_BF16 = 14, OP_N = 111, OP_T = 112 };

static inline float from_half(uint16_t h) {
  uint32_t sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31, bits;
  if (!exponent) return (sign ? -1 : 1) * (h & 0x3ff) * 0x1p-24f;
  bits = sign | (exponent == 31 ? 255 : exponent + 112) << 23 | (h & 0x3ffu) << 13;
  float x;
  memcpy(&x, &bits, 4);
  return x;
}
static inline float read_at(const void *p, int type, int64_t i) {
  if (type == HIP_F32) return ((const float *)p)[i];
  uint16_t h = ((const uint16_t *)p)[i];
  if (type == HIP_F16) return from_half(h);
  uint32_t bits = (uint32_t)h << 16;
  float x;
  memcpy(&x, &bits, 4);
  return x;
}
static inline void write_at(void *p, int type, int64_t i, float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  if (type == HIP_F32) ((float *)p)[i] = x;
  else if (type == HIP_BF16) ((uint16_t *)p)[i] = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  else {
    // The two halves on either side are tried: this is a mock, not a fast conversion.
    uint16_t low = 0, sign = bits >> 16 & 0x8000;
    float size = x < 0 ? -x : x;
    for (int bit = 14; bit >= 0; bit--)
      if (from_half(low | 1 << bit) <= size && (low | 1 << bit) < 0x7c00) low |= 1 << bit;
    float under = size - from_half(low), over = from_half(low + 1) - size;
    ((uint16_t *)p)[i] = sign | (low + (over < under || (over == under && low & 1)));
  }
}

typedef struct {
  int ta, tb, m, n, k, lda, ldb, ldc, at, bt, ct, epilogue;
  const void *a, *b, *bias;
  void *c;
} Product;
// Epilogues are hipblasLtEpilogue_t's: 2 relu, 4 a bias a row, 6 both.
static inline double finished(Product p, int row, double sum) {
  if (p.epilogue & 4) sum += read_at(p.bias, p.ct, row);
  return p.epilogue & 2 && sum < 0 ? 0 : sum;
}
static inline void column_major(Product p) {
  for (int i = 0; i < p.m; i++)
    for (int j = 0; j < p.n; j++) {
      double sum = 0;
      for (int l = 0; l < p.k; l++)
        sum += (double)read_at(p.a, p.at, p.ta == OP_T ? l + (int64_t)i * p.lda : i + (int64_t)l * p.lda) *
               read_at(p.b, p.bt, p.tb == OP_T ? j + (int64_t)l * p.ldb : l + (int64_t)j * p.ldb);
      write_at(p.c, p.ct, i + (int64_t)j * p.ldc, finished(p, i, sum));
    }
}

// hipBLAS 2 on the CPU: the names with _v2 take today's types, the plain ones refuse them, as
// in ROCm 6. With HIPBLAS3 there are the plain ones alone, as in ROCm 7.
enum { INVALID_VALUE = 3, NOT_SUPPORTED = 7, COMPUTE_32F = 2, GEMM_DEFAULT = 160 };
static int living, next_status;
static u64 stream;
int mock_blas_living(void) { return living; }
u64 mock_blas_stream(void) { return stream; }
void mock_blas_fail(int status) { next_status = status; }

int hipblasCreate(u64 *to) { *to = 21; living++; return 0; }
int hipblasDestroy(u64 h) { living--; return h != 21; }
int hipblasSetStream(u64 h, u64 s) { stream = s; return h != 21; }
const char *hipblasStatusToString(int s) { return s == NOT_SUPPORTED ? "HIPBLAS_STATUS_NOT_SUPPORTED" : "HIPBLAS_STATUS_INVALID_VALUE"; }

static int batched(u64 h, int batch, Product p, int64_t sa, int64_t sb, int64_t sc, int compute, int algo) {
  int status = next_status;
  next_status = 0;
  if (status) return status;
  if (h != 21 || compute != COMPUTE_32F || algo != GEMM_DEFAULT) return INVALID_VALUE;
  for (int i = 0; i < batch; i++) {
    Product q = p;
    q.a = (const char *)p.a + i * sa * (p.at ? 2 : 4);
    q.b = (const char *)p.b + i * sb * (p.bt ? 2 : 4);
    q.c = (char *)p.c + i * sc * (p.ct ? 2 : 4);
    column_major(q);
  }
  return 0;
}
#ifdef HIPBLAS3
#define NAME(X) X
#else
#define NAME(X) X##_v2
int hipblasGemmEx(void) { return INVALID_VALUE; }
int hipblasGemmStridedBatchedEx(void) { return INVALID_VALUE; }
#endif
int NAME(hipblasGemmEx)(u64 h, int ta, int tb, int m, int n, int k, const float *alpha, const void *a, int at, int lda,
                        const void *b, int bt, int ldb, const float *beta, void *c, int ct, int ldc, int compute, int algo) {
  if (*alpha != 1 || *beta != 0) return INVALID_VALUE;
  return batched(h, 1, (Product){ta, tb, m, n, k, lda, ldb, ldc, at, bt, ct, 1, a, b, 0, c}, 0, 0, 0, compute, algo);
}
int NAME(hipblasGemmStridedBatchedEx)(u64 h, int ta, int tb, int m, int n, int k, const float *alpha, const void *a, int at,
                                      int lda, long long sa, const void *b, int bt, int ldb, long long sb,
                                      const float *beta, void *c, int ct, int ldc, long long sc, int batch, int compute,
                                      int algo) {
  if (*alpha != 1 || *beta != 0) return INVALID_VALUE;
  return batched(h, batch, (Product){ta, tb, m, n, k, lda, ldb, ldc, at, bt, ct, 1, a, b, 0, c}, sa, sb, sc, compute, algo);
}

// hipBLASLt on the CPU: descriptors, ranked solutions of which some are no use, products. Solution
// 7003 cuts K in four and sums in the workspace; a solution that was not proposed, or whose opaque
// bytes or workspace are not those of its proposal, is refused.
typedef struct { int ta, tb, epilogue, bias_type; const void *bias; } Desc;
typedef struct { int type, batch; u64 rows, cols; int64_t ld, stride; } Layout;
typedef struct { u64 workspace; } Preference;
typedef struct { int solution; char rest[12]; u64 most; } Algo;
typedef struct { Algo algo; u64 workspace; int status; float waves; int reserved[4]; } Result;
_Static_assert(sizeof(Result) == 56 && sizeof(Algo) == 24, "layout of hipblaslt.h");

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
enum { SPLITS = 4 };
// Ranked as the heuristic would: one that it cannot run, one from two of its lists, one that
// needs more than anybody gives.
static const struct { int solution, status; u64 tiles; } RANKED[] = {
    {7001, 0, 0}, {7002, NOT_SUPPORTED, 0}, {7003, 0, SPLITS}, {7001, 0, 0}, {7004, 0, 1 << 20}, {7005, 0, 0}};
enum { KNOWN = sizeof RANKED / sizeof *RANKED };
static u64 needs(int i, const Layout *out) { return RANKED[i].tiles * out->rows * out->cols * 4; }

int hipblasLtMatmulAlgoGetHeuristic(void *h, const Desc *d, const Layout *a, const Layout *b, const Layout *c,
                                    const Layout *out, const Preference *p, int asked, Result *to, int *count) {
  u64 inner = d->ta == OP_T ? a->rows : a->cols;
  if (!h || c != out || asked < 1 || inner != (d->tb == OP_T ? b->cols : b->rows)) return INVALID_VALUE;
  if (d->epilogue & 4 && d->bias_type != out->type) return INVALID_VALUE;
  *count = inner == 13 ? 0 : asked < KNOWN ? asked : KNOWN;
  for (int i = 0; i < *count; i++)
    to[i] = (Result){{RANKED[i].solution, "of the rank", p->workspace}, needs(i, out), RANKED[i].status, 1, {0}};
  for (int i = *count; i < asked; i++) to[i].status = INVALID_VALUE;
  return 0;
}
static const char *past(const void *p, int type, u64 elements) { return (const char *)p + elements * (type ? 2 : 4); }
static void split(Product p, float *sums) {
  u64 size = (u64)p.m * p.n;
  for (int s = 0; s < SPLITS; s++) {
    Product part = p;
    u64 from = (u64)p.k * s / SPLITS, to = (u64)p.k * (s + 1) / SPLITS;
    part.a = past(p.a, p.at, from * (p.ta == OP_T ? 1 : p.lda));
    part.b = past(p.b, p.bt, from * (p.tb == OP_T ? p.ldb : 1));
    part.k = to - from, part.c = sums + s * size, part.ct = HIP_F32, part.ldc = p.m, part.epilogue = 1;
    column_major(part);
  }
  for (u64 i = 0; i < size; i++) {
    float sum = 0;
    for (int s = 0; s < SPLITS; s++) sum += sums[s * size + i];
    write_at(p.c, p.ct, i % p.m + i / p.m * p.ldc, finished(p, i % p.m, sum));
  }
}
int hipblasLtMatmul(void *h, const Desc *d, const float *alpha, const char *a, const Layout *la, const char *b,
                    const Layout *lb, const float *beta, const char *c, const Layout *lc, char *out, const Layout *lo,
                    const Algo *algo, void *workspace, u64 bytes, void *stream) {
  if (!h || !stream || *alpha != 1 || *beta || c != out || lc != lo || (bytes && !workspace)) return INVALID_VALUE;
  int rank = 0;
  while (rank < KNOWN && RANKED[rank].solution != algo->solution) rank++;
  if (rank == KNOWN || RANKED[rank].status || memcmp(algo->rest, "of the rank", 12)) return INVALID_VALUE;
  if (bytes != needs(rank, lo) || bytes > algo->most) return INVALID_VALUE;
  for (int i = 0; i < lo->batch; i++) {
    Product p = {d->ta, d->tb, lo->rows, lo->cols, d->ta == OP_T ? la->rows : la->cols, la->ld, lb->ld, lo->ld,
                 la->type, lb->type, lo->type, d->epilogue, past(a, la->type, i * la->stride),
                 past(b, lb->type, i * lb->stride), d->bias, (void *)past(out, lo->type, i * lo->stride)};
    if (bytes) split(p, workspace);
    else column_major(p);
  }
  return 0;
}
