// C = scaleA . A . (scaleB . B)^T, E4M3 A[M, K] and B[N, K], bf16 C[M, N], in one launch of
// FP8 products of warpgroups.
//
// Idea: M of wgmma (64) is along the rows of B, and N (8 to 256) along the rows of A, so that a few
// rows of A waste little and weights are read once. TMA fills a ring of K steps (weight_ring.cuh).
// The tensor cores accumulate with about 14 bits. The products of each step are therefore added to
// fp32 accumulators in registers, times the scale of their block of 128 where there is one; with AHEAD
// while the products of the next step run. Blocks of a cluster split K and add their sums in
// cluster_reduce.cuh. C is stored through shared memory, 16 bytes at a time (out.cuh), unless
// THROUGH_RING is false.
//
// With TOKEN_ROWS M of wgmma is along the rows of A, and N along the rows of B. A thread then reads
// two block scales for a step, those of its two rows. Otherwise it reads two for each eight columns.
//
// Compile-time: SCALE (tensor, row, block128), TOKEN_ROWS, BM and BN (a tile's rows of products, and
// columns), BK, WARPS, STAGES, CLUSTER, AHEAD.
//
//   rows, columns: boxes of BM x 128 of B and of BN x 128 of A; with TOKEN_ROWS of A and of B
//   early: 1 if the launch may start before the previous one ends
//   scales as in point.ts   `slice` of K, whole steps, for each block of a tile
//   grid (CLUSTER, tiles of M, tiles of N), block 32 * WARPS + 32, or + 128 with REGISTERS; shared
//   memory: STAGES * ((BM + BN) * BK + 16) bytes, BM * BN * 4 + 16 where CLUSTER > 1, and 4 for each
//   scale: BM + BN scales, or with block128 one for each row of A and each 128 of a slice
enum Scale { tensor, row, block128 };
struct e4m3 { unsigned char bits; };

// Macros that warps.cuh and its users expect.
#define TYPE e4m3
#define LAYOUT nt
#define WARPGROUPS 1

#include "../../common/weight_ring.cuh"
#include "../../device/ptx_copy.h"
#include "../../device/ptx_mma.h"
#include "../../matmul/cuda/tile/cluster_reduce.cuh"
#include "../../matmul/cuda/tile/out.cuh"

// K of a box, whose rows are 128 bytes; and of a block of scales.
constexpr int BOX = 128, BLOCK = 128;
constexpr bool BLOCKS = SCALE == block128;
// Rows of A and rows of B of a tile.
constexpr int TOKENS = TOKEN_ROWS ? BM : BN, WEIGHTS = TOKEN_ROWS ? BN : BM;
static_assert(BK % BLOCK == 0, "scales are those of whole steps");
static_assert(!BLOCKS || BK == BLOCK && BLOCK % WEIGHTS == 0, "a tile has one scale of B for a step");

// A warp's 16 x WN of the sums of its warpgroup.
struct Sums {
  using Vec = Pack<float, 4>;
  static constexpr int SLOTS = WN / 8;
  Vec part[SLOTS] = {};
  // Adds the sums of a step, times the scales for it of the calling lane's rows or columns.
  __device__ __forceinline__ void add(const float (&fresh)[WN / 2], const float* scales) {
    Pack<float, 2> of = {{1, 1}};
    if (BLOCKS && TOKEN_ROWS) of = {{scales[0], scales[8]}};
#pragma unroll
    for (int i = 0; i < SLOTS; i++) {
      if (BLOCKS && !TOKEN_ROWS) of = *(const Pack<float, 2>*)(scales + i * 8);
#pragma unroll
      for (int j = 0; j < 4; j++) {
        int which = TOKEN_ROWS ? j / 2 : j % 2;
        part[i].at[j] += fresh[4 * i + j] * of.at[MUTANT(fp8_same_token) ? 0 : which];
      }
    }
  }
};

// The bytes of a step are those of the rows, box after box, then those of the columns.
constexpr int COLUMNS_AT = BM * BK;
using Ring = WeightRing<Sums, (BM + BN) * BK>;
using Shares = ClusterReduce<Ring>;
// C is stored through the shared memory of the ring. A block of a cluster stores its share of C
// directly, which is faster, except with TOKEN_ROWS where it owns whole slots.
constexpr bool THROUGH_RING = CLUSTER == 1 || TOKEN_ROWS && Shares::BY_SLOT;
using Tile = Out<bf16, TOKENS, WEIGHTS>;
static_assert(!THROUGH_RING || Tile::BYTES <= Ring::BARRIERS, "C leaves by way of the ring");

// The products of a warp's part of the tile, step by step.
struct Products {
  Ring& ring;
  Sums& sums;
  unsigned a, b;        // from a stage to the rows and columns of this warpgroup
  const float* scales;  // of the calling lane's rows of A, of the first step
  int added = 0, from = 0;  // the next step to add, and its stage

