// Tokens as best.cu multiplies them: A of every problem in fp16, in the order and the swizzle
// that its products read.
//
// Idea: an expert's tokens are few and are read again by every block of its weights. So they
// are decoded once, and each slab of 64 elements of K becomes rows of 128 bytes that one bulk
// copy puts where the tensor cores read them. Within a slab K is permuted so that a lane of
// best.cu has its 16 weights of a slab, one block of the format, in 8 bytes: product j of four
// takes from lane t the elements 16 t + 8 (j / 2) + {i, i + 4, i + 1, i + 5}, i = 2 (j % 2).
//
// Eight threads make such a row, so that a warp writes whole lines.
//
//   to [problem][K / 64][rows][128 bytes]; grid (chunks of 8 elements of the largest problem /
//   256, problems), block 256
#include "../../common/mutant.h"
#include "nvfp4.cuh"

// What becomes of a problem's tokens.
struct Packed {
  long long base; // bytes
  int rows, unused;
};

__device__ inline unsigned rotated(unsigned x, int left) {
  return __funnelshift_r(x, x, (32 - left) % 32);
}
// pair<i> of nvfp4.cuh, for an `i` that is not known when it is compiled.
__device__ inline unsigned pair_of(int i, unsigned word, unsigned scale) {
  unsigned magnitude = rotated(word, (41 - 4 * i) % 32), sign = rotated(word, 12 - 4 * i);
  return multiply_2f16((magnitude & 0x0e000e00) | (sign & 0x80008000), scale);
}

extern "C" __global__ void __launch_bounds__(256)
tokens(const Problem* problems, const Packed* packed, unsigned char* to) {
  // best.cu may start: its copies of tokens wait for the end of this kernel.
  launch_dependents();
  const Problem& p = problems[blockIdx.y];
  const Packed out = packed[blockIdx.y];
  unsigned slabs = p.k / 64, e = blockIdx.x * 256 + threadIdx.x;
  // Chunk 4 v + i of a row of a slab is pair i of word v of each lane's two.
  unsigned chunk = e % 8, row = e / 8 / slabs, slab = e / 8 % slabs;
  if (row >= p.m) return;
  const unsigned* words = (const unsigned*)(p.a + (long long)row * (p.k / 2) + slab * 32);
  long long tile = (long long)(row / 128) * slabs + slab;
  unsigned codes = *(const unsigned*)(p.sfa + tile * 512 + row % 32 * 16 + row % 128 / 32 * 4);
  unsigned low = scale_pair(codes & 0xffff), high = scale_pair(codes >> 16);
  unsigned scales[4] = {low_twice(low), high_twice(low), low_twice(high), high_twice(high)};
  unsigned x[4];
#pragma unroll
  for (int lane = 0; lane < 4; lane++)
    x[lane] = pair_of(chunk % 4, words[2 * lane + (chunk / 4 ^ MUTANT(tokens_swapped))], scales[lane]);
  unsigned char* at = to + out.base + ((long long)slab * out.rows + row) * 128;
  unsigned place = chunk ^ (MUTANT(tokens_no_swizzle) ? 0 : row % 8);
  *(uint4*)(at + 16 * place) = make_uint4(x[0], x[1], x[2], x[3]);
}
