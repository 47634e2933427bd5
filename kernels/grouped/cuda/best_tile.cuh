// A tile of best.cu: its sums.
#ifndef GROUPED_BEST_TILE
#define GROUPED_BEST_TILE
#include "../../common/mutant.h"

// The slabs of a tile. There is one operand: the other warpgroups multiply while it is decoded.
template <int N>
struct Slabs {
  float d[N / 2];
  unsigned a[16];
  Stage& stage; // whose first slab is decoded or multiplied
  unsigned own, scale; // where the lane's words are in a stage, and its scales
  unsigned codes;      // of scales of two slabs, in the upper half of the lower row

  // Zeros for the sums: registers without values would be taken at all times, for every N, and
  // so would be zeros that the compiler may share.
  __device__ __forceinline__ explicit Slabs(Stage& stage) : stage(stage) {
    unsigned t = thread(), row = t / 32 * 16 + t % 32 / 4, part = t % 4;
    // 16 bytes of rows r and r + 8 each, 8 of a slab: a block of the format.
    own = WEIGHTS + row * ROW + part * 16;
    scale = SCALES + row / 128 * TILE + part / 2 * 512 + row % 32 * 16 + row % 128 / 32 * 4 +
            part % 2 * 2;
#pragma unroll
    for (int i = 0; i < N / 2; i++) zero_here(d[i]);
  }

  // Waits for a stage, and loads its scales.
  __device__ __forceinline__ void load() {
    if (!MUTANT(best_no_wait)) barrier_wait(stage.full(), stage.phase);
    // Rows r and r + 8 of a tile of scales are 128 bytes apart.
    unsigned from = stage.at() + scale;
    codes = load_shared_u16_movable(from) | load_shared_u16_movable(from + 128) << 16;
  }
  // Of both rows, in fp16.
  template <int ODD>
  __device__ __forceinline__ unsigned scales() const {
    return e4m3_to_2f16(__byte_perm(codes, 0, ODD ? 0x4431 : 0x4420));
  }
  // Two of the four products of a slab.
  template <int FROM>
  __device__ __forceinline__ void products(unsigned tokens) {
    if (!MUTANT(best_no_fence)) wgmma_fence();
#pragma unroll
    for (int j = FROM; j < FROM + 2; j++) wgmma<N>(d, a + 4 * j, descriptor(tokens, j));
  }
  // Starts the products of a slab, the first two when their half of the operand is decoded.
  __device__ __forceinline__ void multiply(const Bytes& bytes, unsigned scales, unsigned tokens) {
    bytes.decode<0>(a, scales);
    products<0>(tokens);
    bytes.decode<2>(a, scales);
    products<2>(tokens);
    if (!MUTANT(best_no_commit)) wgmma_commit();
  }
  // All slabs of the tile; of an odd number, one of zeros follows. While a slab is multiplied, the
  // next one is loaded. Statements are their own: as operands of one, nvcc would read the scales
  // before it waits for them.
  __device__ __forceinline__ void run(int left) {
    load();
    Bytes first(stage.at() + own);
    multiply(first, scales<0>(), stage.at());
    Stage before = stage;
#pragma unroll 1
    for (;;) {
      Bytes odd(stage.at() + own + 8);
      unsigned both = scales<1>();
      if (!MUTANT(best_early_decode)) wgmma_wait<0>();
      multiply(odd, both, stage.at() + SLAB);
      before = stage;
      stage.next();
      left -= 2;
      if (left <= 0) break;
      load();
      Bytes even(stage.at() + own);
      both = scales<0>();
      if (!MUTANT(best_early_stage)) wgmma_wait<0>();
      if (!MUTANT(best_no_release)) release(before);
      multiply(even, both, stage.at());
    }
    if (!MUTANT(best_no_last_wait)) wgmma_wait<0>();
    if (!MUTANT(best_no_last_release)) release(before);
#pragma unroll
    for (int i = 0; i < N / 2; i++) not_before(d[i]);
  }
};

template <int N>
__device__ __forceinline__ void tile(const Item* items, int at, Stage& stage) {
  Slabs<N> slabs(stage);
  // The compiler is told that all lanes have as many, so the stage is known to be the same.
  slabs.run(__shfl_sync(~0u, items[at].slabs, 0));
  // Where the item is need not be kept while its slabs are multiplied.
  not_before(at);
  int warp = thread() / 32;
  if (PIECES && __shfl_sync(~0u, items[at].pieces, 0) > 1 && !gather(slabs.d, items[at], warp))
    return;
  not_before(at);
  const Item& item = items[at];
  store(slabs.d, item, stage.base + PATCHES + warp * PATCH, item.row + warp * 16, item.token);
}

// A tile of N tokens or fewer, LEAST at least.
template <int N>
__device__ __forceinline__ void tile_of(const Item* items, int at, Stage& stage) {
  if (__shfl_sync(~0u, items[at].cols, 0) == N) tile<N>(items, at, stage);
  else if constexpr (N > LEAST) tile_of<N - STEP>(items, at, stage);
}

__device__ __forceinline__ void consume(const Item* items, int at, unsigned base) {
  Stage stage(base);
#pragma unroll 1
  for (; __shfl_sync(~0u, items[at].k, 0); at++) tile_of<MAXN>(items, at, stage);
}

#endif
