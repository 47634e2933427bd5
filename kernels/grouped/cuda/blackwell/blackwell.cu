// C = A . B^T for a list of problems on tensor cores that take NVFP4 as it is stored.
//
// COMPILED AND NEVER RUN: no Blackwell was at hand. The lane emulator runs it, whose tcgen05 was
// written from PTX's documents and shares their misreadings, if any.
//
// Idea: nothing is decoded. Codes and scales go to shared memory as they are stored, scales on to
// tensor memory, and one thread issues the products, whose sums are in tensor memory too. Weights
// are the rows of a product, of which a block always has 128, tokens its columns, any multiple of
// 16. A tile is a block, so that another block of the multiprocessor multiplies while one stores;
// with PAIR = 2 it is two blocks, of a cluster, whose products are made together: each has 128 rows
// of weights and half of the tokens. With SHARE > 1 a cluster has as many tiles, of the same
// tokens, which its first block copies to all. Copies run ahead in a ring.
//
// Compile-time: MAXN (tokens of a tile), STAGES (steps of 256 elements of K in flight), TMA
// (threads that copy boxes by tensor maps; 0: all lanes of four warps copy 16 bytes each), PAIR,
// SHARE (one of the two is 1), STORE (bytes of a store of M-major sums: 16 or 32), COUNTER (1: a
// block or cluster takes tiles from `counter`, which starts at 0 and is 0 again in the end, until there are
// none).
// grid PAIR SHARE items, or with COUNTER any, block 160, clusters of PAIR SHARE. `maps`: four for
// each problem, see blackwell.ts.
#include "../../../common/mutant.h"
#include "../../../device/ptx_memory.h"
#include "../../../device/ptx_mma.h"
#include "../../../device/ptx_tcgen05.h"
#include "../../problem.h"
#include "encoders.h"

constexpr int STORERS = 128, BLOCKS = MAXN <= 128 ? 2 : 1, COLUMNS = tensor_columns(MAXN, STAGES);
constexpr int TOKENS = MAXN / PAIR; // of a stage
constexpr int CLUSTER = PAIR * SHARE;
constexpr unsigned short BOTH = MUTANT(blackwell_lone_commit) ? 1 : 3, ALL = (1 << CLUSTER) - 1;
constexpr int LAG = STAGES - 1; // steps on their way: one more would wait for itself

SHARED_MEMORY(1024); // where swizzle atoms start

// A tile, or those of a cluster: weights from `row` on, tokens from `token` on, a multiple of 64;
// `cols` of 16.
struct Item {
  int problem, row, token, cols;
};

__device__ inline unsigned stage_of(unsigned base, int step) {
  return base + ring_index(step, STAGES) * stage_bytes(MAXN, PAIR);
}
__device__ inline unsigned full_of(unsigned base, int step) {
  return base + full_offset(MAXN, PAIR, STAGES, ring_index(step, STAGES));
}
__device__ inline unsigned empty_of(unsigned base, int step) {
  return base + empty_offset(MAXN, PAIR, STAGES, ring_index(step, STAGES));
}
__device__ inline int rank_of() { return CLUSTER > 1 ? cluster_rank() : 0; }
__device__ inline int steps_of(const Problem& p) { return (p.k / SLAB + SLABS - 1) / SLABS; }
__device__ inline int slabs_of(const Problem& p, int step) {
  return min(SLABS, p.k / SLAB - step * SLABS);
}
// The first and the number of the atoms with scales of a tile's tokens.
__device__ inline int first_atom(const Item& item) { return item.token / 128; }
__device__ inline int atoms_of(const Item& item) {
  return (item.token + item.cols - 1) / 128 - first_atom(item) + 1;
}

// Rows of a step; eight lanes have a row, so that a lane's chunk stays where it is in its row.
__device__ inline void copy_rows(unsigned to, const unsigned char* from, int rows, int k) {
  int chunk = threadIdx.x % 8;
  for (int r = threadIdx.x / 8; r < rows; r += STORERS / 8)
    copy_async_16(to + operand_offset(r, chunk), from + (long long)r * (k / 2) + chunk * 16, true);
}
// Rows past the last of weights or tokens are not copied: they are not stored either.
__device__ inline void copy_step(const Problem& p, const Item& item, unsigned stage, int step) {
  int slab = step * SLABS, some = slabs_of(p, step), slabs = p.k / SLAB;
  if (threadIdx.x % 8 < 2 * some) {
    copy_rows(stage, p.b + (long long)item.row * (p.k / 2) + slab * 32, min(ROWS, p.n - item.row),
              p.k);
    copy_rows(stage + tokens_offset(), p.a + (long long)item.token * (p.k / 2) + slab * 32,
              min(item.cols, p.m - item.token), p.k);
  }
  int at = threadIdx.x * 16;
  if (at < some * ATOM) {
    copy_async_16(stage + weight_scales_offset(MAXN, PAIR, 0) + at,
                  p.sfb + ((long long)(item.row / ROWS) * slabs + slab) * ATOM + at, true);
    for (int i = 0; i < atoms_of(item); i++)
      copy_async_16(stage + token_scales_offset(MAXN, PAIR, i, 0) + at,
                    p.sfa + ((long long)(first_atom(item) + i) * slabs + slab) * ATOM + at, true);
  }
}

