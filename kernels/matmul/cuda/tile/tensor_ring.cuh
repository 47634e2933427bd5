// A ring of K steps that tensor maps fill, for products of warpgroups.
//
// Compile-time: warps.cuh's with WARPGROUPS, BK, STAGES, and cluster_reduce.cuh's CLUSTER, TILES_M,
// TILES_N.
#ifndef MNKBENCH_TENSOR_RING
#define MNKBENCH_TENSOR_RING
#include "cluster_reduce.cuh"
#include "../../../device/ptx_mma.h"

// Elements of a row that lie together: 128 bytes. A box of B has all columns of a tile, or, where B is
// stored by rows (nn), all rows of a step.
constexpr int BOX = 128 / sizeof(TYPE), LINES_B = NT ? BN : BK;
static_assert(BK % BOX == 0, "a step is whole boxes");

// A ring of K steps, which a warp of its own fills by tensor maps: one lane of it asks for a step as
// soon as all who multiply have read what was there. Of each stage one mbarrier counts the bytes
// that have come, and one the warps that have read them.
//
// Blocks of a cluster that read the same rows at the same K ask for an equal part of them each, which
// comes to all of them (multicast): the cache is read once for them.
//
// Boxes have no rows beyond those of a small A, which copies would be slow to fill with zeros: those
// who multiply do so once.
template <class Mma>
struct TensorRing {
  using TiledMma = Mma;
  // Bytes of a stage, of either operand box after box.
  static constexpr int BYTES_A = BM * BK / BOX * 128, BYTES_B = BN * BK / BOX * 128;
  static constexpr int STAGE = BYTES_A + BYTES_B, BARRIERS = STAGES * STAGE;
  static constexpr int ROOM = BARRIERS + STAGES * 16;
  // The warp that copies comes after those that multiply.
  static constexpr int BLOCK = THREADS + 32;
  // Blocks that read the same rows of A, or of B: of a row of the cluster's tiles, or of a column.
  static constexpr int ACROSS = TILES_N, DOWN = TILES_M, SHARERS = ACROSS + DOWN - 1;
  static_assert(BM % (8 * ACROSS) == 0 && LINES_B % (8 * DOWN) == 0, "parts are whole swizzle atoms");

  // Its tile among those of the cluster, and its slice.
  int down, across, slice;
  __device__ TensorRing() {
    int rank = TILES > 1 ? cluster_rank() : 0, tile = rank / CLUSTER;
    down = tile / TILES_N, across = tile % TILES_N, slice = rank % CLUSTER;
  }
  __device__ int rank(int down, int across) const {
    return (down * TILES_N + across) * CLUSTER + slice;
  }
  // The block that shares A, or B, with this one, by a number below SHARERS.
  __device__ int sharer(int i) const {
    if (i < ACROSS) return rank(down, i);
    i -= ACROSS;
    return rank(i + (i >= down), across);
  }

  // Rows of A in a stage, of `M` that there are.
  __device__ static int rows_of(int M) {
    constexpr int WHOLE = 8 * ACROSS;
    return min(BM, (M + WHOLE - 1) / WHOLE * WHOLE);
  }
  // The rows of A that no copy fills.
  __device__ static void clear(unsigned ring, int rows) {
    int chunks = (BM - rows) * 8;
#pragma unroll 1
    for (int i = threadIdx.x; i < STAGES * (BK / BOX) * chunks; i += THREADS) {
      int stage = i / chunks / (BK / BOX), box = i / chunks % (BK / BOX);
      store_shared(ring + stage * STAGE + (box * BM + rows) * 128 + i % chunks * 16, uint4{});
    }
    if (!MUTANT(tma_no_proxy_fence)) show_products();
  }

  // Of this block's part of `rows` rows of ROWS from `row` on, shared by MANY, the K step at `k`.
  template <int ROWS, int MANY>
  __device__ static void copy(const TensorMap* map, unsigned to, int row, int rows, int k, int part,
                              unsigned mask, unsigned bar) {
    int own = rows / MANY;
    if (!MUTANT(tma_same_part)) to += part * own * 128, row += part * own;
#pragma unroll
    for (int box = 0; box < BK / BOX; box++) {
      unsigned there = to + (MUTANT(tma_same_place) ? 0 : box) * ROWS * 128;
      int column = k + (MUTANT(tma_same_box) ? 0 : box) * BOX;
      if (MANY > 1) copy_tile_to_all(there, map, column, row, bar, mask);
      else copy_tile(there, map, column, row, bar);
    }
  }
  __device__ void copy_a(const TensorMap* A, int m0, int rows, int k, unsigned to,
                         unsigned bar) const {
    unsigned mask = 0;
#pragma unroll
    for (int i = 0; i < ACROSS; i++) mask |= 1u << rank(down, i);
    copy<BM, ACROSS>(A, to, m0, rows, k, across, mask, bar);
  }
  __device__ void copy_b(const TensorMap* B, int n0, int k, unsigned to, unsigned bar) const {
    unsigned mask = 0;
#pragma unroll
    for (int i = 0; i < DOWN; i++) mask |= 1u << rank(i, across);
    if constexpr (NT) {
      copy<BN, DOWN>(B, to + BYTES_A, n0, BN, k, down, mask, bar);
      return;
    }
    constexpr int OWN = BK / DOWN;
    int first = MUTANT(tma_nn_same_part) ? 0 : down * OWN;
#pragma unroll
    for (int box = 0; box < BN / BOX; box++) {
      unsigned there = to + BYTES_A + box * BK * 128 + first * 128;
      int column = n0 + (MUTANT(tma_nn_same_box) ? 0 : box) * BOX;
      if (DOWN > 1) copy_tile_to_all(there, B, column, k + first, bar, mask);
      else copy_tile(there, B, column, k + first, bar);
    }
  }

