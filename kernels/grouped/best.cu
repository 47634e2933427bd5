// C = A . B^T for a list of problems: weights are the rows of the tensor cores' product, tokens
// its columns, of which there may be any multiple of STEP.
//
// Idea: without an FP4 unit each weight must become fp16, once for up to MAXN tokens, and never
// leaves registers: a warp copies its own 16 rows of a slab of K into a ring of its own, which
// needs no barrier, and makes of them the register operands of wgmma while the tensor cores are at
// work on the slab before and on the other warpgroup's. Tokens come from
// tokens.cu by one bulk copy a slab, to all blocks of a cluster at once: those have the same
// tokens and other weights. Which cluster computes what, and that the heaviest come first, is
// decided on the host, where the sizes are known.
//
// Compile-time: MAXN and STEP (tokens of a tile), STAGES (slabs of tokens in flight), WEIGHTS
// (slabs of weights in flight), CLUSTER. grid CLUSTER * clusters, block 384.
#include "../api/ptx_barrier.h"
#include "../api/ptx_cluster.h"
#include "../api/ptx_copy.h"
#include "../api/ptx_memory.h"
#include "../api/ptx_mma.h"
#include "../api/ptx_wgmma.h"
#include "nvfp4.cuh"

constexpr int ROWS = 128, CONSUMERS = 256, WARPS = CONSUMERS / 32;
constexpr int SLAB = MAXN * 128, OWN = CONSUMERS * 16, PATCH = 16 * 48;
constexpr int SCALES = STAGES * SLAB, RING = SCALES + STAGES * 512,
              PATCHES = RING + WEIGHTS * OWN, BARRIERS = PATCHES + WARPS * PATCH;

SHARED_MEMORY(1024); // where swizzle atoms start

// A tile: rows of weights from `row` on for each block of a cluster, tokens from `token` on.
struct Item {
  int problem, row, token, cols;
  long long base;   // of the problem's packed tokens
  int slab, unused; // bytes between two of its slabs
};

// What all blocks are given: the kernel's parameters, which take no registers.
struct Work {
  const Problem* problems;
  const Item* items;
  unsigned char* packed;
  int mmajor;
};
// The items of a cluster.
struct Range {
  int at, end;
};

// What follows from a thread's number would else be computed once for all tiles, for each size of
// them, and take registers from the sums.
__device__ __forceinline__ unsigned thread() { return thread_x_here(); }

// The place in the ring of tokens.
struct Stage {
  unsigned base;
  int index = 0, phase = 0;
  __device__ explicit Stage(unsigned base) : base(base) {}
  __device__ unsigned full() const { return base + BARRIERS + 8 * index; }
  __device__ unsigned empty() const { return base + BARRIERS + 8 * (STAGES + index); }
  __device__ unsigned tokens() const { return base + SLAB * index; }
  __device__ unsigned scales() const { return base + SCALES + 512 * index; }
  __device__ void next() {
    if (++index == STAGES) index = 0, phase ^= 1;
  }
};

// The first row of weights of this block; the last block may have none.
__device__ inline int row_of(const Item& item, unsigned rank) { return item.row + ROWS * rank; }

__device__ inline void produce(const Work& work, Range own, Stage stage, unsigned rank) {
  wait_for_prerequisites(); // tokens.cu
  unsigned long long once = evict_first(), again = evict_normal();
  for (; own.at < own.end; own.at++) {
    const Item item = work.items[own.at];
    const Problem& p = work.problems[item.problem];
    int slabs = p.k / 64, row = row_of(item, rank), part = item.cols * 128 / CLUSTER;
    const unsigned char* scales = p.sfb + (long long)(row < p.n ? row / 128 : 0) * slabs * 512;
    const unsigned char* tokens = work.packed + item.base + item.token * 128 + part * rank;
    for (int k = 0; k < slabs; k++, stage.next()) {
      barrier_wait(stage.empty(), stage.phase ^ 1);
      barrier_expect(stage.full(), item.cols * 128 + 512);
      copy_bulk(stage.scales(), scales + k * 512, 512, stage.full(), once);
      unsigned to = stage.tokens() + part * rank;
      const unsigned char* from = tokens + (long long)k * item.slab;
      if (CLUSTER == 1) copy_bulk(to, from, part, stage.full(), again);
      else copy_bulk_to_all(to, from, part, stage.full(), again, (1 << CLUSTER) - 1);
    }
  }
}

// A warp's weights on their way: 16 rows of 32 bytes a slab, of which a lane copies half of one.
struct Weights {
  const Work& work;
  Range own;
  const unsigned char* from;
  unsigned slot; // shared address of the warp's place in the ring; the lane's own is 16 bytes
  int left, place = 0;

  __device__ Weights(const Work& work, Range own, unsigned ring)
      : work(work), own(own), slot(ring + threadIdx.x / 32 * 512) {
    open();
  }
  __device__ void open() {
    if (own.at == own.end) return;
    const Item& item = work.items[own.at];
    const Problem& p = work.problems[item.problem];
    unsigned lane = thread() % 32;
    int row = row_of(item, cluster_rank()) + thread() / 32 * 16 + lane / 2;
    from = p.b + (long long)min(row, p.n - 1) * (p.k / 2) + lane % 2 * 16;
    left = p.k / 64;
  }
  // Starts the copy of the next slab, of the next tile where there is none in this.
  __device__ void fetch() {
    if (own.at < own.end) {
      // Past the first-level cache, which has no room for all the lines that are on their way.
      copy_async_16_line(slot + place * OWN + threadIdx.x % 32 * 16, from);
      from += 32;
      if (--left == 0) {
        own.at++;
        open();
      }
    }
    commit_copies();
    place = place + 1 == WEIGHTS ? 0 : place + 1;
  }
};

// Lane `rank` of a warp tells block `rank` that the warp has read a stage.
__device__ inline void release(const Stage& stage) {
  if (CLUSTER == 1) {
    if (threadIdx.x % 32 == 0) barrier_arrive(stage.empty());
  } else if (threadIdx.x % 32 < CLUSTER) barrier_arrive(stage.empty(), threadIdx.x % 32);
}

#include "best_tile.cuh"

extern "C" __global__ void __launch_bounds__(CONSUMERS + 128, 1)
best(const Problem* problems, const Item* items, const int* first, unsigned char* packed,
     int mmajor) {
  unsigned base = shared_address(memory), rank = CLUSTER == 1 ? 0 : cluster_rank();
  int cluster = blockIdx.x / CLUSTER;
  const Work work = {problems, items, packed, mmajor};
  Range own = {first[cluster], first[cluster + 1]};
  Stage stage(base);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      barrier_init(base + BARRIERS + 8 * s, 1);
      barrier_init(base + BARRIERS + 8 * (STAGES + s), WARPS * CLUSTER);
    }
    barrier_made();
  }
  if (CLUSTER == 1) __syncthreads();
  else cluster_sync();
  // Registers that a lone producer does not need go to the sums.
  if (threadIdx.x < CONSUMERS) {
    raise_registers<232>();
    consume(work, own, stage, rank);
  } else {
    lower_registers<40>();
    if (threadIdx.x == CONSUMERS) produce(work, own, stage, rank);
  }
  // A block's memory is written to by the others of its cluster until they are done.
  if (CLUSTER > 1) {
    __syncwarp();
    cluster_sync();
  }
}
