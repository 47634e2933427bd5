// C = A . B^T for a list of problems: weights are the rows of the tensor cores' product, tokens
// its columns, of which there may be any multiple of STEP.
//
// Idea: without an FP4 unit each weight must become fp16, once for up to MAXN tokens, and never
// leaves registers: a warp makes of its own 16 rows the register operands of wgmma. Warpgroups take
// turns at the tensor cores, so that while one decodes the others multiply. A stage is 128 of K,
// two slabs: weights by a tensor map, their scales, and tokens as tokens.cu made them, all asked
// for by one thread. A lane has 16 bytes of a row of a stage, half of them for each slab. Which
// block computes what, and that the heaviest come first, is decided on the host, where the sizes
// are known.
//
// Compile-time: MAXN, LEAST and STEP (tokens of a tile), WARPGROUPS (of 64 rows of weights each: 4,
// or 2 with more tokens), STAGES, PIECES (whether tiles may be cut along K, for any blocks),
// MMAJOR (how C lies: its rows are those of the weights).
//   block 128 * WARPGROUPS + 128
#include "../../common/mutant.h"
#include "../../device/ptx_barrier.h"
#include "../../device/ptx_memory.h"
#include "../../device/ptx_mma.h"
#include "../../device/ptx_prefetch.h"
#include "nvfp4.cuh"

constexpr int CONSUMERS = 128 * WARPGROUPS, WARPS = CONSUMERS / 32;
// Registers that a lone producer does not need go to the sums.
constexpr int MANY = WARPGROUPS == 2 ? 232 : 112, FEW = WARPGROUPS == 2 ? 40 : 32;
constexpr int ROWS = 16 * WARPS, SCALE_TILES = ROWS / 128;
static_assert(ROWS % 128 == 0, "scales come by tiles of 128 rows");
constexpr int SLAB = MAXN * 128, ROW = 64, PATCH = 16 * 48;
// Of a stage: tokens, two slabs; weights, rows of 64 bytes; scales, two slabs of each tile of rows.
constexpr int WEIGHTS = 2 * SLAB, SCALES = WEIGHTS + ROWS * ROW, TILE = 1024,
              STAGE = SCALES + SCALE_TILES * TILE;
constexpr int PATCHES = STAGES * STAGE, BARRIERS = PATCHES + WARPS * PATCH;
static_assert(STAGES >= 2, "a stage is read while the next one is loaded");

SHARED_MEMORY(1024); // where swizzle atoms start

// A tile: rows of weights from `row` on, tokens from `token` on. After the last one of a block
// comes one with k = 0.
struct Item {
  const TensorMap* map; // of the weights
  const unsigned char* sfb;
  unsigned short* c;
  const unsigned char* tokens; // packed, of the first slab
  // Of a tile of which several blocks have a piece of K each: their sums, how many of them each
  // warp waits for, and which piece this is.
  float* partial;
  unsigned* counters;
  int pieces, piece;
  int m, n, k, row, token, cols;
  int slab;         // bytes between two slabs of tokens
  int first, slabs; // of K, the first one even; `sfb` and `tokens` are of the first
  int unused;
};

// What follows from a thread's number would else be computed once for all tiles, for each size of
// them, and take registers from the sums.
__device__ __forceinline__ unsigned thread() { return thread_x_here(); }

// The place in the ring.
struct Stage {
  unsigned base;
  int index = 0, phase = 0;
  __device__ explicit Stage(unsigned base) : base(base) {}
  __device__ unsigned full() const { return base + BARRIERS + 8 * index; }
  __device__ unsigned empty() const { return base + BARRIERS + 8 * (STAGES + index); }
  __device__ unsigned at() const { return base + STAGE * index; }
  __device__ void next() {
    if (++index == STAGES) index = 0, phase ^= 1;
  }
};

// One thread.
__device__ inline void produce(const Item* item, unsigned base) {
  // Weights and scales are asked for before it waits for tokens.cu.
  bool waits = true;
  unsigned long long policy = evict_normal();
  Stage stage(base);
#pragma unroll 1
  for (; item->k; item++) {
    int row = item->row, tile = item->k / 64 * 512, slab = item->slab, bytes = item->cols * 128;
    const TensorMap* map = item->map;
    const unsigned char* scales = item->sfb + (long long)(row / 128) * tile;
    // Scales of rows that do not exist are any others.
    int more = row + 128 < item->n ? tile : 0, column = item->first * 32;
    const unsigned char* tokens = item->tokens;
    if (waits)
      for (int i = 1; i < STAGES; i++) prefetch_tile(map, column + ROW * i, row);
#pragma unroll 1
    for (int left = item->slabs; left > 0; left -= 2, stage.next()) {
      unsigned full = stage.full(), to = stage.at();
      if (!MUTANT(best_early_refill)) barrier_wait(stage.empty(), stage.phase ^ 1);
      barrier_expect(full, 2 * bytes + ROWS * ROW +
                               TILE * (MUTANT(best_few_bytes) ? 0 : SCALE_TILES));
      copy_tile(to + WEIGHTS, map, column, row, full);
#pragma unroll
      for (int i = 0; i < SCALE_TILES; i++) {
        const unsigned char* from = scales + (MUTANT(best_same_scales) ? 0 : i) * more;
        unsigned there = to + SCALES + TILE * i;
        // Of an odd slab at the end both halves have the scales: what they meet is 0.
        if (left > 1 || MUTANT(best_odd_scales)) {
          copy_bulk(there, from, TILE, full, policy);
        } else {
          copy_bulk(there, from, TILE / 2, full, policy);
          copy_bulk(there + TILE / 2, from, TILE / 2, full, policy);
        }
      }
      if (waits && !MUTANT(best_no_launch_wait)) wait_for_prerequisites();
      waits = false;
      copy_bulk(to, tokens, bytes, full, policy);
      copy_bulk(to + SLAB, tokens + slab, bytes, full, policy);
      scales += TILE;
      tokens += 2 * (long long)slab;
      if (!MUTANT(best_same_columns)) column += ROW;
    }
  }
}

// Tells the producer that the warp has read a stage.
__device__ __forceinline__ void release(const Stage& stage) {
  if (!MUTANT(best_early_release)) __syncwarp(); // all lanes have read it
  if (threadIdx.x % 32 == 0) barrier_arrive(stage.empty());
}

#include "best_warp.cuh"
#include "best_tile.cuh"

extern "C" __global__ void __launch_bounds__(CONSUMERS + 128, 1)
best(const Item* items, int most, const TensorMap* maps, int count) {
  unsigned base = shared_address(memory);
  int first = blockIdx.x * most;
  if (threadIdx.x == CONSUMERS) {
    for (int s = 0; s < STAGES; s++) {
      barrier_init(base + BARRIERS + 8 * s, 1);
      barrier_init(base + BARRIERS + 8 * (STAGES + s), WARPS - MUTANT(best_few_arrivals));
    }
    barrier_made();
  }
  // While the first item comes: its map would else be one more place to wait for.
  if (threadIdx.x / 32 == WARPS + 1)
    for (int i = threadIdx.x % 32; i < count; i += 32) prefetch_map(maps + i);
  __syncthreads();
  if (threadIdx.x < CONSUMERS) {
    raise_registers<MANY>();
    consume(items, first, base);
  } else {
    lower_registers<FEW>();
    if (threadIdx.x == CONSUMERS) produce(items + first, base);
  }
}
