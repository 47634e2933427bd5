// Sums the K slices' partial products where columns of C lie apart, as in base[:, ::2].
#include "../../common/mutant.h"
#include "tile/element.cuh"

// Idea: none; what sum_split of sums.cu does for a dense C, an element a thread from end to end.
// Groups of threads take slices in turns, and their sums meet in shared memory.
//
//   P [S, M, N] fp32   bias [N] or null   C: element (i, j) at (i * N + j) * step
//   grid ceil(M * N / 32), block 256
constexpr int COLUMNS = 32, GROUPS = 8;

extern "C" __global__ void __launch_bounds__(COLUMNS * GROUPS)
sum_strided(const float* P, const TYPE* bias, TYPE* C, int M, int N, int S, int step, int relu) {
  SHARED(float, met, [GROUPS][COLUMNS]);
  int lane = threadIdx.x % COLUMNS, group = threadIdx.x / COLUMNS;
  unsigned count = M * N, e = blockIdx.x * COLUMNS + lane;
  float sum = 0;
  if (e < count)
#pragma unroll 4
    for (int s = group; s < S - MUTANT(strided_skip_slice); s += GROUPS)
      sum += P[(long long)s * count + e];
  met[group][lane] = sum;
  if (!MUTANT(strided_no_barrier)) __syncthreads();
  if (group > 0 || e >= count) return;
  float total = 0;
  for (int g = 0; g < GROUPS; g++) total += met[g][lane];
  float b = bias ? widen(bias[e % N]) : 0;
  TYPE* c = C + (long long)e * (MUTANT(strided_flat) ? 1 : step);
  narrow(epilogue(total, b, leastOf(relu)), *c);
  if (MUTANT(strided_wide_store)) c[1] = *c;
}
