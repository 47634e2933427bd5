// C = A . B^T for a list of problems: weights are the rows of the tensor cores' product, tokens
// its columns, of which there may be any multiple of STEP.
//
// Idea: without an FP4 unit each weight must become fp16, once for up to MAXN tokens, and never
// leaves registers: a warp copies its own 16 rows into a ring of its own, which needs no barrier,
// and makes of them the register operands of wgmma. Warpgroups take turns at the tensor cores, so
// that while one decodes the others multiply. Tokens come from tokens.cu by one bulk copy a slab of
// 64 elements of K. Which block computes what, and that the heaviest come first, is decided on the
// host, where the sizes are known.
//
// Compile-time: MAXN, LEAST and STEP (tokens of a tile), WARPGROUPS (of 64 rows of weights each: 4,
// or fewer with more tokens), KGROUPS (2: each half of them has the same rows and a half of K),
// STAGES (slabs of tokens in flight), PIECES (whether tiles may be cut along K, for any blocks),
// MMAJOR (how C lies: its rows are those of the weights).
//   block 128 * WARPGROUPS + 128
#include "../../common/mutant.h"
#include "../../device/ptx_barrier.h"
#include "../../device/ptx_memory.h"
#include "../../device/ptx_mma.h"
#include "nvfp4.cuh"

// Slabs of weights that a warp has places for, and that it copies at a time.
constexpr int WEIGHTS = 8, SPAN = 2;
constexpr int CONSUMERS = 128 * WARPGROUPS, WARPS = CONSUMERS / 32;
// Registers that a lone producer does not need go to the sums.
constexpr int MANY = WARPGROUPS == 2 ? 240 : 112, FEW = WARPGROUPS == 2 ? 24 : 32;
// Warps that have the same slabs, rows of weights and tiles of their scales.
constexpr int SHARERS = WARPS / KGROUPS, ROWS = 16 * SHARERS, SCALE_TILES = ROWS / 128;
static_assert(ROWS % 128 == 0, "scales come by tiles of 128 rows");
constexpr int SLAB = MAXN * 128, OWN = WEIGHTS * 512, PATCH = 16 * 48;
// A warp sends half of its sums to the one that has the other half of K.
constexpr int MEETING = KGROUPS == 1 ? 0 : (MAXN / 8 + 1) / 2 * 512;
constexpr int SCALES = STAGES * SLAB, RING = SCALES + STAGES * SCALE_TILES * 512,
              PATCHES = RING + WARPS * OWN, MEETINGS = PATCHES + WARPS * PATCH,
              BARRIERS = MEETINGS + SHARERS * MEETING;
// A warp has a slab's stage until it has loaded its part of the next one.
static_assert(STAGES % KGROUPS == 0 && STAGES >= 2 * KGROUPS, "stages for each part of K");

SHARED_MEMORY(1024); // where swizzle atoms start

// A tile: rows of weights from `row` on, tokens from `token` on. After the last one of a block
// comes one with k = 0.
struct Item {
  const unsigned char *b, *sfb;
  unsigned short* c;
  const unsigned char* tokens; // packed, of the first slab
  int m, n, k, row, token, cols;
  int slab, slabs; // bytes between two slabs of tokens; slabs of K, pointers are to the first
  // Of a tile of which several blocks have a piece of K each: their sums, how many of them each warp
  // waits for, and which piece this is.
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

// One thread for each part of K.
__device__ inline void produce(const Item* items, int at, unsigned base, int group) {
  // Items and scales are asked for before it waits for tokens.cu.
  bool waits = true;
  unsigned long long policy = evict_normal();
  Stage stage(base, group);
#pragma unroll 1
  for (; items[at].k; at++) {
    const Item& item = items[at];
    Part k(item, group);
    int row = item.row, tile = item.k / 64 * 512, slab = item.slab, bytes = item.cols * 128;
    const unsigned char* scales = item.sfb + k.first * 512 + (long long)(row / 128) * tile;
    // Scales of rows that do not exist are any others.
    int more = row + 128 < item.n ? tile : 0;
    long long before = MUTANT(best_same_tokens) ? 0 : (long long)k.first * slab;
    const unsigned char* tokens = item.tokens + before;
#pragma unroll 1
    for (; k.count > 0; k.count--, stage.next()) {
      if (!MUTANT(best_early_refill)) barrier_wait(stage.empty(), stage.phase ^ 1);
      barrier_expect(stage.full(), bytes + 512 * (MUTANT(best_few_bytes) ? 0 : SCALE_TILES));
#pragma unroll
      for (int i = 0; i < SCALE_TILES; i++)
        copy_bulk(stage.scales() + 512 * i, scales + (MUTANT(best_same_scales) ? 0 : i) * more, 512,
                  stage.full(), policy);
      if (waits && !MUTANT(best_no_launch_wait)) wait_for_prerequisites();
      waits = false;
      copy_bulk(stage.tokens(), tokens, bytes, stage.full(), policy);
      scales += 512;
      tokens += slab;
    }
  }
}

// Tells the producer that the warp has read a stage.
__device__ __forceinline__ void release(const Stage& stage) {
  if (!MUTANT(best_early_release)) __syncwarp(); // all lanes have read its scales
  if (threadIdx.x % 32 == 0) barrier_arrive(stage.empty());
}

#include "best_warp.cuh"
#include "best_tile.cuh"

extern "C" __global__ void __launch_bounds__(CONSUMERS + 128, 1)
best(const Item* items, const int* first) {
  unsigned base = shared_address(memory);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      barrier_init(base + BARRIERS + 8 * s, 1);
      int arrivals = MUTANT(best_all_parts) ? WARPS : SHARERS;
      barrier_init(base + BARRIERS + 8 * (STAGES + s), arrivals - MUTANT(best_few_arrivals));
    }
    barrier_made();
  }
  __syncthreads();
  if (threadIdx.x < CONSUMERS) {
    raise_registers<MANY>();
    consume(items, first[blockIdx.x], base);
  } else {
    lower_registers<FEW>();
    int group = threadIdx.x / 32 - WARPS;
    if (group < KGROUPS && threadIdx.x % 32 == 0)
      produce(items, first[blockIdx.x], base, group);
  }
}
