// The warps of ring.cu that multiply: each has 32 rows of A and 64 of B of the tile.
#ifndef GROUPED_RING_CONSUME
#define GROUPED_RING_CONSUME
#include "../../common/mutant.h"

// The 16 elements of a lane in one row of a slab: two words and their scale, there twice.
struct Own {
  uint2 words;
  unsigned scale;
  // `scales`: shared address of the tile of the scales that the row belongs to.
  __device__ Own(unsigned rows, unsigned scales, int row, int of, int slab) {
    int t = threadIdx.x % 4;
    unsigned at = rows + row * LINE + 32 * slab + 8 * t;
    load_shared(words, at);
    unsigned from = scales + 512 * slab + of % 32 * 16 + of % 128 / 32 * 4 + t;
    scale = low_twice(scale_pair(load_shared_u8(from)));
  }
  // The elements of product `j` of four: columns 2 t, 2 t + 1 and eight on of its operand.
  template <int J>
  __device__ __forceinline__ void of(unsigned& low, unsigned& high) const {
    unsigned word = J / 2 ? words.y : words.x;
    low = pair<J % 2 * 2>(word, scale);
    high = pair<J % 2 * 2 + 1>(word, scale);
  }
};

template <int J>
__device__ __forceinline__ void step(float (&d)[2][8][4], const Own (&a)[2][2], const Own (&b)[8]) {
  unsigned x[2][4];
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int h = 0; h < 2; h++) a[i][h].of<J>(x[i][h], x[i][2 + h]);
#pragma unroll
  for (int j = 0; j < 8; j++) {
    unsigned y[2];
    b[j].of<J>(y[0], y[1]);
#pragma unroll
    for (int i = 0; i < 2; i++) mma_f16(d[i][j], d[i][j] + 2, x[i], y);
  }
}

__device__ inline void consume(const List& list, unsigned base) {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, m0, n0;
  int top = warp % (BM / 32) * 32, left = warp / (BM / 32) * 64;
  Tickets tickets = {base + TICKETS};
  Search search;
  Place<STAGES> place;
  while (true) {
    int tile;
    if (lane == 0) tile = tickets.take();
    tile = __shfl_sync(~0u, tile, 0);
    if (!search.find(list, tile, m0, n0)) return;
    const Problem& p = list.problems[search.problem];
    float d[2][8][4] = {};
    for (int slab = 0; slab < p.k / 64; slab += 4, place.next()) {
      unsigned full = base + BARRIERS + 16 * place.index, from = base + STAGE * place.index;
      if (!MUTANT(grouped_no_wait)) barrier_wait(full, place.phase ^ MUTANT(grouped_wrong_phase));
#pragma unroll 1
      for (int s = 0; s < min(4, p.k / 64 - slab); s++) {
#define A(I, H) Own(from, from + ROWS, top + 16 * I + 8 * H + g, m0 + top + 16 * I + 8 * H + g, s)
#define B(J)                                                                            \
  Own(from + BM * LINE, from + ROWS + 2048, left + 8 * J + g, n0 + left + 8 * J + g, s)
        const Own a[2][2] = {{A(0, 0), A(0, 1)}, {A(1, 0), A(1, 1)}};
        const Own b[8] = {B(0), B(1), B(2), B(3), B(4), B(5), B(6), B(7)};
#undef A
#undef B
        step<0>(d, a, b);
        step<1>(d, a, b);
        step<2>(d, a, b);
        step<3>(d, a, b);
      }
      if (!MUTANT(grouped_early_release)) __syncwarp();
      // Lane r tells block r that this warp has read the stage.
      if (CLUSTER == 1) {
        if (lane == 0 && !MUTANT(grouped_no_release)) barrier_arrive(full + 8);
      } else if (lane < CLUSTER) barrier_arrive(full + 8, lane);
    }
    int row = m0 + top + g, col = n0 + left + lane % 4 * 2;
#pragma unroll
    for (int e = 0; e < 32; e++) // of 16 x 8 blocks, the upper and the lower half
      store(p, row + e / 16 * 16 + e % 2 * 8, col + e / 2 % 8 * 8, d[e / 16][e / 2 % 8][e % 2 * 2],
            d[e / 16][e / 2 % 8][e % 2 * 2 + 1], list.mmajor);
  }
}

#endif
