// C = silu(gate) * up, element by element: what follows two products of a library.
//
//   gate, up, C [count] of TYPE   grid of 256 threads, enough for count or fewer (they stride)
#include "silu.cuh"

extern "C" __global__ void __launch_bounds__(256)
silu(const TYPE* gate, const TYPE* up, TYPE* C, long long count) {
  constexpr int W = 8;
  long long all = (long long)gridDim.x * 256 * W;
  for (long long i = (blockIdx.x * 256ll + threadIdx.x) * W; i < count; i += all) {
    int left = (int)min((long long)W, count - i);
    Pack<TYPE, W> x = load<W>(gate + i, left), y = load<W>(up + i, left), c;
#pragma unroll
    for (int j = 0; j < W; j++) narrow(joined(widen(x.at[j]), widen(y.at[j])), c.at[j]);
    store(C + i, c, left);
  }
}
