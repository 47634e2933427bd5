// C = epilogue(A . B^T), or of B itself, for a few rows of A, by products of warpgroups, in one launch.
//
// Idea: outputs of a row of A are the 64 rows of a product and rows of A its columns, of which there may
// be 8: nothing is multiplied for rows of A that do not exist. A tile has ROWS outputs, any whole eights,
// so that tiles fill the device evenly: the other rows of a product are what lies behind
// them in shared memory, and their sums are not stored. Products also read a B of which outputs lie side
// by side (nn), in boxes of 64: a tile then has whole 64. One ring has K steps of both operands
// (weight_ring.cuh). Blocks of a cluster have slices of K and add their sums in cluster_reduce.cuh.
// With TOKEN_ROWS it is the other way round: of many rows of A whole 64 are the rows of a product, and
// the outputs of a row of A its columns, any whole eights (nn: 64).
// C is stored through shared memory, 16 bytes at a time; with clusters and without TOKEN_ROWS directly.
// Tiles of the same B start together, so that B is read from memory once. Its cache lines are marked
// evict-first: L2 may still hold lines of the previous kernel that have to be written back.
//
// Compile-time: TYPE, LAYOUT, TOKEN_ROWS, ROWS (outputs of a row of A, a tile's; with TOKEN_ROWS rows of
// A), BM (ROWS up to whole products), BN (rows of A, a tile's; with TOKEN_ROWS outputs), BK, WARPS,
// STAGES, CLUSTER.
//
//   B, A: boxes of ROWS x 64 of B (nn: BK x 64) and of BN x 64 of A; with TOKEN_ROWS BN of B, ROWS of A
//   bias [N] or null   C [M, N], rows ldc apart
//   early: 1 if the launch may start before the previous one ends
//   `slice` of K, whole steps, for each block of a tile
//   grid (CLUSTER, tiles of M, tiles of N): tiles that read the same B start together; block
//   32 * WARPS + 32, or + 128 with REGISTERS; shared memory:
//   STAGES * ((ROWS + BN) * BK * 2 + 16) bytes and, where CLUSTER > 1, a mailbox of
//   cluster_reduce.cuh
#ifndef LAYOUT
#define LAYOUT nt
#endif
#ifndef TOKEN_ROWS
#define TOKEN_ROWS 0
#endif
#define WARPGROUPS 1

#include "../../../common/weight_ring.cuh"
#include "../../../device/ptx_copy.h"
#include "../../../device/ptx_mma_mn.h"
#include "../tile/cluster_reduce.cuh"
#include "../tile/out.cuh"

// A line of a box: 128 bytes, swizzled as products read it.
constexpr int BOX = 64;
static_assert(BK % BOX == 0 && BM % 64 == 0 && WN % 8 == 0, "products are whole");
static_assert(ROWS % 8 == 0 && ROWS <= BM && BM - ROWS < 64, "boxes are whole swizzle atoms");
static_assert(!TOKEN_ROWS || ROWS == BM, "products have no rows of other tiles");
// Rows of A and of B of a tile.
constexpr int OF_A = TOKEN_ROWS ? ROWS : BN, OF_B = TOKEN_ROWS ? BN : ROWS;
static_assert(NT || OF_B % BOX == 0, "boxes of 64 outputs are whole");
static_assert(BM - ROWS <= BN * BK / BOX, "what products read behind their rows is of the same step");

// ptxas 13.0 rejects an instruction with more register operands than a thread has at launch. With
// REGISTERS, of which fewer than 128 mean sixteen warps, a wgmma of many columns is therefore split in
// two, the first of which may be the wider one.
constexpr int MOST_COLUMNS = REGISTERS >= 128 ? 192 : 128;
constexpr bool TWO = REGISTERS && WN > MOST_COLUMNS;
constexpr int WHOLE = NT || !TOKEN_ROWS ? 8 : BOX;
constexpr int PART = TWO ? (WN / 2 + WHOLE - 1) / WHOLE * WHOLE : WN;
// The second part, which is compiled but not run where there is none.
constexpr int BEHIND = TWO ? PART : 0, REST = WN - BEHIND;

// Templates, as not every form of wgmma has products of every number of columns.
template <int N>
__device__ inline void multiply(bf16, float (&d)[N / 2], unsigned long long a, unsigned long long b) {
  if constexpr (NT) wgmma_bf16<N>(d, a, b);
  else if constexpr (TOKEN_ROWS) wgmma_bf16_mn<N>(d, a, b);
  else wgmma_bf16_m_major<N>(d, a, b);
}
template <int N>
__device__ inline void multiply(f16, float (&d)[N / 2], unsigned long long a, unsigned long long b) {
  if constexpr (NT) wgmma_f16<N>(d, a, b);
  else if constexpr (TOKEN_ROWS) wgmma_f16_mn<N>(d, a, b);
  else wgmma_f16_m_major<N>(d, a, b);
}

