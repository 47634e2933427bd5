// C = A . B^T for a list of problems: weights are the rows of the tensor cores' product, tokens
// its columns, of which there may be any multiple of STEP.
//
// Idea: without an FP4 unit each weight must become fp16, once for up to MAXN tokens, and never
// leaves registers: a warp copies its own 16 rows into a ring of its own, which needs no barrier,
// and makes of them the register operands of wgmma. Four warpgroups take turns at the tensor
// cores, so that while one decodes the others multiply. Tokens come from tokens.cu by one bulk
// copy a slab of 64 elements of K, to all blocks of a cluster at once: those have the same tokens
// and other weights. Which cluster computes what, and that the heaviest come first, is decided on
// the host, where the sizes are known.
//
// Compile-time: MAXN, LEAST and STEP (tokens of a tile), KGROUPS (1: a block has 256 rows of
// weights; 2: it has 128, and each half of its warpgroups takes a half of K), STAGES (slabs of
// tokens in flight), WEIGHTS (places for slabs of weights), SPAN (slabs that are copied at a
// time), CLUSTER, PIECES (whether tiles may be cut along K too), MMAJOR (how C lies: its rows are
// those of the weights).
//   grid CLUSTER * clusters, block 640
#include "../../common/mutant.h"
#include "../../device/ptx_barrier.h"
#include "../../device/ptx_memory.h"
#include "../../device/ptx_mma.h"
#include "nvfp4.cuh"

constexpr int CONSUMERS = 512, WARPS = CONSUMERS / 32;
// Warps that have the same slabs, rows of weights and tiles of their scales.
constexpr int SHARERS = WARPS / KGROUPS, ROWS = 16 * SHARERS, SCALE_TILES = ROWS / 128;
constexpr int SLAB = MAXN * 128, OWN = WEIGHTS * 512, PATCH = 16 * 48;
// A warp sends half of its sums to the one that has the other half of K.
constexpr int MEETING = KGROUPS == 1 ? 0 : (MAXN / 8 + 1) / 2 * 512;
constexpr int SCALES = STAGES * SLAB, RING = SCALES + STAGES * SCALE_TILES * 512,
              PATCHES = RING + WARPS * OWN, MEETINGS = PATCHES + WARPS * PATCH,
              BARRIERS = MEETINGS + SHARERS * MEETING;
static_assert(WEIGHTS % SPAN == 0 && WEIGHTS > SPAN, "places for some that come, and some there");
// A warp has a slab's stage until it has loaded its part of the next one.
static_assert(STAGES % KGROUPS == 0 && STAGES >= 2 * KGROUPS, "stages for each part of K");

SHARED_MEMORY(1024); // where swizzle atoms start

// A tile: rows of weights from `row` on for each block of a cluster, tokens from `token` on. After
// the last one of a cluster comes one with k = 0.
struct Item {
  const unsigned char *b, *sfb;
  unsigned short* c;
  const unsigned char* tokens; // packed, of the first slab
  int m, n, k, row, token, cols;
  int slab, slabs; // bytes between two slabs of tokens; slabs of K, pointers are to the first
  // Of a tile of which several clusters have a piece of K each: their sums, how many of them each
  // warp waits for, and which piece this is.
  float* partial;
  unsigned* counters;
  int pieces, piece;
};

// What follows from a thread's number would else be computed once for all tiles, for each size of
// them, and take registers from the sums.
__device__ __forceinline__ unsigned thread() { return thread_x_here(); }

// The place in the ring of tokens. Each part of K has every KGROUPSth of the stages: warps that
// shared them and skipped some could take a phase of one for that before.
struct Stage {
  unsigned base;
  int index, phase = 0;
  __device__ Stage(unsigned base, int group) : base(base), index(group) {}
  __device__ unsigned full() const { return base + BARRIERS + 8 * index; }
  __device__ unsigned empty() const { return base + BARRIERS + 8 * (STAGES + index); }
  __device__ unsigned tokens() const { return base + SLAB * index; }
  __device__ unsigned scales() const { return base + SCALES + 512 * SCALE_TILES * index; }
  __device__ void next() {
    index += MUTANT(best_next_stage) ? 1 : KGROUPS;
    if (index >= STAGES) index -= STAGES, phase ^= 1;
  }
};

