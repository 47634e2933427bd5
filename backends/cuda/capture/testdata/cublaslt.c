/* Functions of cuBLASLt: descriptors are lists of attributes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

struct attributes {
  uint64_t values[64];
};

static int make(void **made) {
  *made = calloc(1, sizeof(struct attributes));
  return *made == NULL;
}

int cublasLtMatmulDescCreate(void **desc, int compute, int scale) {
  int status = make(desc);
  ((struct attributes *)*desc)->values[0] = (uint64_t)compute;
  ((struct attributes *)*desc)->values[1] = (uint64_t)scale;
  ((struct attributes *)*desc)->values[7] = 1;
  return status;
}

int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld) {
  int status = make(layout);
  uint64_t values[] = {(uint64_t)type, 0, rows, cols, (uint64_t)ld, 1};
  memcpy(*layout, values, sizeof values);
  return status;
}

int cublasLtMatmulDescSetAttribute(void *desc, int which, const void *value, size_t size) {
  memcpy(&((struct attributes *)desc)->values[which], value, size);
  return 0;
}

int cublasLtMatrixLayoutSetAttribute(void *layout, int which, const void *value, size_t size) {
  return cublasLtMatmulDescSetAttribute(layout, which, value, size);
}

int cublasLtMatmulDescGetAttribute(void *desc, int which, void *value, size_t size,
                                   size_t *written) {
  memcpy(value, &((struct attributes *)desc)->values[which], size);
  *written = size;
  return 0;
}

int cublasLtMatrixLayoutGetAttribute(void *layout, int which, void *value, size_t size,
                                     size_t *written) {
  return cublasLtMatmulDescGetAttribute(layout, which, value, size, written);
}

int cublasLtMatmul(void *handle, void *computation, const void *alpha, const void *a,
                   void *a_layout, const void *b, void *b_layout, const void *beta, const void *c,
                   void *c_layout, void *d, void *d_layout, const void *algo, void *workspace,
                   size_t bytes, void *stream) {
  (void)handle, (void)computation, (void)alpha, (void)a, (void)a_layout, (void)b, (void)b_layout;
  (void)beta, (void)c, (void)c_layout, (void)d, (void)d_layout, (void)algo, (void)workspace;
  (void)bytes, (void)stream;
  mock_launch("mock_lt_kernel", 2000);
  return 0;
}
