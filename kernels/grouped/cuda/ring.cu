// C = A . B^T for a list of problems: a producer warp copies packed rows into a ring, the other
// warps decode them into the registers of their products.
//
// Idea: a block takes the next tile from a counter when it is done with one, and its
// copies run ahead of its products, into the next tile too. With CLUSTER > 1: the blocks of a
// cluster have the same rows of A, which one of them copies for all, and take tiles together.
//
// A stage is 256 elements of K as stored: rows of 128 bytes, 160 apart for the banks, and the
// scales, 512 bytes for 128 rows and 64 elements. A lane has 16 elements, one block of the
// format, of each row it reads of 64; both operands are permuted alike.
//
// Compile-time: BM, BN (rows of A and of B of a tile), STAGES, CLUSTER. Block 32 (BM BN / 2048 +
// 1); grid CLUSTER * clusters. `counter` starts at 0 and is 0 again in the end.
#include "../../common/mutant.h"
#include "../../device/ptx_barrier.h"
#include "../../device/ptx_memory.h"
#include "../../device/ptx_mma.h"
#include "nvfp4.cuh"

constexpr int LINE = 160, WARPS = BM / 32 * (BN / 64), BLOCK = 32 * (WARPS + 1);
constexpr int ROWS = (BM + BN) * LINE, STAGE = ROWS + 2 * 2048;
constexpr int BARRIERS = STAGES * STAGE, TICKETS = BARRIERS + 16 * STAGES, SLOTS = 2;

SHARED_MEMORY(128);

struct List {
  const Problem* problems;
  int count, mmajor;
};

// A place in a ring of `SIZE`.
template <int SIZE>
struct Place {
  int index = 0, phase = 0;
  __device__ void next() {
    if (++index == SIZE) index = 0, phase ^= 1;
  }
};

// Tells all warps of a cluster which tile is next: a slot, and a barrier for it to be full and
// one, at the first block, for it to be empty.
struct Tickets {
  unsigned base;
  Place<SLOTS> place;
  __device__ unsigned slot() const { return base + 4 * place.index; }
  __device__ unsigned full() const { return base + 8 + 8 * place.index; }
  __device__ unsigned empty() const { return base + 24 + 8 * place.index; }
  // By one lane of a warp.
  __device__ int take() {
    barrier_wait(full(), place.phase);
    int tile = load_shared_u32(slot());
    if (CLUSTER == 1) barrier_arrive(empty());
    else barrier_arrive(empty(), 0);
    place.next();
    return tile;
  }
  // By one lane of the first block: the next tile for all.
  __device__ void give(unsigned* counter, int last) {
    if (!MUTANT(grouped_early_ticket)) barrier_wait(empty(), place.phase ^ 1);
    unsigned tile = atomicInc(counter, last + MUTANT(grouped_no_reset));
    if (CLUSTER == 1) {
      store_shared_u32(slot(), tile);
      barrier_arrive(full());
    }
    for (int r = 0; r < (CLUSTER > 1 ? CLUSTER : 0); r++)
      store_async(slot(), full(), r, tile);
  }
};

// Where tile number `tile` is; tiles only grow, so the search goes on where it was.
struct Search {
  int problem = 0, first = 0;
  __device__ bool find(const List& list, int tile, int& m0, int& n0) {
    for (; problem < list.count; problem++) {
      const Problem& p = list.problems[problem];
      int across = (p.n + BN * CLUSTER - 1) / (BN * CLUSTER), down = (p.m + BM - 1) / BM;
      if (tile - first < across * down) {
        int own = tile - first;
        // Down first: blocks at work at one time share rows of B in the cache.
        m0 = own % down * BM;
        n0 = (own / down * CLUSTER + (CLUSTER > 1 ? cluster_rank() : 0)) * BN;
        return true;
      }
      first += across * down;
    }
    return false;
  }
};

