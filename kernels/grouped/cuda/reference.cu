// The right answer, accumulated in double precision: C = A . B^T for each problem, f64.
//
// Idea: nothing but the definition. A block decodes 32 rows of A and of B, 16 elements of K at
// a time, and each thread sums four elements of C, each product exact. It judges other kernels
// and is itself judged against the host.
//
//   grid (tiles of N, tiles of M, problems), block (32, 8)
#include "../../../bench/formats/formats.h"
#include "../../device/ptx.h"
#include "../problem.h"

constexpr int TILE = 32, STEP = 16;

__device__ inline double value(const unsigned char* codes, const unsigned char* scales, int row,
                               int col, int k) {
  unsigned code = codes[((long long)row * k + col) / 2] >> (col % 2 * 4) & 15;
  unsigned scale = scales[blocked_offset(row, col / 16, k / 16)];
  return (double)decode_e2m1(code) * decode_e4m3(scale);
}

extern "C" __global__ void __launch_bounds__(256)
reference(const Problem* problems, int mmajor) {
  SHARED(double, a, [TILE][STEP + 1]);
  SHARED(double, b, [TILE][STEP + 1]);
  const Problem p = problems[blockIdx.z];
  int i0 = blockIdx.y * TILE, j0 = blockIdx.x * TILE, x = threadIdx.x, y = threadIdx.y;
  if (i0 >= p.m || j0 >= p.n) return;
  double sum[TILE / 8] = {};
  for (int k0 = 0; k0 < p.k; k0 += STEP) {
    for (int e = y * 32 + x; e < TILE * STEP; e += 256) {
      int row = e / STEP, col = e % STEP;
      a[row][col] = i0 + row < p.m ? value(p.a, p.sfa, i0 + row, k0 + col, p.k) : 0;
      b[row][col] = j0 + row < p.n ? value(p.b, p.sfb, j0 + row, k0 + col, p.k) : 0;
    }
    __syncthreads();
    for (int s = 0; s < STEP; s++)
      for (int q = 0; q < TILE / 8; q++) sum[q] += a[8 * q + y][s] * b[x][s];
    __syncthreads();
  }
  double* c = (double*)p.c;
  for (int q = 0; q < TILE / 8; q++) {
    int i = i0 + 8 * q + y, j = j0 + x;
    if (i < p.m && j < p.n) c[mmajor ? (long long)j * p.m + i : (long long)i * p.n + j] = sum[q];
  }
}
