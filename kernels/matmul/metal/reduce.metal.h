// What the reducers and the epilogue share.
#ifndef MNKBENCH_REDUCE_METAL
#define MNKBENCH_REDUCE_METAL
#include "../../device/msl.h"

// NaN stays NaN: a part that was never written must show.
DEVICE float epilogue(float sum, float bias, int relu) {
  float x = sum + bias;
  return relu && x < 0 ? 0 : x;
}

// The four numbers at `p`, of which `left` may be read; the rest are 0. `whole`: `p` starts on 16
// bytes, and `left` is a multiple of four.
DEVICE float4 load4(device const float *p, int left, bool whole) {
  if (whole && left > 0) return *(device const float4 *)p;
  float4 v = {0, 0, 0, 0};
  for (int i = 0; i < 4; i++)
    if (i < left) v[i] = p[i];
  return v;
}

#endif
