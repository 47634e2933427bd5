// Sums the K slices' partial products where columns of C lie apart, as in base[:, ::2].
#include "../../common/mutant.h"
#include "element.hip.h"

// Idea: none; what sum_split of sums.hip does for a dense C, an element a lane from end to end.
// Groups of lanes take slices in turns, and their sums meet in the local data share.
//
//   P [S, M, N] fp32   bias [N] or null   C: element (i, j) at (i * N + j) * step
//   grid ceil(M * N / 32), block 256, 1024 bytes
constexpr int COLUMNS = 32, GROUPS = 8;

KERNEL(COLUMNS * GROUPS) void sum_strided(const float* P, const TYPE* bias, TYPE* C, int M, int N,
                                          int S, int step, int relu) {
  float* met = (float*)LDS;  // [GROUPS][COLUMNS]
  int lane = thread_x() % COLUMNS, group = thread_x() / COLUMNS;
  unsigned count = M * N, e = block_x() * COLUMNS + lane;
  float sum = 0;
  if (e < count)
#pragma unroll 4
    for (int s = group; s < S - MUTANT(hip_strided_skip_slice); s += GROUPS)
      sum += P[(long long)s * count + e];
  met[group * COLUMNS + lane] = sum;
  if (!MUTANT(hip_strided_no_barrier)) barrier();
  if (group > 0 || e >= count) return;
  float total = 0;
  for (int g = 0; g < GROUPS; g++) total += met[g * COLUMNS + lane];
  float b = bias ? widen(bias[e % N]) : 0;
  TYPE* c = C + (long long)e * (MUTANT(hip_strided_flat) ? 1 : step);
  narrow(epilogue(total, b, relu), *c);
  if (MUTANT(hip_strided_wide_store)) c[1] = *c;
}
