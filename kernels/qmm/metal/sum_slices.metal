// y = the sum of the slices' partial products, of PART: fp32, or TYPE as in MLX.
//
// Idea: an element for each thread, which walks the slices in order: the sum is the same in
// every run.
//
//   P [S, count]   y [count]   grid ceil(count / 256), block 256
#include "../../common/mutant.h"
#include "../../device/msl.h"

KERNEL(256) void sum_slices(device const PART *P [[buffer(0)]], device TYPE *y [[buffer(1)]],
                            constant int &count [[buffer(2)]], constant int &S [[buffer(3)]], WHERE) {
  const int e = block.x * 256 + tid;
  if (e >= count) return;
  float sum = 0;
  for (int s = MUTANT(metal_slices_skip_first); s < S; s++) sum += float(P[long(s) * count + e]);
  y[e] = TYPE(sum);
}