// A warp's 16 x WN of the sums, once all steps are done. A slot is two columns of two rows.
struct Sums {
  using Vec = Pack<float, 4>;
  static constexpr int SLOTS = WN / 8;
  Vec part[SLOTS];
};

// A step has the rows of products, box after box, then their columns.
constexpr int COLUMNS_AT = ROWS * BK * 2;
using Ring = WeightRing<Sums, COLUMNS_AT + BN * BK * 2>;
// C is stored through the shared memory of the ring. Without TOKEN_ROWS a block of a cluster stores its
// share of C directly: it is too small to gain from that.
constexpr bool THROUGH_RING = CLUSTER == 1 || TOKEN_ROWS;
using Tile = Out<TYPE, OF_A, OF_B>;
static_assert(!THROUGH_RING || Tile::BYTES <= Ring::BARRIERS, "C leaves by way of the ring");

extern "C" __global__ void __launch_bounds__(Ring::BLOCK, 1)
columns(const __grid_constant__ TensorMap B, const __grid_constant__ TensorMap A, const TYPE* bias,
        TYPE* C, int M, int N, int K, int slice, int ldc, int relu,
        int early) {
  using S = ClusterReduce<Ring>;
  using Vec = Sums::Vec;
  static_assert(CLUSTER == 1 || S::BY_SLOT, "a block has whole tokens");
  int n0 = blockIdx.z * OF_B, m0 = MUTANT(across_same_tile) ? 0 : blockIdx.y * OF_A;
  int k0 = blockIdx.x * slice;
  Ring ring((min(slice, K - k0) + BK - 1) / BK);
  bool copies = threadIdx.x == THREADS;
  unsigned long long policy = evict_first();
  auto at = [&](int step, int box) {
    return k0 + step * BK + (MUTANT(across_same_box) ? 0 : box) * BOX;
  };
  auto weights = [&](int step, unsigned to, unsigned bar) {
    if (TOKEN_ROWS) to += COLUMNS_AT;
    if constexpr (NT) {
#pragma unroll
      for (int box = 0; box < BK / BOX; box++)
        copy_tile_once(to + box * OF_B * 128, &B, at(step, box), n0, bar, policy);
    } else {
#pragma unroll
      for (int box = 0; box < OF_B / BOX; box++) {
        int n = n0 + (MUTANT(across_nn_same_box) ? 0 : box) * BOX;
        copy_tile_once(to + box * BK * 128, &B, n, k0 + step * BK, bar, policy);
      }
    }
  };
  auto tokens = [&](int step, unsigned to, unsigned bar) {
    if (!TOKEN_ROWS) to += COLUMNS_AT;
#pragma unroll
    for (int box = 0; box < BK / BOX; box++)
      copy_tile(to + box * OF_A * 128, &A, at(step, box), m0, bar);
  };
  if (copies) ring.open(weights, tokens, early);
  S shares;
  shares.open();
  if (!MUTANT(across_no_barrier)) __syncthreads();

  if (!Ring::multiplies()) {
    if (copies) ring.refill(weights, tokens);
    __syncwarp();
    if (CLUSTER > 1) cluster_wait();
    return;
  }

  Place here;
  int of = threadIdx.x % 32, row = rowOf(here.position) + of / 4;
  float offset[2] = {};
#pragma unroll
  for (int i = 0; i < 2; i++) {
    int n = n0 + row + (MUTANT(across_same_bias) ? 0 : i) * 8;
    if (!TOKEN_ROWS && bias && n < N) offset[i] = widen(bias[n]);
  }
  int before = 0;
  // Whether the rows, or the columns, of products are outputs side by side.
  constexpr bool ROWS_SIDE = !NT && !TOKEN_ROWS, COLUMNS_SIDE = !NT && TOKEN_ROWS;
  unsigned rows =
      MUTANT(across_same_rows) ? 0 : rowOf(here.position) / 64 * (ROWS_SIDE ? BK : 64) * 128;
  unsigned start = MUTANT(across_same_tokens) ? 0 : columnOf(here.position);
  unsigned column = COLUMNS_SIDE ? start / BOX * BK * 128 + start % BOX * 2 : start * 128;
  float d[WN / 2];
#pragma unroll
  for (int i = 0; i < WN / 2; i++) zero_here(d[i]);
#pragma unroll 1
  for (int step = 0; step < ring.steps; step++) {
    unsigned a = ring.here() + rows, b = ring.here() + COLUMNS_AT + column;
    ring.wait();
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < BK / 16; k++) {
      int quarter = MUTANT(across_same_k) ? 0 : k % 4;
      unsigned apart = MUTANT(across_nn_same_columns) ? 0 : BK * 128;
      auto product = [&](auto& part, int first) {
        multiply<sizeof part / sizeof(float) * 2>(
            TYPE(), part,
            ROWS_SIDE ? descriptor_mn(a + (k / 4 * 4 + quarter) * 16 * 128, 0)
                      : descriptor(a + k / 4 * ROWS * 128, quarter),
            COLUMNS_SIDE ? descriptor_mn(b + k * 16 * 128 + first * BK * 2, apart)
                         : descriptor(b + k / 4 * BN * 128 + first * 128, k % 4));
      };
      product(*(float (*)[PART / 2])d, 0);
      if (TWO) product(*(float (*)[REST / 2])(d + BEHIND / 2), MUTANT(across_same_part) ? 0 : BEHIND);
    }
    wgmma_commit();
    // A stage has been read when the products of the next one are all that is under way.
    wgmma_wait<1 + MUTANT(across_late_wait)>();
    if (step > 0) ring.release(step - 1, before);
    before = ring.stage;
    ring.next();
  }
  wgmma_wait<MUTANT(across_no_finish)>();
  Sums sums;