__device__ inline void produce(const List& list, unsigned base, unsigned* counter, int last) {
  int lane = threadIdx.x % 32, rank = CLUSTER > 1 ? cluster_rank() : 0, m0, n0;
  unsigned long long first = evict_first(), again = evict_normal();
  Tickets tickets = {base + TICKETS};
  Search search;
  Place<STAGES> place;
  while (true) {
    int tile;
    if (lane == 0) {
      if (CLUSTER > 1) barrier_expect(tickets.full(), 4 + 4 * MUTANT(grouped_many_bytes));
      if (rank == 0) tickets.give(counter, last);
      tile = tickets.take();
    }
    tile = __shfl_sync(~0u, tile, 0);
    if (!search.find(list, tile, m0, n0)) return;
    const Problem& p = list.problems[search.problem];
    int least = MUTANT(grouped_negative_rows) ? -n0 : 0;
    int rowsA = min(BM, p.m - m0), rowsB = max(least, min(BN, p.n - n0)), slabs = p.k / 64;
    int tileB = rowsB || MUTANT(grouped_no_scale_guard) ? n0 / 128 : 0;
    for (int slab = 0; slab < slabs; slab += 4, place.next()) {
      int some = min(4, slabs - slab), bytes = 32 * some, scales = 512 * some;
      unsigned full = base + BARRIERS + 16 * place.index, to = base + STAGE * place.index;
      if (MUTANT(grouped_few_stages)) to = base + STAGE * (place.index % (STAGES - 1));
      if (lane == 0) {
        if (!MUTANT(grouped_early_refill)) barrier_wait(full + 8, place.phase ^ 1);
        barrier_expect(full, (rowsA + rowsB) * bytes + (2 - MUTANT(grouped_few_bytes)) * scales);
      }
      if (!MUTANT(grouped_early_copy)) __syncwarp();
      for (int r = rank * (BM / CLUSTER) + lane; r < min((rank + 1) * (BM / CLUSTER), rowsA);
           r += 32) {
        const unsigned char* from = p.a + (long long)(m0 + r) * (p.k / 2) + 32 * slab;
        if (CLUSTER == 1) copy_bulk(to + r * LINE, from, bytes, full, again);
        else
          copy_bulk_to_all(to + r * LINE, from, bytes, full, again,
                           MUTANT(grouped_one_block) ? 1 << rank : (1 << CLUSTER) - 1);
      }
      for (int r = lane; r < rowsB; r += 32)
        copy_bulk(to + (BM + r) * LINE, p.b + (long long)(n0 + r) * (p.k / 2) + 32 * slab, bytes,
                  full, first);
      if (lane == 0) {
        const unsigned char* from = p.sfa + ((long long)(m0 / 128) * slabs + slab) * 512;
        if (CLUSTER == 1) copy_bulk(to + ROWS, from, scales, full, again);
        else if (rank == 0)
          copy_bulk_to_all(to + ROWS, from, scales, full, again, (1 << CLUSTER) - 1);
        copy_bulk(to + ROWS + 2048, p.sfb + ((long long)tileB * slabs + slab) * 512, scales, full,
                  first);
      }
    }
  }
}

// The warps that multiply: each has 32 rows of A and 64 of B of the tile.

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

extern "C" __global__ void __launch_bounds__(BLOCK, 1)
ring(const Problem* problems, int count, unsigned* counter, int last, int mmajor) {
  unsigned base = shared_address(memory);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      barrier_init(base + BARRIERS + 16 * s, 1);
      barrier_init(base + BARRIERS + 16 * s + 8, WARPS * (MUTANT(grouped_few_arrivals) ? 1 : CLUSTER));
    }
    for (int s = 0; s < SLOTS; s++) {
      barrier_init(base + TICKETS + 8 + 8 * s, 1);
      barrier_init(base + TICKETS + 24 + 8 * s, (WARPS + 1) * CLUSTER);
    }
    if (!MUTANT(grouped_no_fence)) barrier_made();
  }
  if (CLUSTER == 1 || MUTANT(grouped_early_start)) __syncthreads();
  else cluster_sync();
  List list = {problems, count, mmajor};
  if (threadIdx.x < 32 * WARPS) consume(list, base);
  else produce(list, base, counter, last);
  if (CLUSTER > 1) {
    __syncwarp();
    // Others write to this block's memory until they are done.
    if (!MUTANT(grouped_early_exit)) cluster_sync();
  }
}