  // Starts those of the next step.
  __device__ __forceinline__ void start(float (&fresh)[WN / 2]) {
    unsigned at = ring.here();
    ring.wait();
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < BK; k += 32) {
      int box = k / BOX, turn = k % BOX / 32, add = MUTANT(fp8_no_reset) || k > 0;
      wgmma_e4m3<WN>(fresh, descriptor(at + a + box * BM * 128, MUTANT(fp8_same_k) ? 0 : turn),
                     descriptor(at + b + box * BN * 128, turn), add);
    }
    wgmma_commit();
    ring.next();
  }
  // Adds those of the oldest step, with PENDING later ones under way.
  template <int PENDING>
  __device__ __forceinline__ void add(float (&fresh)[WN / 2]) {
    wgmma_wait<PENDING + MUTANT(fp8_no_wait)>();
#pragma unroll
    for (int i = 0; i < WN / 2; i++) not_before(fresh[i]);
    ring.release(added, from);
    sums.add(fresh, scales + (MUTANT(fp8_same_block) ? 0 : added) * TOKENS);
    added++;
    from = from + 1 == STAGES ? 0 : from + 1;
  }
};

extern "C" __global__ void __launch_bounds__(Ring::BLOCK, 1)
scaled_wgmma(const __grid_constant__ TensorMap rows, const __grid_constant__ TensorMap columns,
             const float* scaleA, const float* scaleB, bf16* C, int M, int N, int K, int slice,
             int early) {
  using Vec = Sums::Vec;
  int m0 = blockIdx.y * TOKENS, n0 = blockIdx.z * WEIGHTS, k0 = blockIdx.x * slice;
  // Scales of the tile's rows of A, then of B; or products of both for each 128 of K.
  constexpr int SCALES = CLUSTER > 1 ? Shares::END : Ring::ROOM;
  float* scales = (float*)(memory + SCALES);
  Ring ring((min(slice, K - k0) + BK - 1) / BK);
  bool copies = threadIdx.x == THREADS;
  // As in swiglu.cu: weights are read from memory once.
  unsigned long long policy = evict_first();
  auto at = [&](int step, int box) {
    return k0 + step * BK + (MUTANT(fp8_same_box) ? 0 : box) * BOX;
  };
  // Where a box of the rows, or of the columns, goes in a stage.
  auto row_box = [](int box) { return box * BM * 128; };
  auto column_box = [](int box) { return COLUMNS_AT + box * BN * 128; };
  auto weights = [&](int step, unsigned to, unsigned bar) {
#pragma unroll
    for (int box = 0; box < BK / BOX; box++)
      copy_tile_once(to + (TOKEN_ROWS ? column_box(box) : row_box(box)),
                     TOKEN_ROWS ? &columns : &rows, at(step, box), n0, bar, policy);
  };
  auto tokens = [&](int step, unsigned to, unsigned bar) {
#pragma unroll
    for (int box = 0; box < BK / BOX; box++)
      copy_tile(to + (TOKEN_ROWS ? row_box(box) : column_box(box)), TOKEN_ROWS ? &rows : &columns,
                at(step, box), m0, bar);
  };
  if (copies) ring.open(weights, tokens, early);
  Shares shares;
  shares.open();
  if (early && !MUTANT(fp8_no_launch_wait)) wait_for_prerequisites();
  if constexpr (BLOCKS) {
    int blocks = (K + BLOCK - 1) / BLOCK, first = k0 / BLOCK, count = slice / BLOCK * TOKENS;
    int stride = MUTANT(fp8_dense_scales) ? blocks : (blocks + 3) / 4 * 4;
    const float* own = scaleB + (long long)(n0 / BLOCK) * stride;
    // Loads of a thread that are issued together: all block scales of K up to 4096 in one round.
    constexpr int BATCH = 4096 / BLOCK * TOKENS / Ring::BLOCK + 1;
#pragma unroll 1
    for (int from = threadIdx.x; from < count; from += BATCH * Ring::BLOCK) {
      float a[BATCH], b[BATCH];
#pragma unroll
      for (int i = 0; i < BATCH; i++) {
        int at = from + i * Ring::BLOCK, block = first + at / TOKENS, m = m0 + at % TOKENS;
        bool there = at < count && block < blocks && m < M;
        b[i] = there && n0 < N && !MUTANT(fp8_no_row_scale) ? own[block] : 1;
        a[i] = there ? scaleA[(long long)block * M + m] : 0;
      }
#pragma unroll
      for (int i = 0; i < BATCH; i++)
        if (from + i * Ring::BLOCK < count) scales[from + i * Ring::BLOCK] = a[i] * b[i];
    }
  } else {
    for (int i = threadIdx.x; i < TOKENS + WEIGHTS; i += Ring::BLOCK) {
      bool token = i < TOKENS;
      int at = token ? m0 + i : n0 + i - TOKENS, count = token ? M : N;
      const float* from = token ? scaleA : scaleB;
      scales[i] = at >= count ? 0 : from[SCALE == row && !MUTANT(fp8_first_scale) ? at : 0];
    }
  }
  if (!MUTANT(fp8_no_barrier)) __syncthreads();

  if (!Ring::multiplies()) {
    if (copies) ring.refill(weights, tokens);
    __syncwarp();
    if (CLUSTER > 1) cluster_wait();
    return;
  }

  Place here;
  unsigned column = columnOf(here.position), lane = threadIdx.x % 32;
  unsigned row = MUTANT(fp8_same_rows) ? 0 : rowOf(here.position) / 64 * 64 * 128;
  Sums sums;
  unsigned token = TOKEN_ROWS ? rowOf(here.position) + lane / 4 : column + lane % 4 * 2;
  Products products{ring, sums, row, COLUMNS_AT + (MUTANT(fp8_same_tokens) ? 0 : column * 128),
                    scales + token};
  float fresh[WN / 2] = {};
  if constexpr (AHEAD) {
    // Two steps take turns, so that each has registers of its own.
    float other[WN / 2] = {};
    products.start(fresh);
    int left = ring.steps - 1;
#pragma unroll 1
    for (; left > 1; left -= 2) {
      products.start(other);
      products.add<1>(fresh);
      products.start(fresh);
      products.add<1>(other);
    }
    if (left) {
      products.start(other);
      products.add<1>(fresh);
      products.add<0>(other);
    } else {
      products.add<0>(fresh);
    }
  } else {
#pragma unroll 1
    for (int step = 0; step < ring.steps; step++) {
      products.start(fresh);
      products.add<0>(fresh);
    }
  }

  // The first of the calling lane's rows and columns, and the scales of all.
  int i0 = rowOf(here.position) + lane / 4, j0 = column + lane % 4 * 2;
  const float* ofRows = scales + (TOKEN_ROWS ? 0 : TOKENS);
  const float* ofColumns = scales + (TOKEN_ROWS ? TOKENS : 0);
  auto scaled = [&](Vec sum, const float (&by)[2], int j) {
    if (BLOCKS) return sum;
    Pack<float, 2> side = {{1, 1}};
    if (!MUTANT(fp8_no_token_scale)) side = *(const Pack<float, 2>*)(ofColumns + j);
    for (int e = 0; e < 4; e++) sum.at[e] *= by[e / 2] * side.at[e % 2];
    return sum;
  };
  if constexpr (!THROUGH_RING) {
    auto finish = [&](int unit, const Vec& sum) {
      int rest = unit / 32, position = rest % POSITIONS;
      int i = rowOf(position) + unit % 32 / 4;
      int j = columnOf(position) + rest / POSITIONS * 8 + unit % 4 * 2;
      float by[2] = {1, 1};
      if (!BLOCKS) by[0] = ofRows[i], by[1] = ofRows[i + 8];
      Vec x = scaled(sum, by, j);
#pragma unroll
      for (int e = 0; e < 4; e++) {
        int row = i + e / 2 * 8, column = j + e % 2;
        int m = m0 + (TOKEN_ROWS ? row : column), n = n0 + (TOKEN_ROWS ? column : row);
        if (m >= M && !MUTANT(fp8_no_token_guard) || n >= N && !MUTANT(fp8_no_row_guard)) continue;
        narrow(x.at[e], C[(long long)m * N + n]);
      }
    };
    shares.all(sums, [](int unit) { return unit; }, finish);
    return;
  }

  float by[2] = {1, 1};
  if (!BLOCKS) by[0] = ofRows[i0], by[1] = ofRows[i0 + 8];
  Tile out{ring.base};
  // The ring is free once all have multiplied.
  if (!MUTANT(fp8_early_store)) sync_some<THREADS>(1);
  if constexpr (TOKEN_ROWS) {
    auto finish = [&](int unit, const Vec& sum) {
      int j = j0 + unit / THREADS * 8;
      Vec x = scaled(sum, by, j);
      unsigned to = out.base + i0 * Tile::PITCH + j * 2;
      store_shared_u32(to, pairOf(bf16(), x.at[0], x.at[1]));
      store_shared_u32(to + 8 * Tile::PITCH, pairOf(bf16(), x.at[2], x.at[3]));
    };
    if constexpr (CLUSTER == 1) Shares::each(sums, finish);
    else shares.all(sums, [](int unit) { return unit; }, finish);
  } else {
    out.putAcross<Sums::SLOTS>(column, rowOf(here.position),
                               [&](int i) { return scaled(sums.part[i], by, j0 + i * 8); });
  }
  if (!MUTANT(fp8_no_meeting)) sync_some<THREADS>(1);
  // Slots of each warp are the cluster's blocks' in turns.
  out.copy(C, m0, n0, M, N, N, [&](int, int w) {
    return CLUSTER == 1 || w % WN / 8 % CLUSTER == (MUTANT(fp8_first_slots) ? 0 : shares.rank);
  });
}
