// Dot products of a handful of rows of A and columns of weights: fused multiply-adds, no tensor cores.
//
// Idea: with ROWS rows of A every weight is used ROWS times, so nothing but reading weights counts,
// and of that the one round trip more than the bytes. Each thread asks for UNROLL chunks (16 bytes)
// of each of its columns before anything else, and no chunk passes through shared memory. K is spread
// over the threads of a block and the blocks of a cluster; their sums meet by shuffles, once in
// shared memory, and once in that of the cluster's first block, always in the same order.
//
//   nt, columns lie along K: a thread takes a chunk of K of each of COLS columns, and of ROWS rows of A.
//   nn, rows lie along N: a thread takes PER columns of one k; COLS / PER threads lie side by side.
//
// Compile-time: TYPE, LAYOUT, ROWS (M or a little more), THREADS, COLS, UNROLL, CLUSTER.
//
// A kernel gives its Product:
//
//   has(c), chunk(c, step), left(c, step): whether the thread's column `c` exists, where its chunk
//     lies, and how many elements from there on may be read
//   open(first): called while chunks are under way, in the cluster's first block with `first`
//   finish(total): called with sum threadIdx.x of the block, of row threadIdx.x / COLS and column
//     threadIdx.x % COLS, by all threads; only the first OUT of the first block have one
#ifndef MNKBENCH_DOT_PRODUCTS
#define MNKBENCH_DOT_PRODUCTS
#include "mutant.h"
#include "../device/ptx_barrier.h"
#include "../device/ptx_memory.h"
#include "../matmul/cuda/tile/element.cuh"

enum Layout { nn, nt };
constexpr bool NT = LAYOUT == nt;
// Elements of a chunk, threads side by side along a row of B, and their phases of K.
constexpr int PER = 16 / sizeof(TYPE), ACROSS = NT ? 1 : COLS / PER, PHASES = THREADS / ACROSS;
// Columns of a thread, its chunks of B and the k of a chunk.
constexpr int OWN = NT ? COLS : PER, CHUNKS = NT ? COLS : 1, KS = NT ? PER : 1;
// Sums of a thread, of a block; a single sum is split, lest each addition wait for the one before.
// More would take registers, and so blocks from a multiprocessor.
constexpr int SUMS = ROWS * OWN, OUT = ROWS * COLS, CHAINS = NT && SUMS == 1 ? 2 : 1;
static_assert(ACROSS <= 32 && OUT <= THREADS, "a thread finishes at most one sum");

using Chunk = Pack<TYPE, PER>;

__device__ inline Chunk stream(const TYPE* from, bool there, unsigned long long policy) {
  uint4 x;
  load_once(x, from, there, policy);
  return *(Chunk*)&x;
}

// The block's first column, and the thread's in the block.
__device__ inline int firstColumn() { return blockIdx.x / CLUSTER * COLS; }
__device__ inline int ownColumn() { return (int)threadIdx.x % ACROSS * (NT ? 0 : OWN); }

// The rows of A.
struct Rows {
  const TYPE* A;
  int M, K, lda;
};

// What a thread has in flight: steps PHASES apart. WHOLE: chunks start on 16 bytes, and each
// exists wholly or not at all; others are read element by element, one step at a time.
template <bool WHOLE>
struct Batch {
  static constexpr int DEPTH = WHOLE ? UNROLL : 1;
  Chunk b[DEPTH][CHUNKS];
  Pack<TYPE, KS> a[DEPTH][ROWS];

  // Loads the steps from `q` on, of which those before `end` exist. FIRST: executes griddepcontrol.wait
  // once the loads of weights are issued. It returns at once in a launch that does not start early; a
  // branch around it is slower.
  template <bool FIRST, class Product>
  __device__ void load(const Rows& rows, const Product& product, int q, int end,
                       unsigned long long policy) {
#pragma unroll
    for (int u = 0; u < DEPTH; u++) {
      int step = q + u * PHASES;
#pragma unroll
      for (int c = 0; c < CHUNKS; c++) {
        bool there = step < end && product.has(c);
        const TYPE* p = product.chunk(c, step);
        if (WHOLE) b[u][c] = stream(p, there, policy);
        else b[u][c] = ::load<PER>(p, there ? product.left(c, step) : 0);
      }
    }
    if (FIRST && !MUTANT(dot_no_launch_wait)) wait_for_prerequisites();
#pragma unroll
    for (int u = 0; u < DEPTH; u++) {
      int step = q + u * PHASES;
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        bool there = step < end && r < rows.M;
        const TYPE* p = rows.A + (long long)r * rows.lda + (long long)step * KS;
        a[u][r] = {};
        if (!WHOLE) a[u][r] = ::load<KS>(p, there ? rows.K - step * KS : 0);
        else if (there) a[u][r] = *(const Pack<TYPE, KS>*)p;
      }
    }
  }

  __device__ void multiply(float (&sum)[CHAINS][SUMS]) const {
#pragma unroll
    for (int u = 0; u < DEPTH; u++)
#pragma unroll
      for (int e = 0; e < PER; e++)
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
          float x = widen(a[u][r].at[NT ? e : 0]);
#pragma unroll
          for (int c = 0; c < CHUNKS; c++)
            sum[e % CHAINS][r * OWN + (NT ? c : e)] += x * widen(b[u][c].at[e]);
        }
  }
};

