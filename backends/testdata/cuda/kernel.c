// Kernels for the mock driver.
#include <stdint.h>
#include <string.h>

// y[i] = a * x[i] + n
const unsigned affine_sizes[] = {8, 8, 4, 4, 0};
void affine(void **p) {
  float *y = *(float **)p[0];
  const float *x = *(const float **)p[1];
  for (int i = 0; i < *(int *)p[3]; i++) y[i] = *(float *)p[2] * x[i] + *(int *)p[3];
}

// Stores what it was given: a double for each number, then the bytes.
const unsigned report_sizes[] = {8, 4, 4, 8, 4, 8, 128, 0};
void report(void **p) {
  double *to = *(double **)p[0];
  *to++ = *(int32_t *)p[1];
  *to++ = *(uint32_t *)p[2];
  *to++ = *(int64_t *)p[3];
  *to++ = *(float *)p[4];
  *to++ = *(double *)p[5];
  memcpy(to, p[6], 128);
}

const unsigned empty_sizes[] = {0};
void empty(void **p) { (void)p; }
