// cuBLAS on the CPU: fp32 products are computed, every call is written down.
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "gemm.h"

enum { NOT_INITIALIZED = 1, NOT_SUPPORTED = 15 };

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