// The bytes of a step that thread `part` of TMA copies to a block: weights, tokens, or both.
__device__ inline int bytes_of(const Item& item, int part) {
  int weights = ROWS * LINE + SLABS * ATOM, tokens = TOKENS * LINE + atoms_of(item) * SLABS * ATOM;
  return TMA == 1 ? weights + tokens : part == 0 ? weights : tokens;
}
// What lies outside of a matrix comes as zeros and counts. The scales of a step's slabs past the
// last are those of the next rows, and are not used.
__device__ inline void copy_boxes(const Problem& p, const Item& item, const TensorMap* maps,
                                  unsigned base, int part, int before) {
  int rank = rank_of(), slabs = p.k / SLAB;
  unsigned long long once = evict_first(), again = evict_normal();
  for (int i = 0; i < 4; i++) acquire_map(maps + i);
  for (int step = 0; step < steps_of(p); step++) {
    unsigned full = full_of(base, before + step), to = stage_of(base, before + step);
    if (!MUTANT(blackwell_early_copy))
      barrier_wait(empty_of(base, before + step), empty_parity(before + step, STAGES));
    if (PAIR == 1 || rank == 0)
      barrier_expect(full, (PAIR - MUTANT(blackwell_half_bytes)) * bytes_of(item, part));
    int slab = step * SLABS;
    if (part == 0) {
      int row = item.row + rank * ROWS;
      copy_tile_for<PAIR>(to, maps, slab * 32, row, full, once);
      copy_tile_for<PAIR>(to + weight_scales_offset(MAXN, PAIR, 0), maps + 2, 0,
                          row / ROWS * slabs + slab, full, once);
    }
    if (part == TMA - 1 && SHARE > 1) {
      if (rank != 0) continue;
      copy_tile_to_all(to + tokens_offset(), maps + 1, slab * 32, item.token, full, ALL);
      for (int i = 0; i < atoms_of(item); i++)
        copy_tile_to_all(to + token_scales_offset(MAXN, PAIR, i, 0), maps + 3, 0,
                         (first_atom(item) + i) * slabs + slab, full, ALL);
    } else if (part == TMA - 1) {
      int token = item.token + (MUTANT(blackwell_same_tokens) ? 0 : rank * (item.cols / PAIR));
      copy_tile_for<PAIR>(to + tokens_offset(), maps + 1, slab * 32, token, full, again);
      for (int i = 0; i < atoms_of(item); i++)
        copy_tile_for<PAIR>(to + token_scales_offset(MAXN, PAIR, i, 0), maps + 3, 0,
                            (first_atom(item) + i) * slabs + slab, full, again);
    }
  }
}

__device__ inline void copy_all(const Problem& p, const Item& item, unsigned base, int before) {
  int steps = steps_of(p);
  for (int step = 0; step < steps + LAG; step++) {
    if (step < steps) {
      barrier_wait(empty_of(base, before + step), empty_parity(before + step, STAGES));
      copy_step(p, item, stage_of(base, before + step), step);
    }
    commit_copies(); // in the end of nothing, so that the count of groups stays that of steps
    if (step < LAG) continue;
    wait_copies<LAG + MUTANT(blackwell_late_wait)>();
    if (!MUTANT(blackwell_no_proxy_fence)) show_products();
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(full_of(base, before + step - LAG));
  }
}

// By one thread: each step's scales to tensor memory, then its products.
__device__ inline void multiply_all(const Problem& p, const Item& item, unsigned base,
                                    unsigned tensor, int before) {
  unsigned instruction = instruction_descriptor(ROWS * PAIR, item.cols);
  for (int step = 0; step < steps_of(p); step++) {
    int index = ring_index(before + step, STAGES), some = slabs_of(p, step);
    unsigned stage = stage_of(base, before + step);
    barrier_wait(full_of(base, before + step), full_parity(before + step, STAGES));
    tensor_fence_after();
    for (int s = 0; s < some; s++) {
      tensor_copy<PAIR>(tensor + weight_scales_column(MAXN, index, s),
                  scale_descriptor(stage + weight_scales_offset(MAXN, PAIR, s)));
      for (int i = 0; i < atoms_of(item); i++)
        tensor_copy<PAIR>(tensor + token_scales_column(MAXN, index, s, i),
                    scale_descriptor(stage + token_scales_offset(MAXN, PAIR, i, s)));
    }
    for (int s = 0; s < some; s++)
      tensor_multiply<PAIR>(tensor, operand_descriptor(stage, s),
                      operand_descriptor(stage + tokens_offset(), s), instruction,
                      tensor + weight_scales_column(MAXN, index, s),
                      tensor + token_scales_column(MAXN, index, s, 0) + token_shift(item.token),
                      step + s > 0);
    unsigned empty = empty_of(base, before + step);
    if (PAIR == 2) tensor_commit_to_all<PAIR>(empty, BOTH);
    // Also at the block that copies the tokens.
    else if (SHARE > 1)
      tensor_commit_to_all<PAIR>(empty, 1 << rank_of() | !MUTANT(blackwell_no_share));
    else tensor_commit(empty);
  }
  unsigned done = base + done_offset(MAXN, PAIR, STAGES);
  if (PAIR == 2) tensor_commit_to_all<PAIR>(done, 3);
  else tensor_commit(done);
}

