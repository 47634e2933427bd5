// Tokens as best.cu multiplies them: A of every problem in fp16, in the order and the swizzle
// that its products read.
//
// Idea: an expert's tokens are few and are read again by every block of its weights. So they
// are decoded once, and each slab of 64 elements of K becomes rows of 128 bytes that one bulk
// copy puts where the tensor cores read them. Within a slab K is permuted so that a lane of
// best.cu has its 16 weights of a slab, one block of the format, in 8 bytes: product j of four
// takes from lane t the elements 16 t + 8 (j / 2) + {i, i + 4, i + 1, i + 5}, i = 2 (j % 2).
//
// Eight threads make such rows of SLABS slabs, so that a warp writes whole lines.
//
//   Compile-time: PROBLEMS, at most, of a launch; SLABS of a thread
//   to [K / 64][rows][128 bytes]; grid (8 threads for each row and SLABS slabs of the largest problem
//   / 256, problems), block 256
#include "../../common/mutant.h"
#include "nvfp4.cuh"

// A problem's tokens, and where they go.
struct Tokens {
  const unsigned char *a, *sfa;
  unsigned char* to;
  int m, k, rows, unused;
};
// By value: in memory, they would be one more place to wait for before the first load.
struct All { Tokens of[PROBLEMS]; };

__device__ inline unsigned rotated(unsigned x, int left) {
  return __funnelshift_r(x, x, (32 - left) % 32);
}
// pair<i> of nvfp4.cuh, for an `i` that is not known when it is compiled.
__device__ inline unsigned pair_of(int i, unsigned word, unsigned scale) {
  unsigned magnitude = rotated(word, (41 - 4 * i) % 32), sign = rotated(word, 12 - 4 * i);
  return multiply_2f16((magnitude & 0x0e000e00) | (sign & 0x80008000), scale);
}

extern "C" __global__ void __launch_bounds__(256)
tokens(const __grid_constant__ All problems) {
  // best.cu may start: its copies of tokens wait for the end of this kernel.
  launch_dependents();
  const Tokens& p = problems.of[blockIdx.y];
  unsigned slabs = p.k / 64, e = blockIdx.x * 256 + threadIdx.x;
  // Chunk 4 v + i of a row of a slab is pair i of word v of each lane's two.
  unsigned chunk = e % 8, row = e / 8 % p.m, first = e / 8 / p.m * SLABS;
  const unsigned* words = (const unsigned*)(p.a + (long long)row * (p.k / 2)) + first * 8 +
                          (chunk / 4 ^ MUTANT(tokens_swapped));
  const unsigned char* scales =
      p.sfa + ((long long)(row / 128) * slabs + first) * 512 + row % 32 * 16 + row % 128 / 32 * 4;
  // All loads before the first use: else each slab waits for memory.
  unsigned x[SLABS][4], codes[SLABS];
#pragma unroll
  for (int s = 0; s < SLABS; s++) {
    if (first + s >= slabs) continue;
#pragma unroll
    for (int lane = 0; lane < 4; lane++) x[s][lane] = words[8 * s + 2 * lane];
    codes[s] = *(const unsigned*)(scales + 512 * s);
  }
  unsigned place = chunk ^ (MUTANT(tokens_no_swizzle) ? 0 : row % 8);
  unsigned char* at = p.to + ((long long)first * p.rows + row) * 128 + 16 * place;
#pragma unroll
  for (int s = 0; s < SLABS; s++, at += (long long)p.rows * 128) {
    if (first + s >= slabs) return;
    unsigned low = scale_pair(codes[s] & 0xffff), high = scale_pair(codes[s] >> 16);
    *(uint4*)at = make_uint4(
        pair_of(chunk % 4, x[s][0], low_twice(low)), pair_of(chunk % 4, x[s][1], high_twice(low)),
        pair_of(chunk % 4, x[s][2], low_twice(high)),
        pair_of(chunk % 4, x[s][3], high_twice(high)));
  }
}