  // False for the warp that copies: it has no sums. `sizes.M`: the rows of A.
  template <bool WHOLE, class Sizes, class Work>
  __device__ static bool run(TiledMma& product, const TensorMap* A, const TensorMap* B, int m0,
                             int n0, int k0, int length, const Sizes& sizes, int early,
                             Work meanwhile) {
    TensorRing self;
    int rows = rows_of(sizes.M);
    unsigned ring = shared_address(memory), come = ring + BARRIERS, read = come + STAGES * 8;
    int steps = length > BK ? (length + BK - 1) / BK : 1;
    bool copies = threadIdx.x == THREADS;
    auto expect = [&](int s) {
      int bytes = rows * BK / BOX * 128;
      barrier_expect(come + s * 8, bytes + (MUTANT(tma_few_bytes) ? 0 : BYTES_B));
    };
    auto ask_a = [&](int step, int s) {
      self.copy_a(A, m0, rows, k0 + step * BK, ring + s * STAGE, come + s * 8);
    };
    auto ask_b = [&](int step, int s) {
      self.copy_b(B, n0, k0 + step * BK, ring + s * STAGE, come + s * 8);
    };
    auto first = [&](auto ask) {
#pragma unroll
      for (int s = 0; s < STAGES; s++)
        if (s == 0 || s < steps) ask(s, s);
    };
    if (copies) {
#pragma unroll
      for (int s = 0; s < STAGES; s++) {
        barrier_init(come + s * 8, 1);
        int readers = MUTANT(tma_one_warp) ? 1 : MUTANT(tma_one_warpgroup) ? 4 : WARPS;
        barrier_init(read + s * 8, readers * (MUTANT(tma_one_sharer) ? 1 : SHARERS));
      }
      if (!MUTANT(tma_no_fence)) barrier_made();
      // What comes to this block alone need not wait for others, and B not for the previous launch.
      auto own_b = [&](int step, int s) {
        expect(s);
        if (DOWN == 1) ask_b(step, s);
      };
      auto own_a = [&](int step, int s) {
        if (ACROSS == 1) ask_a(step, s);
      };
      if (early) {
        first(own_b);
        if (!MUTANT(tma_no_launch_wait)) wait_for_prerequisites();
        first(own_a);
      } else {
        first([&](int step, int s) { own_b(step, s), own_a(step, s); });
      }
    }
    meanwhile();
    if (rows < BM && threadIdx.x < THREADS) clear(ring, rows);
    // All see the barriers, and that.
    if (TILES == 1 && !MUTANT(tma_no_barrier)) __syncthreads();
    if (TILES > 1 && !MUTANT(tma_no_cluster_barrier)) cluster_wait();
    // Its arrival was before that, and a relaxed one.
    if (TILES > 1 && rows < BM && threadIdx.x < THREADS) sync_some<THREADS>(1);
    if (TILES > 1 && copies)
      first([&](int step, int s) {
        if (DOWN > 1) ask_b(step, s);
        if (ACROSS > 1) ask_a(step, s);
      });
    // The next launch may start: it asks for its own B.
    launch_dependents();
    int stage = 0, parity = 0;
    if (threadIdx.x >= THREADS) {
#pragma unroll 1
      for (int step = STAGES; copies && step < steps; step++) {
        if (!MUTANT(tma_early_refill)) barrier_wait(read + stage * 8, parity);
        expect(stage);
        ask_b(step, stage);
        ask_a(step, stage);
        if (++stage == STAGES) stage = 0, parity ^= !MUTANT(tma_same_empty_phase);
      }
      __syncwarp();
      if (CLUSTER > 1 && TILES == 1) cluster_wait();
      return false;
    }
    // A stage has been read when the products of the next one are all that is under way: where
    // there is a next one, so are two stages. Those that start() waits for have read their own.
    int before = 0, lane = threadIdx.x % 32, sharer = self.sharer(lane);
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
      unsigned from = ring + stage * STAGE;
      if (!MUTANT(tma_no_wait)) barrier_wait(come + stage * 8, parity);
      product.start(from, from + BYTES_A);
      wgmma_wait<1 + MUTANT(tma_late_wait)>();
      __syncwarp();
      constexpr int BEHIND = TiledMma::BEHIND;
      if (step >= BEHIND && step - BEHIND + STAGES < steps) {
        unsigned bar = read + (MUTANT(tma_early_release) || !BEHIND ? stage : before) * 8;
        if (TILES == 1 && lane == 0) barrier_arrive(bar);
        if (TILES > 1 && lane < SHARERS) barrier_arrive(bar, sharer);
      }
      before = stage;
      if (++stage == STAGES) stage = 0, parity ^= !MUTANT(tma_same_full_phase);
    }
    if (!MUTANT(tma_no_finish)) product.finish();
    product.meet();
    return true;
  }
};

#endif
