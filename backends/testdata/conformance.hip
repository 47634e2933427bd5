#include "../../kernels/device/gfx.h"

KERNEL(256) void affine(float *y, const float *x, float a, long long n, int add) {
  const long long step = grid_x() * 128ll;
  for (long long i = block_x() * 128ll + thread_x(); i < n; i += step) y[i] = a * x[i] + add;
}
