// hipBLAS 2 on the CPU: the names with _v2 take today's types, the plain ones refuse them, as
// in ROCm 6. With HIPBLAS3 there are the plain ones alone, as in ROCm 7.
#include "gemm.h"

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
