// One launch: the K slices of a tile belong to blocks that add their sums among themselves.
//
// Idea: blocks of a cluster meet in distributed shared memory (cluster_reduce.cuh), and nothing but C
// is written to memory. Where one cluster pulls too little of the memory's bandwidth, several
// share the slices of a tile and exchange pieces of their sums through a workspace too
// (grid_reduce.cuh).
//
// Compile-time, beside warps.cuh's and cluster_reduce.cuh's: EXCHANGE, PARTS, and where blocks that
// read the same are:
//   TILES_FIRST       the grid counts tiles before slices, so that they start together
//   TILES_M, TILES_N  a cluster has all slices of so many tiles, so that they are close together
#ifndef MNKBENCH_CLUSTER
#define MNKBENCH_CLUSTER
#include "../../../common/mutant.h"
#include "../tile/grid_reduce.cuh"

#ifndef TILES_FIRST
#define TILES_FIRST 0
#endif

// Which tile and which slice of it are the calling block's. A cluster's last tiles may not exist.
struct TileScheduler {
  int split, n, m, across;
  __device__ TileScheduler() {
    if (TILES_FIRST) {
      split = blockIdx.z, n = blockIdx.x, m = blockIdx.y, across = gridDim.x;
#if MUTANT(tiles_swapped)
      n = blockIdx.y, m = blockIdx.x;
#endif
    } else {
      int before = MUTANT(tiles_wrong_tile) ? 1 : CLUSTER;
      int beside = TILES > 1 ? blockIdx.x / before % TILES : 0;
      split = TILES > 1 ? blockIdx.x / (MUTANT(tiles_wrong_slice) ? CLUSTER : 1) % CLUSTER : blockIdx.x;
      n = blockIdx.y * TILES_N + beside % TILES_N, m = blockIdx.z * TILES_M + beside / TILES_N;
      across = gridDim.y * TILES_N;
    }
  }
};
static_assert(!TILES_FIRST || CLUSTER * TILES == 1, "a cluster's blocks are one after another");
static_assert(PARTS == 1 || TILES == 1, "clusters that share a tile have no other");

struct Sizes {
  int M, N, K, slice, lda, ldb, ldc;
};
struct Output {
  TYPE* C;
  const TYPE* bias;
  int relu;
};

// Where a unit of the tile goes, and all else that its end needs but the sum. Threads learn of it
// while they wait for what others send: after that every instruction is waited for.
template <class TiledMma>
struct EpilogueTile {
  static constexpr int W = sizeof(typename TiledMma::Vec) / sizeof(float);
  TYPE* to;
  // How many elements exist, and whether one store takes all.
  int left, whole;
  Pack<TYPE, W> bias = {};
  // Sums below are cut off there.
  float least;

  __device__ EpilogueTile(int unit, int m0, int n0, Output out, Sizes s) {
    int rest = unit / 32, position = rest % POSITIONS;
    TiledMma there(rowOf(position), columnOf(position), 0, unit % 32);
    int row = m0 + there.row(rest / POSITIONS), col = n0 + there.col(rest / POSITIONS);
    left = row < s.M || MUTANT(cluster_no_row_guard) ? s.N - col : 0;
    to = out.C + (long long)row * s.ldc + col;
    whole = fits<TYPE, W>(to, left);
    least = leastOf(out.relu);
    if (out.bias && left > 0) bias = load<W>(out.bias + col, left);
    not_before(to);
    not_before(whole);
    not_before(least);
  }

  __device__ void finish(const typename TiledMma::Vec& sum) const {
    Pack<TYPE, W> c;
#pragma unroll
    for (int j = 0; j < W; j++)
      narrow(epilogue(sum.at[j], widen(bias.at[j]), least), c.at[j]);
    if (whole) {
      *(Pack<TYPE, W>*)to = c;
    } else {
#pragma unroll
      for (int j = 0; j < W; j++)
        if (j < left) to[j] = c.at[j];
    }
  }
};