#pragma unroll
  for (int i = 0; i < WN / 2; i++) {
    not_before(d[i]);
    sums.part[i / 4].at[i % 4] = d[i];
  }

  float least = leastOf(relu);
  int first = columnOf(here.position);
  // Of a product that has outputs as its rows: a lane's two rows have an offset each.
  auto finished = [&](Vec sum) {
    for (int e = 0; e < 4; e++) sum.at[e] = epilogue(sum.at[e], offset[e / 2], least);
    return sum;
  };
  if constexpr (!THROUGH_RING) {
    auto finish = [&](int unit, const Vec& sum) {
      Vec x = finished(sum);
      int token = m0 + first + of % 4 * 2 + unit / THREADS * 8;
#pragma unroll
      for (int e = 0; e < 4; e++) {
        int i = row + e / 2 * 8, m = token + e % 2;
        if (i >= ROWS || n0 + i >= N && !MUTANT(across_no_row_guard)) continue;
        if (m >= M && !MUTANT(across_no_token_guard)) continue;
        narrow(x.at[e], C[(long long)m * ldc + n0 + i]);
      }
    };
    shares.all(sums, [](int unit) { return unit; }, finish);
    return;
  }

  Tile out{ring.base};
  // The ring is free once all have multiplied.
  if (!MUTANT(across_early_store)) sync_some<THREADS>(1);
  if constexpr (TOKEN_ROWS) {
    auto put = [&](int unit, Vec sum) {
      int column = first + unit / THREADS * 8 + of % 4 * 2;
      for (int e = 0; e < 4; e++) {
        int n = n0 + column + (MUTANT(across_same_column) ? 0 : e % 2);
        sum.at[e] = epilogue(sum.at[e], bias && n < N ? widen(bias[n]) : 0, least);
      }
      unsigned to = out.base + row * Tile::PITCH + column * 2;
      store_shared_u32(to, pairOf(TYPE(), sum.at[0], sum.at[1]));
      store_shared_u32(to + 8 * Tile::PITCH, pairOf(TYPE(), sum.at[2], sum.at[3]));
    };
    if constexpr (CLUSTER == 1) {
#pragma unroll
      for (int i = 0; i < Sums::SLOTS; i++) put(i * THREADS, sums.part[i]);
    } else {
      shares.all(sums, [](int unit) { return unit; }, put);
    }
  } else {
    // At least eight of a warp's 16 rows are in the tile. The others go to the padding of a line.
    int corner = rowOf(here.position);
    if (corner < ROWS)
      out.putAcross<Sums::SLOTS>(first, corner, [&](int i) { return finished(sums.part[i]); });
  }
  if (!MUTANT(across_no_meeting)) sync_some<THREADS>(1);
  // Slots of each warp are the cluster's blocks' in turns.
  out.copy(C, m0, n0, M, N, ldc, [&](int, int n) {
    return CLUSTER == 1 || n % WN / 8 % CLUSTER == (MUTANT(across_first_slots) ? 0 : shares.rank);
  });
}
