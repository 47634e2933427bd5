// A tile of best.cu: its sums.
#ifndef GROUPED_BEST_TILE
#define GROUPED_BEST_TILE
#include "../../common/mutant.h"

// The slabs of a tile that are this warp's. There is one operand: the other warpgroups multiply
// while it is decoded.
template <int N>
struct Slabs {
  float d[N / 2];
  unsigned a[16];
  Weights& weights;
  Stage& next; // of the slab to load
  unsigned& place; // of its weights
  unsigned own, scale; // where the lane's words are, and its scales in the stage's

  // Zeros for the sums: registers without values would be taken at all times, for every N, and
  // so would be zeros that the compiler may share.
  __device__ __forceinline__ Slabs(Weights& weights, Stage& stage, unsigned& place)
      : weights(weights), next(stage), place(place) {
    unsigned t = thread(), row = t / 32 % SHARERS * 16 + t % 32 / 4;
    own = weights.slot + t % 32 * 8;
    scale = row / 128 * 512 + row % 32 * 16 + row % 128 / 32 * 4 + t % 4;
#pragma unroll
    for (int i = 0; i < N / 2; i++) zero_here(d[i]);
  }

  // The lane's part of the next slab, and its scales when the stage has come. Slabs come in pairs,
  // ODD is the second one.
  template <int ODD>
  __device__ __forceinline__ Bytes load() {
    if (ODD == 0) {
      wait_copies<WEIGHTS / SPAN - 2 + MUTANT(best_late_wait)>();
      // All lanes' copies are there, and all have read the place that is next.
      if (!MUTANT(best_no_warp_barrier)) __syncwarp();
      weights.fetch((place ? place : WEIGHTS) - SPAN);
    }
    Bytes bytes((own ^ ODD * 32) + place * 512);
    place++;
    if (ODD && place == WEIGHTS) place = 0;
    if (!MUTANT(best_no_wait)) barrier_wait(next.full(), next.phase);
    return bytes;
  }
  // Rows r and r + 8 of a tile of scales are 128 bytes apart.
  __device__ __forceinline__ unsigned scales() const {
    unsigned codes = next.scales() + scale;
    return e4m3_to_2f16(load_shared_u8(codes) | load_shared_u8(codes + 128) << 8);
  }
  __device__ __forceinline__ void multiply(const Stage& now) {
    if (!MUTANT(best_no_fence)) wgmma_fence();
#pragma unroll
    for (int j = 0; j < 4; j++) wgmma<N>(d, a + 4 * j, descriptor(now.tokens(), j));
    if (!MUTANT(best_no_commit)) wgmma_commit();
  }
  // Multiplies a slab, and decodes the next one meanwhile.
  template <int ODD>
  __device__ __forceinline__ void step() {
    Stage now = next;
    next.next();
    multiply(now);
    // In statements of their own: as operands of one, nvcc reads the scales before it waits.
    Bytes bytes = load<!ODD>();
    unsigned both = scales();
    if (!MUTANT(best_early_decode)) wgmma_wait<0>();
    if (!MUTANT(best_no_release)) release(now);
    bytes.decode(a, both);
  }
  // All slabs of the tile that are this warp's.
  __device__ __forceinline__ void run(int left) {
    if (KGROUPS == 1 || left > 0) {
      Bytes first = load<0>();
      unsigned under = scales();
      first.decode(a, under);
#pragma unroll 1
      for (; left > 2; left -= 2) {
        step<0>();
        step<1>();
      }
      if (left == 2) step<0>();
      multiply(next);
      if (!MUTANT(best_no_last_wait)) wgmma_wait<0>();
      if (!MUTANT(best_no_last_release)) release(next);
      next.next();
    }
#pragma unroll
    for (int i = 0; i < N / 2; i++) not_before(d[i]);
    // What is copied at a time is of one tile.
    if (!MUTANT(best_part_place)) place = (place + SPAN - 1) / SPAN * SPAN % WEIGHTS;
  }
};

template <int N>
__device__ __forceinline__ void tile(const Item& item, Weights& weights,
                                     Stage& stage, unsigned& place) {
  Slabs<N> slabs(weights, stage, place);
  slabs.run(Part(item, MUTANT(best_same_count) ? 0 : part_of_k()).count);
  int warp = thread() / 32, row = item.row + warp % SHARERS * 16;
  unsigned patch = stage.base + PATCHES + warp * PATCH;
  constexpr int FIRST = Split<N>::FIRST, ALL = Split<N>::ALL;
  if (KGROUPS > 1) meet<N>(slabs.d, stage.base, part_of_k());
  int before = part_of_k() * FIRST;
  if (PIECES && item.pieces > 1 && !gather<FIRST>(slabs.d, item, warp)) return;
  store<FIRST>(slabs.d, item, patch, row, item.token + 8 * before, before ? ALL - FIRST : FIRST);
}

// A tile of N tokens or fewer, LEAST at least.
template <int N>
__device__ __forceinline__ void tile_of(const Item& item, Weights& weights,
                                        Stage& stage, unsigned& place) {
  if (item.cols == N) tile<N>(item, weights, stage, place);
  else if constexpr (N > LEAST) tile_of<N - STEP>(item, weights, stage, place);
}

__device__ __forceinline__ void consume(const Item* items, int at, unsigned base) {
  Weights weights(items, at, base);
  Stage stage(base, part_of_k());
#pragma unroll 1
  for (int p = 0; p < WEIGHTS - SPAN; p += SPAN) weights.fetch(p);
  unsigned place = 0;
  for (const Item* item = items + at; item->k; item++)
    tile_of<MAXN>(*item, weights, stage, place);
}

#endif