// A lane has the sums of one row of weights: by rows of N, 32 lanes store 64 bytes side by side;
// M-major, a lane stores 16, or 32 where M is a multiple of as many.
__device__ inline void store_all(const Problem& p, const Item& item, unsigned tensor, int mmajor) {
  int row = item.row + threadIdx.x;
  if (!MUTANT(blackwell_same_rows)) row += rank_of() * ROWS;
  unsigned short* c = (unsigned short*)p.c;
  for (int col = 0; col < item.cols; col += 16) {
    float d[16];
    tensor_load(d, tensor_address(tensor, threadIdx.x / 32 * 32, col));
    unsigned x[8];
    for (int i = 0; i < 8; i++) x[i] = f32_to_2f16(d[2 * i], d[2 * i + 1]);
    if (row >= p.n) continue; // the loads are by whole warps
    int token = item.token + col;
    if (STORE == 32 && mmajor && p.m % (MUTANT(blackwell_odd_store) ? 8 : 16) == 0) {
      if (token < p.m) store_32_bytes(c + (long long)row * p.m + token, x);
      continue;
    }
    if (mmajor && p.m % 8 == 0) {
      uint4* to = (uint4*)(c + (long long)row * p.m + token);
      if (token < p.m) to[0] = make_uint4(x[0], x[1], x[2], x[3]);
      if (token + 8 < p.m) to[1] = make_uint4(x[4], x[5], x[6], x[7]);
      continue;
    }
#pragma unroll
    for (int i = 0; i < 16; i++)
      if (token + i < p.m)
        c[mmajor ? (long long)row * p.m + token + i : (long long)(token + i) * p.n + row] =
            x[i / 2] >> 16 * (i % 2);
  }
}

// All threads of the block, or of its cluster, meet.
__device__ inline void meet() {
  __syncwarp();
  tensor_fence_before();
  if constexpr (CLUSTER > 1) cluster_sync();
  else __syncthreads();
  tensor_fence_after();
}

extern "C" __global__ void __launch_bounds__(STORERS + 32, BLOCKS)
blackwell(const Problem* problems, const Item* items, const TensorMap* maps, int mmajor,
          unsigned* counter, int count) {
  unsigned base = shared_address(memory), slot = base + address_offset(MAXN, PAIR, STAGES);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      barrier_init(full_of(base, s), TMA ? TMA : STORERS / 32);
      barrier_init(empty_of(base, s), rank_of() == 0 && !MUTANT(blackwell_early_share) ? SHARE : 1);
    }
    barrier_init(base + done_offset(MAXN, PAIR, STAGES), 1);
    barrier_made();
  }
  if (threadIdx.x >= STORERS) tensor_alloc<PAIR>(slot, COLUMNS);
  meet();
  unsigned tensor = load_shared_u32(slot), next = slot + 4;
  int warp = threadIdx.x / 32, before = 0; // steps of other tiles
  for (int round = 0;; round++) {
    if (COUNTER) {
      // Each block, or cluster, is told once that there are no more.
      int last = count + gridDim.x / CLUSTER - 1;
      if (threadIdx.x == 0 && rank_of() == 0) {
        unsigned taken = atomicInc(counter, last + MUTANT(blackwell_no_reset));
        if (CLUSTER == 1) store_shared_u32(next, taken);
        else
          for (int r = 0; r < CLUSTER; r++)
            store_cluster(next, MUTANT(blackwell_own_tile) ? 0 : r, __uint_as_float(taken));
      }
      meet();
    }
    int tile = COUNTER ? load_shared_u32(next) : blockIdx.x / CLUSTER;
    if (tile >= count) break;
    const Item item = items[tile];
    const Problem& p = problems[item.problem];
    if (threadIdx.x < STORERS) {
      if (TMA == 0) copy_all(p, item, base, before);
      else if (warp < TMA && elect())
        copy_boxes(p, item, maps + 4 * item.problem, base, warp, before);
      __syncwarp();
      if (!MUTANT(blackwell_early_load))
        barrier_wait(base + done_offset(MAXN, PAIR, STAGES),
                     MUTANT(blackwell_same_phase) ? 0 : round % 2);
      tensor_fence_after();
      store_all(p, item, tensor, mmajor);
    } else if ((PAIR == 1 || rank_of() == 0) && elect()) {
      multiply_all(p, item, base, tensor, before);
    }
    meet();
    if (!COUNTER) break;
    if (!MUTANT(blackwell_lost_steps)) before += steps_of(p);
  }
  if (threadIdx.x >= STORERS) tensor_free<PAIR>(tensor, COLUMNS);
}
