// Sums the K slices' partial products where columns of C lie apart, as in base[:, ::2].
#include "../../common/mutant.h"
#include "reduce.metal.h"

// Idea: none; what sum_split of sums.metal does for a dense C, an element a lane from end to end.
// Groups of lanes take slices in turns, and their sums meet in threadgroup memory.
//
//   P [S, M, N] fp32   bias [N], not read unless `biased`   C: element (i, j) at (i * N + j) * step
//   grid ceil(M * N / 32), block 256, 1024 bytes
KERNEL(256) void sum_strided(device const float *P [[buffer(0)]],
                             device const TYPE *bias [[buffer(1)]], device TYPE *C [[buffer(2)]],
                             constant int &M [[buffer(3)]], constant int &N [[buffer(4)]],
                             constant int &S [[buffer(5)]], constant int &step [[buffer(6)]],
                             constant int &relu [[buffer(7)]], constant int &biased [[buffer(8)]],
                             WHERE, ROOM) {
  const uint COLUMNS = 32, GROUPS = 8;
  threadgroup float *met = (threadgroup float *)lds;  // [GROUPS][COLUMNS]
  const uint lane = tid % COLUMNS, group = tid / COLUMNS;
  const uint count = M * N, e = block.x * COLUMNS + lane;
  float sum = 0;
  if (e < count)
    for (int s = group; s < S - MUTANT(metal_strided_skip_slice); s += GROUPS)
      sum += P[long(s) * count + e];
  met[group * COLUMNS + lane] = sum;
  if (!MUTANT(metal_strided_no_barrier)) barrier();
  if (group > 0 || e >= count) return;
  float total = 0;
  for (uint g = 0; g < GROUPS; g++) total += met[g * COLUMNS + lane];
  float b = 0;
  if (biased) b = float(bias[e % N]);
  device TYPE *c = C + long(e) * (MUTANT(metal_strided_flat) ? 1 : step);
  *c = TYPE(epilogue(total, b, relu));
  if (MUTANT(metal_strided_wide_store)) c[1] = *c;
}
