// Tokens as best.cu multiplies them: A of every problem in fp16, in the order and the swizzle
// that its products read.
//
// Idea: an expert's tokens are few and are read again by every block of its weights. So they
// are decoded once, and each slab of 64 elements of K becomes rows of 128 bytes that one bulk
// copy puts where the tensor cores read them. Slabs come in pairs, 128 of K, in which K is permuted
// so that a lane of best.cu has its 16 weights of each slab, two blocks of the format, in 16 bytes:
// product j of slab h takes from lane t the elements 32 t + 16 h + 8 (j / 2) + {i, i + 4, i + 1,
// i + 5}, i = 2 (j % 2).
//
// A warp makes such rows of two pairs of slabs, of four tokens.
//
//   Compile-time: PROBLEMS, at most, of a launch
//   to [2 (K / 128, rounded up)][rows][128 bytes]; grid (units / 8), block 256
#include "../../common/mutant.h"
#include "nvfp4.cuh"

// A problem's tokens, and where they go.
struct Tokens {
  const unsigned char *a, *sfa;
  unsigned char* to;
  int m, k, rows, unused;
};
// By value: in memory, they would be one more place to wait for before the first load. `ends` are
// units of each problem and of those before it, side by side: each line of arguments is waited for.
struct All {
  int ends[PROBLEMS];
  Tokens of[PROBLEMS];
};
// Pairs of slabs of a unit, of four tokens.
constexpr int PAIRS = 2;

__device__ inline unsigned rotated(unsigned x, int left) {
  return __funnelshift_r(x, x, (32 - left) % 32);
}
// pair<i> of nvfp4.cuh, for an `i` that is not known when it is compiled.
__device__ inline unsigned pair_of(int i, unsigned word, unsigned scale) {
  unsigned magnitude = rotated(word, (41 - 4 * i) % 32), sign = rotated(word, 12 - 4 * i);
  return multiply_2f16((magnitude & 0x0e000e00) | (sign & 0x80008000), scale);
}

// Eight lanes make the rows of a token.
extern "C" __global__ void __launch_bounds__(256)
tokens(const __grid_constant__ All problems) {
  // best.cu may start: its copies of tokens wait for the end of this kernel.
  launch_dependents();
  int unit = blockIdx.x * 8 + threadIdx.x / 32, at = 0, before = 0;
  unsigned lane = threadIdx.x % 32, chunk = lane % 8;
  if (unit >= problems.ends[PROBLEMS - 1]) return;
#pragma unroll
  for (int i = 0; i < PROBLEMS - 1; i++)
    if (unit >= problems.ends[i]) at = i + 1, before = problems.ends[i];
  const Tokens& p = problems.of[at];
  int quads = (p.m + 3) / 4, own = unit - before, row = own % quads * 4 + lane / 8;
  int slabs = p.k / 64, first = own / quads * (2 * PAIRS);
  if (row >= p.m) return;
  const uint4* words = (const uint4*)(p.a + (long long)row * (p.k / 2) + first * 32);
  const unsigned char* scales =
      p.sfa + ((long long)(row / 128) * slabs + first) * 512 + row % 32 * 16 + row % 128 / 32 * 4;
  // All loads before the first use: else each pair waits for memory. What does not exist is 0.
  uint4 x[PAIRS][4];
  unsigned codes[2 * PAIRS];
#pragma unroll
  for (int s = 0; s < 2 * PAIRS; s++) {
    bool there = first + s < slabs || MUTANT(tokens_no_end);
#pragma unroll
    for (int t = 0; t < 2; t++)
      x[s / 2][s % 2 * 2 + t] = there ? words[2 * s + t] : make_uint4(0, 0, 0, 0);
    codes[s] = there ? *(const unsigned*)(scales + 512 * s) : 0;
  }
  unsigned place = chunk ^ (MUTANT(tokens_no_swizzle) ? 0 : row % 8);
  bool upper = chunk / 4 ^ MUTANT(tokens_swapped);
  unsigned char* to = p.to + ((long long)first * p.rows + row) * 128 + 16 * place;
#pragma unroll
  for (int s = 0; s < 2 * PAIRS; s++, to += (long long)p.rows * 128) {
    if (first + s / 2 * 2 >= slabs) return;
    unsigned out[4];
#pragma unroll
    for (int t = 0; t < 4; t++) {
      const uint4& four = x[s / 2][t];
      unsigned word = s % 2 ? (upper ? four.w : four.z) : (upper ? four.y : four.x);
      // Of blocks 2 t and 2 t + 1 of a pair of slabs, four scales in a word.
      unsigned both = scale_pair(codes[s / 2 * 2 + t / 2] >> t % 2 * 16 & 0xffff);
      out[t] = pair_of(chunk % 4, word, s % 2 ? high_twice(both) : low_twice(both));
    }
    *(uint4*)to = make_uint4(out[0], out[1], out[2], out[3]);
  }
}
