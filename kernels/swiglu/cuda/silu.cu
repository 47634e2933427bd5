// C = silu(gate) * up, element by element: what follows products of a library.
//
//   gate, up [M, N] of TYPE, rows ld apart   C [M, N]   grid of 256 threads, enough for eight
//   columns of a row each or fewer (they stride)
#include "silu.cuh"

extern "C" __global__ void __launch_bounds__(256)
silu(const TYPE* gate, const TYPE* up, TYPE* C, int M, int N, int ld) {
  constexpr int W = 8;
  int chunks = (N + W - 1) / W;
  long long count = (long long)M * chunks, all = gridDim.x * 256ll;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += all) {
    long long row = i / chunks;
    int col = (int)(i - row * chunks) * W, left = min(W, N - col);
    Pack<TYPE, W> x = load<W>(gate + row * ld + col, left);
    Pack<TYPE, W> y = load<W>(up + row * ld + col, left), c;
#pragma unroll
    for (int j = 0; j < W; j++) narrow(joined(widen(x.at[j]), widen(y.at[j])), c.at[j]);
    store(C + row * N + col, c, left);
  }
}