// Sums over the lanes that share columns. Halves change hands, so that each lane ends with
// a share of the sums and writes it to `to`.
__device__ inline void meet(float (&sum)[SUMS], float* to) {
  int count = SUMS, first = 0, across = ownColumn();
  bool mine = true;
#pragma unroll
  for (int apart = 16; apart >= ACROSS; apart /= 2) {
    bool upper = threadIdx.x & apart;
    if (count > 1) {
      count /= 2;
#pragma unroll
      for (int i = 0; i < SUMS / 2; i++) {
        if (i >= count) break;
        float give = upper ? sum[i] : sum[i + count], keep = upper ? sum[i + count] : sum[i];
        sum[i] = keep + __shfl_xor_sync(~0u, give, apart);
      }
      if (upper && !MUTANT(dot_same_lanes)) first += count;
    } else {
      sum[0] += __shfl_xor_sync(~0u, sum[0], apart);
      mine = mine && !upper;
    }
  }
#pragma unroll
  for (int i = 0; i < SUMS; i++) {
    if (i >= count) break;
    int at = first + i;
    if (mine) to[at / OWN * COLS + across + at % OWN] = sum[i];
  }
}

template <bool WHOLE, class Product>
__device__ inline void dots(const Rows& rows, Product product) {
  SHARED(float, warps, [THREADS / 32][OUT]);
  int tid = threadIdx.x, rank = blockIdx.x % CLUSTER;
  int steps = (rows.K + KS - 1) / KS, share = (steps + CLUSTER - 1) / CLUSTER;
  int q = rank * share + tid / ACROSS, end = min(steps, (rank + 1) * share + MUTANT(dot_long_share));
  unsigned long long policy = evict_first();
  // The next launch may start: it asks for its weights while this one reads its own.
  launch_dependents();
  Batch<WHOLE> batch;
  batch.template load<true>(rows, product, q, end, policy);
  // That the others run too is known by the time that they are written to.
  if (CLUSTER > 1) cluster_arrive_relaxed();
  product.open(rank == 0);

  float sum[CHAINS][SUMS] = {};
  while (true) {
    batch.multiply(sum);
    q += Batch<WHOLE>::DEPTH * PHASES;
    if (q >= end) break;
    batch.template load<false>(rows, product, q, end, policy);
  }
#pragma unroll
  for (int c = 1; c < CHAINS; c++)
#pragma unroll
    for (int i = 0; i < SUMS; i++) sum[0][i] += sum[c][i];

  meet(sum[0], warps[tid / 32]);
  if (!MUTANT(dot_no_barrier)) __syncthreads();
  float total = 0;
  if (tid < OUT)
#pragma unroll
    for (int w = 0; w < THREADS / 32; w++) total += warps[w][tid];
#if CLUSTER > 1
  SHARED(float, ranks, [CLUSTER][OUT]);
  __syncwarp();
  if (!MUTANT(dot_early_store)) cluster_wait();
  if (tid < OUT) store_cluster(shared_address(&ranks[rank][tid]), 0, total);
  __syncwarp();
  MUTANT(dot_relaxed_arrive) ? cluster_arrive_relaxed() : cluster_arrive();
  if (rank > 0) return;
  if (!MUTANT(dot_no_cluster_wait)) cluster_wait();
  total = 0;
  if (tid < OUT)
#pragma unroll
    for (int r = MUTANT(dot_skip_block); r < CLUSTER; r++) total += ranks[r][tid];
#endif
  product.finish(total);
}

#endif