// `Operand`: where a matrix is, as the way wants it.
template <class Mainloop, bool WHOLE, class Operand>
__device__ inline void cluster_of(Operand A, Operand B, Output out, float* sums, Sizes s,
                                  int early) {
  using S = ClusterReduce<Mainloop>;
  using TiledMma = typename Mainloop::TiledMma;
  using Vec = typename TiledMma::Vec;
  TileScheduler scheduler;
  int m0 = scheduler.m * BM, n0 = scheduler.n * BN, k0 = scheduler.split * s.slice;
  Place here;
  TiledMma product(rowOf(here.position), columnOf(here.position), here.k, threadIdx.x % 32);
  S shares;
  int first = shares.rank * S::SHARE, units = shares.units();
  int part = scheduler.split / CLUSTER, tile = scheduler.m * scheduler.across + scheduler.n;
  using X = GridReduce<Mainloop>;
  X parts{(Vec*)sums + (long long)(tile * CLUSTER + shares.rank) * PARTS * PARTS * X::PIECE,
          part};
  auto meanwhile = [&] {
    shares.open();
    // The end waits for it too.
    constexpr int LINE = 128 / sizeof(TYPE);
    if (out.bias && threadIdx.x <= (BN + LINE - 1) / LINE)
      prefetch(out.bias + min(n0 + (int)threadIdx.x * LINE, min(n0 + BN, s.N) - 1));
    if (EXCHANGE) parts.open();
  };
  int length = min(s.slice, s.K - k0);
  if (!Mainloop::template run<WHOLE>(product, A, B, m0, n0, k0, length, s, early,
                                    meanwhile))
    return;
  auto tile_at = [&](int i) { return EpilogueTile<TiledMma>(first + i, m0, n0, out, s); };
  auto finish = [&](const EpilogueTile<TiledMma>& at, const Vec& sum) { at.finish(sum); };
  auto done = [&](int i, const Vec& sum) { finish(tile_at(i), sum); };
  if constexpr (EXCHANGE) {
    auto hand = [&](int i, const Vec& sum) { parts.send(i, sum); };
    if (CLUSTER > 1) {
      shares.send(product);
      shares.receive();
      shares.sums(units, hand);
    } else {
      S::each(product, hand);
    }
    parts.receive(units, tile_at, finish);
    return;
  }
  if constexpr (CLUSTER == 1) {
    S::each(product, done);
    return;
  }
  shares.all(product, [&](int unit) { return EpilogueTile<TiledMma>(unit, m0, n0, out, s); },
             finish);
}

// Apart, so that the path that matters reaches its first load in a straight line.
template <class Mainloop>
__device__ __noinline__ void ragged_cluster(const TYPE* A, const TYPE* B, Output out, float* sums,
                                            Sizes s, int early) {
  cluster_of<Mainloop, false>(A, B, out, sums, s, early);
}

//   grid (PARTS * CLUSTER * TILES_M * TILES_N, tiles of N / TILES_N, tiles of M / TILES_M), or
//   TILES_FIRST (tiles of N, tiles of M, PARTS). slice * PARTS * CLUSTER >= K. `whole` says that the rows of A and of B start on 16
//   bytes in every slice and are whole chunks long.
template <class Mainloop>
__device__ inline void cluster(const TYPE* A, const TYPE* B, Output out, float* sums, Sizes s,
                               int whole, int early) {
  if (EVEN_A || EVEN_B || whole) cluster_of<Mainloop, true>(A, B, out, sums, s, early);
  else ragged_cluster<Mainloop>(A, B, out, sums, s, early);
}

#define CLUSTER_ENTRY(NAME)                                                                     \
  extern "C" __global__ void __launch_bounds__(THREADS, 1)                                      \
  NAME(const TYPE* A, const TYPE* B, const TYPE* bias, TYPE* C, float* sums, int M, int N,      \
       int K, int slice, int lda, int ldb, int ldc, int relu, int whole, int early) {           \
    cluster<Mainloop>(A, B, {C, bias, relu}, sums, {M, N, K, slice, lda, ldb, ldc}, whole,      \
                      EXCHANGE ? 0 : early);                                                    \
  }

#endif
