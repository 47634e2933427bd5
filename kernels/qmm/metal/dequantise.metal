// What stored weights stand for, as TYPE: before the clock of a library on 16-bit weights starts.
//
// Idea: a lane has eight codes, which are BITS bytes and share a scale.
//
//   w, scales, biases: 8 * `eights` weights, whole groups of `group` a row   to [8 * eights] TYPE
//   grid ceil(eights / 256), block 256
#include "../../common/mutant.h"
#include "weight.metal.h"

KERNEL(256) void dequantise(device const uchar *w [[buffer(0)]], device const SCALE *scales [[buffer(1)]],
                            device const TYPE *biases [[buffer(2)]], device TYPE *to [[buffer(3)]],
                            constant int &eights [[buffer(4)]], constant int &group [[buffer(5)]], WHERE) {
  const int eight = block.x * 256 + tid;
  if (eight >= eights) return;
  const int g = eight / (group / (MUTANT(metal_dequantise_wrong_group) ? 4 : 8));
  const Eight codes = load_eight(w + long(eight) * BITS);
  const float scale = scale_of(scales[g]), bias = MODE == AFFINE ? float(biases[g]) : 0;
#pragma unroll
  for (int i = 0; i < 8; i++) to[long(eight) * 8 + i] = TYPE(scale * value_of(code_of(codes, i)) + bias);
}
