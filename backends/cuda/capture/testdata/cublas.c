/* Functions of cuBLAS that run one mock kernel, or two where K is split. */
#include <stddef.h>
#include <stdint.h>

#include "cuda.h"

enum { SPLIT_K = 8192 };

static int pointer_mode, math_mode;

static int run(int64_t k) {
  if (k == 13) return 7;
  mock_launch("mock_gemm_kernel", 1000);
  if (k >= SPLIT_K) mock_launch("mock_splitk_reduce", 500);
  return 0;
}

int cublasGetPointerMode_v2(void *handle, int *mode) {
  (void)handle;
  *mode = pointer_mode;
  return 0;
}
int cublasSetPointerMode_v2(void *handle, int mode) {
  (void)handle;
  pointer_mode = mode;
  return 0;
}
int cublasGetMathMode(void *handle, int *mode) {
  (void)handle;
  *mode = math_mode;
  return 0;
}
int cublasSetMathMode(void *handle, int mode) {
  (void)handle;
  math_mode = mode;
  return 0;
}
int cublasGetStream_v2(void *handle, void **stream) {
  *stream = handle;
  return 0;
}

#define V void
#define P const void *
#define PLAIN(NAME, I)                                                                            \
  int NAME(V *h, int ta, int tb, I m, I n, I k, P x, P a, I la, P b, I lb, P y, V *c, I lc) {     \
    (void)h, (void)ta, (void)tb, (void)m, (void)n, (void)x, (void)a, (void)la, (void)b, (void)lb, \
        (void)y, (void)c, (void)lc;                                                               \
    return run(k);                                                                                \
  }
#define BATCHED(NAME, I)                                                                          \
  int NAME(V *h, int ta, int tb, I m, I n, I k, P x, P a, I la, P b, I lb, P y, V *c, I lc,       \
           I count) {                                                                             \
    (void)h, (void)ta, (void)tb, (void)m, (void)n, (void)x, (void)a, (void)la, (void)b, (void)lb, \
        (void)y, (void)c, (void)lc;                                                               \
    return count < 0 ? 7 : run(k);                                                                \
  }
#define STRIDED(NAME, I)                                                                          \
  int NAME(V *h, int ta, int tb, I m, I n, I k, P x, P a, I la, long long sa, P b, I lb,          \
           long long sb, P y, V *c, I lc, long long sc, I count) {                                \
    (void)h, (void)ta, (void)tb, (void)m, (void)n, (void)x, (void)a, (void)la, (void)b, (void)lb, \
        (void)y, (void)c, (void)lc, (void)sa, (void)sb, (void)sc;                                 \
    return count < 0 ? 7 : run(k);                                                                \
  }
#define EX(NAME, I)                                                                               \
  int NAME(V *h, int ta, int tb, I m, I n, I k, P x, P a, int at, I la, P b, int bt, I lb, P y,   \
           V *c, int ct, I lc, int compute, int algo) {                                           \
    (void)h, (void)ta, (void)tb, (void)m, (void)n, (void)x, (void)a, (void)la, (void)b, (void)lb, \
        (void)y, (void)c, (void)lc, (void)at, (void)bt, (void)ct, (void)algo;                     \
    return compute < 64 ? 7 : run(k);                                                             \
  }
#define EX_STRIDED(NAME, I)                                                                       \
  int NAME(V *h, int ta, int tb, I m, I n, I k, P x, P a, int at, I la, long long sa, P b,        \
           int bt, I lb, long long sb, P y, V *c, int ct, I lc, long long sc, I count,            \
           int compute, int algo) {                                                               \
    (void)h, (void)ta, (void)tb, (void)m, (void)n, (void)x, (void)a, (void)la, (void)b, (void)lb, \
        (void)y, (void)c, (void)lc, (void)at, (void)bt, (void)ct, (void)algo, (void)sa, (void)sb, \
        (void)sc;                                                                                 \
    return compute < 64 || count < 0 ? 7 : run(k);                                                \
  }
#define GROUPED(NAME, I)                                                                          \
  int NAME(V *h, const int *ta, const int *tb, const I *m, const I *n, const I *k, P x, P a,      \
           int at, const I *la, P b, int bt, const I *lb, P y, V *c, int ct, const I *lc,         \
           I groups, const I *sizes, int compute) {                                               \
    (void)h, (void)ta, (void)tb, (void)m, (void)n, (void)x, (void)a, (void)la, (void)b, (void)lb, \
        (void)y, (void)c, (void)lc, (void)at, (void)bt, (void)ct, (void)sizes;                    \
    return compute < 64 || groups < 1 ? 7 : run(k[0]);                                            \
  }

PLAIN(cublasSgemm_v2, int)
PLAIN(cublasSgemm_v2_64, int64_t)
PLAIN(cublasDgemm_v2, int)
PLAIN(cublasCgemm_v2, int)
PLAIN(cublasZgemm_v2, int)
PLAIN(cublasHgemm, int)
BATCHED(cublasSgemmBatched, int)
STRIDED(cublasHgemmStridedBatched, int)
STRIDED(cublasSgemmStridedBatched, int)
EX(cublasGemmEx, int)
EX(cublasGemmEx_64, int64_t)
EX_STRIDED(cublasGemmStridedBatchedEx, int)
GROUPED(cublasGemmGroupedBatchedEx, int)