// A part of K of an item: its first slab, and how many; the last part may have fewer, or none.
struct Part {
  int first, count;
  __device__ Part(const Item& item, int group) {
    int slabs = item.slabs, most = (slabs + KGROUPS - 1) / KGROUPS;
    first = KGROUPS == 1 ? 0 : group * most;
    count = KGROUPS == 1 ? slabs : group ? slabs - most : most;
  }
};

// The number of this block in its cluster: as cluster_rank() says, but no register is kept for it.
__device__ __forceinline__ unsigned rank() { return CLUSTER == 1 ? 0 : blockIdx.x % CLUSTER; }

// The first row of weights of this block; the last block may have none.
__device__ inline int row_of(const Item& item) { return item.row + ROWS * rank(); }

// One thread for each part of K.
__device__ inline void produce(const Item* items, int at, unsigned base, int group) {
  if (!MUTANT(best_no_launch_wait)) wait_for_prerequisites(); // tokens.cu
  unsigned long long policy = evict_normal();
  Stage stage(base, group);
#pragma unroll 1
  for (; items[at].k; at++) {
    const Item& item = items[at];
    Part k(item, group);
    int row = row_of(item), tile = item.k / 64 * 512, slab = item.slab;
    int bytes = item.cols * 128, part = bytes / CLUSTER * rank();
    // Scales of rows that do not exist are any others.
    const unsigned char* scales = item.sfb + k.first * 512;
    if (row < item.n) scales += (long long)(row / 128) * tile;
    int more = row + 128 < item.n ? tile : 0;
    long long before = MUTANT(best_same_tokens) ? 0 : (long long)k.first * slab;
    const unsigned char* tokens = item.tokens + before + part;
#pragma unroll 1
    for (; k.count > 0; k.count--, stage.next()) {
      if (!MUTANT(best_early_refill)) barrier_wait(stage.empty(), stage.phase ^ 1);
      barrier_expect(stage.full(), bytes + 512 * (MUTANT(best_few_bytes) ? 0 : SCALE_TILES));
#pragma unroll
      for (int i = 0; i < SCALE_TILES; i++)
        copy_bulk(stage.scales() + 512 * i, scales + (MUTANT(best_same_scales) ? 0 : i) * more, 512,
                  stage.full(), policy);
      unsigned to = stage.tokens() + part;
      if (CLUSTER == 1) copy_bulk(to, tokens, bytes, stage.full(), policy);
      else
        copy_bulk_to_all(to, tokens, bytes / CLUSTER, stage.full(), policy,
                         MUTANT(best_one_block) ? 1 << rank() : (1 << CLUSTER) - 1);
      scales += 512;
      tokens += slab;
    }
  }
}

// Lane `rank` of a warp tells block `rank` that the warp has read a stage.
__device__ __forceinline__ void release(const Stage& stage) {
  if (!MUTANT(best_early_release)) __syncwarp(); // all lanes have read its scales
  if (CLUSTER == 1) {
    if (threadIdx.x % 32 == 0) barrier_arrive(stage.empty());
  } else if (threadIdx.x % 32 < CLUSTER) barrier_arrive(stage.empty(), threadIdx.x % 32);
}

#include "best_warp.cuh"
#include "best_tile.cuh"

extern "C" __global__ void __launch_bounds__(CONSUMERS + 128, 1)
best(const Item* items, const int* first) {
  unsigned base = shared_address(memory);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      barrier_init(base + BARRIERS + 8 * s, 1);
      int arrivals = (MUTANT(best_all_parts) ? WARPS : SHARERS) * CLUSTER;
      barrier_init(base + BARRIERS + 8 * (STAGES + s), arrivals - MUTANT(best_few_arrivals));
    }
    barrier_made();
  }
  if (CLUSTER == 1) __syncthreads();
  else cluster_sync();
  // Registers that a lone producer does not need go to the sums: 640 threads of 96 have as many
  // as 512 of 112 and 128 of 32.
  if (threadIdx.x < CONSUMERS) {
    raise_registers<112>();
    consume(items, first[blockIdx.x / CLUSTER], base);
  } else {
    lower_registers<32>();
    int group = threadIdx.x / 32 - WARPS;
    if (group < KGROUPS && threadIdx.x % 32 == 0)
      produce(items, first[blockIdx.x / CLUSTER], base, group);
  }
  // A block's memory is written to by the others of its cluster until they are done.
  if (CLUSTER > 1) {
    __syncwarp();
    if (!MUTANT(best_early_exit)) cluster_sync();
  }
}
