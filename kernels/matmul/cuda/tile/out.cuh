// Stores a tile of 16-bit outputs through shared memory, 16 bytes at a time.
//
// Compile-time: warps.cuh's.
#ifndef MNKBENCH_OUT
#define MNKBENCH_OUT
#include "../../../device/ptx_memory.h"
#include "warps.cuh"

__device__ inline unsigned pairOf(bf16, float low, float high) { return f32_to_2bf16(low, high); }
__device__ inline unsigned pairOf(f16, float low, float high) { return f32_to_2f16(low, high); }

// LINES rows of C of LENGTH elements. Rows are padded by 16 bytes, so that the stores of a warp have
// no bank conflicts.
template <class T, int LINES, int LENGTH>
struct Out {
  static constexpr int PITCH = LENGTH * 2 + 16, BYTES = LINES * PITCH;
  unsigned base;

  // Stores a warp's sums transposed: rows of its products are columns of C. A slot covers eight rows
  // of C. `value(i)` returns the calling lane's sums of slot i, in the layout of Sums. The warp's part
  // of the tile begins at row `line` and column `row`.
  template <int SLOTS, class Value>
  __device__ __forceinline__ void putAcross(int line, int row, Value value) const {
    int lane = threadIdx.x % 32;
    unsigned corner = base + line * PITCH + row * 2;
    unsigned to = corner + (lane / 16 * 8 + lane % 8) * PITCH + lane / 8 % 2 * 16;
#pragma unroll
    for (int i = 0; i + 1 < SLOTS; i += 2) {
      Pack<float, 4> x = value(i), y = value(i + 1);
      unsigned all[4] = {pairOf(T(), x.at[0], x.at[1]), pairOf(T(), x.at[2], x.at[3]),
                         pairOf(T(), y.at[0], y.at[1]), pairOf(T(), y.at[2], y.at[3])};
      stmatrix_transposed(to + i * 8 * PITCH, all);
    }
    if constexpr (SLOTS % 2 == 0) return;
    Pack<float, 4> x = value(SLOTS - 1);
    to = corner + ((SLOTS - 1) * 8 + lane % 4 * 2) * PITCH + lane / 4 * 2;
#pragma unroll
    for (int e = 0; e < 4; e++) {
      T y;
      narrow(x.at[e], y);
      store_shared_u16(to + e % 2 * PITCH + e / 2 * 16, y.bits);
    }
  }

  // All threads that multiply copy the tile to C, in chunks of eight columns: those for which
  // `owns(line, column)` is true. The tile begins at row `m0` and column `n0` of C.
  template <class Owns>
  __device__ __forceinline__ void copy(T* C, int m0, int n0, int M, int N, int ldc, Owns owns) const {
    constexpr int CHUNKS = LENGTH / 8;
#pragma unroll 4
    for (int i = threadIdx.x; i < LINES * CHUNKS; i += THREADS) {
      int line = i / CHUNKS, column = i % CHUNKS * 8, m = m0 + line, n = n0 + column;
      if (!owns(line, column) || m >= M && !MUTANT(out_no_line_guard)) continue;
      uint4 x;
      load_shared(x, base + line * PITCH + column * 2);
      store<T, 8>(C + (long long)m * ldc + n, *(const Pack<T, 8>*)&x,
                  MUTANT(out_no_column_guard) ? 8 : N - n);
    }
  }
};

#endif
