// Tokens as best.cu multiplies them: A of every problem in fp16, in the order and the swizzle
// that its products read.
//
// Idea: an expert's tokens are few and are read again by every block of its weights. So they
// are decoded once, and each slab of 64 elements of K becomes rows of 128 bytes that one bulk
// copy puts where the tensor cores read them. Within a slab K is permuted so that a lane of
// best.cu has its 16 weights of a slab, one block of the format, in 8 bytes: product j of four
// takes from lane t the elements 16 t + 8 (j / 2) + {i, i + 4, i + 1, i + 5}, i = 2 (j % 2).
//
//   to [problem][K / 64][rows][128 bytes]; grid (rows and slabs of the
//   largest problem / 256, problems), block 256
#include "nvfp4.cuh"

// What becomes of a problem's tokens.
struct Packed {
  long long base; // bytes
  int rows, unused;
};

// Chunk 4 v + I of a row of a slab is pair I of word v of each lane's two.
template <int I>
__device__ inline void chunks(unsigned char* at, int row, const uint4 (&words)[2], unsigned low,
                              unsigned high) {
  unsigned s[4] = {low_twice(low), high_twice(low), low_twice(high), high_twice(high)};
  unsigned x[2][4] = {{words[0].x, words[0].z, words[1].x, words[1].z},
                      {words[0].y, words[0].w, words[1].y, words[1].w}};
#pragma unroll
  for (int v = 0; v < 2; v++)
    *(uint4*)(at + 16 * ((4 * v + I) ^ row % 8)) =
        make_uint4(pair<I>(x[v][0], s[0]), pair<I>(x[v][1], s[1]), pair<I>(x[v][2], s[2]),
                   pair<I>(x[v][3], s[3]));
}

extern "C" __global__ void __launch_bounds__(256)
tokens(const Problem* problems, const Packed* packed, unsigned char* to) {
  // best.cu may start: its copies of tokens wait for the end of this kernel.
  launch_dependents();
  const Problem& p = problems[blockIdx.y];
  const Packed out = packed[blockIdx.y];
  int slabs = p.k / 64;
  long long e = blockIdx.x * 256ll + threadIdx.x;
  int row = e / slabs, slab = e % slabs;
  if (row >= p.m) return;
  uint4 words[2];
  const uint4* from = (const uint4*)(p.a + (long long)row * (p.k / 2) + slab * 32);
  words[0] = from[0], words[1] = from[1];
  long long tile = (long long)(row / 128) * slabs + slab;
  unsigned codes = *(const unsigned*)(p.sfa + tile * 512 + row % 32 * 16 + row % 128 / 32 * 4);
  unsigned low = scale_pair(codes & 0xffff), high = scale_pair(codes >> 16);
  unsigned char* at = to + out.base + ((long long)slab * out.rows + row) * 128;
  chunks<0>(at, row, words, low, high);
  chunks<1>(at, row, words, low, high);
  chunks<2>(at, row, words, low, high);
  chunks<3>(at, row, words, low, high);
}
