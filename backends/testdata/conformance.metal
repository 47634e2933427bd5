#include "../../kernels/device/msl.h"

KERNEL(256) void affine(device float *y [[buffer(0)]], device const float *x [[buffer(1)]], constant float &a [[buffer(2)]],
                        constant long &n [[buffer(3)]], constant int &add [[buffer(4)]], WHERE) {
  const long step = blocks.x * 128l;
  for (long i = block.x * 128l + tid; i < n; i += step) y[i] = a * x[i] + add;
}
