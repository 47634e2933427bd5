// Tokens as best.cu multiplies them: A of every problem in fp16, in the order and the swizzle
// that its products read.
//
// Idea: an expert's tokens are few and are read again by every block of its weights. So they
// are decoded once, and each slab of 64 elements of K becomes rows of 128 bytes that one bulk
// copy puts where the tensor cores read them. Within a slab K is permuted so that a lane of
// best.cu has its 16 weights of a slab, one block of the format, in 8 bytes: product j of four
// takes from lane t the elements 16 t + 8 (j / 2) + {i, i + 4, i + 1, i + 5}, i = 2 (j % 2).
//
//   to [problem][K / 64][rows][128 bytes]; grid (enough, problems), block 256
#include "nvfp4.cuh"

// What becomes of a problem's tokens.
struct Packed {
  long long base; // bytes
  int rows, unused;
};

extern "C" __global__ void __launch_bounds__(256)
tokens(const Problem* problems, const Packed* packed, unsigned char* to) {
  // best.cu may start: its copies of tokens wait for the end of this kernel.
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  const Problem& p = problems[blockIdx.y];
  const Packed out = packed[blockIdx.y];
  int slabs = p.k / 64, m = p.m;
  long long count = 8ll * m * slabs, stride = 256ll * gridDim.x;
  for (long long e = blockIdx.x * 256ll + threadIdx.x; e < count; e += stride) {
    // Chunk u of a row of a slab: pair u % 4 of word u / 4 of each lane's two.
    int u = e % 8, row, slab;
    long long rest = e / 8;
    slab = rest % slabs;
    row = rest / slabs;
    const unsigned char* from = p.a + (long long)row * (p.k / 2) + slab * 32 + u / 4 * 4;
    long long tile = (long long)(row / 128) * slabs + slab;
    unsigned codes = *(const unsigned*)(p.sfa + tile * 512 + row % 32 * 16 + row % 128 / 32 * 4);
    unsigned scales[2] = {scale_pair(codes & 0xffff), scale_pair(codes >> 16)};
    unsigned chunk[4];
    for (int t = 0; t < 4; t++) {
      unsigned word = *(const unsigned*)(from + 8 * t) << 4 * (3 - u % 4);
      chunk[t] = pair<3>(word, t % 2 ? high_twice(scales[t / 2]) : low_twice(scales[t / 2]));
    }
    unsigned char* at = to + out.base + ((long long)slab * out.rows + row) * 128;
    *(uint4*)(at + 16 * (u ^ row % 8)) = make_uint4(chunk[0], chunk[1], chunk[2], chunk[3]);
  }
}
