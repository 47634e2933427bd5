// One launch: the K slices of a tile belong to blocks that add their sums among themselves.
//
// Idea: blocks of a cluster meet in distributed shared memory (shares.cuh), and nothing but C
// is written to memory. Where one cluster pulls too little of the memory's bandwidth, several
// share the slices of a tile and meet in a workspace too (parts.cuh): the last to arrive adds
// the parts in their order, or all exchange pieces.
//
// Compile-time, beside cut.cuh's and shares.cuh's: JOIN, PARTS, and SWAPPED (C is stored
// transposed: rows of the product are its columns).
#ifndef MNKBENCH_CLUSTER
#define MNKBENCH_CLUSTER
#include "parts.cuh"

struct Sizes {
  int M, N, K, slice, lda, ldb, ldc;
};
// Where clusters that share a tile meet.
struct Meet {
  float* sums;
  unsigned* arrived;
};
struct Output {
  TYPE* C;
  const TYPE* bias;
  int relu;
};

// Where a unit of the tile is: its row, and the first of its columns.
template <class Product>
struct Spot {
  int row, col;
  __device__ Spot(int unit, int m0, int n0) {
    int rest = unit / 32, position = rest % POSITIONS;
    Product there(rowOf(position), columnOf(position), 0, unit % 32);
    row = m0 + there.row(rest / POSITIONS);
    col = n0 + there.col(rest / POSITIONS);
  }
};

template <class Product>
__device__ inline void finish(const typename Product::Vec& sum, Spot<Product> at, Output out,
                              Sizes s) {
  constexpr int W = sizeof(sum) / sizeof(float);
  if (at.row >= s.M) return;
  Pack<TYPE, W> c, b = {};
  if (SWAPPED) {
    float bias = out.bias ? widen(out.bias[at.row]) : 0;
    for (int j = 0; j < W; j++)
      if (at.col + j < s.N)
        narrow(epilogue(sum.at[j], bias, out.relu),
               out.C[(long long)(at.col + j) * s.ldc + at.row]);
    return;
  }
  if (out.bias) b = load<W>(out.bias + at.col, s.N - at.col);
  for (int j = 0; j < W; j++)
    narrow(epilogue(sum.at[j], widen(b.at[j]), out.relu), c.at[j]);
  store(out.C + (long long)at.row * s.ldc + at.col, c, s.N - at.col);
}

template <class Way, bool WHOLE>
__device__ inline void cluster_of(const TYPE* A, const TYPE* B, Output out, Meet meet, Sizes s) {
  using S = Shares<Way>;
  using Product = typename Way::Product;
  using Vec = typename Product::Vec;
  int m0 = blockIdx.z * BM, n0 = blockIdx.y * BN, split = blockIdx.x, k0 = split * s.slice;
  const TYPE* a = A + below(m0, s.lda) + k0;
  const TYPE* b = NT ? B + below(n0, s.ldb) + k0 : B + below(k0, s.ldb) + n0;
  Place here;
  Product product(rowOf(here.position), columnOf(here.position), here.k, threadIdx.x % 32);
  S shares;
  int first = shares.rank * S::SHARE, units = shares.units();
  int part = split / CLUSTER, tile = blockIdx.z * gridDim.y + blockIdx.y;
  unsigned* arrived = meet.arrived + tile * CLUSTER + shares.rank;
  using X = Exchange<Way>;
  X parts{(Vec*)meet.sums + (long long)(tile * CLUSTER + shares.rank) * PARTS * PARTS * X::PIECE,
          part};
  Way::template run<WHOLE>(product, a, b, s.M - m0, s.N - n0, min(s.slice, s.K - k0), s.lda,
                           s.ldb, [&] {
                             shares.open();
                             if (JOIN == last && threadIdx.x == 0) prefetch(arrived);
                             if (JOIN == exchange) parts.open();
                           });
  auto done = [&](int unit, const Vec& sum) {
    finish<Product>(sum, {unit, m0, n0}, out, s);
  };
  if constexpr (JOIN == exchange) {
    auto hand = [&](int i, const Vec& sum) { parts.send(i, sum); };
    if (CLUSTER > 1) {
      shares.send(product);
      shares.receive();
      shares.sums(units, hand);
    } else {
      S::each(product, hand);
    }
    parts.receive(units, [&](int i, const Vec& sum) { done(first + i, sum); });
    return;
  }
  if constexpr (JOIN == alone && CLUSTER == 1) {
    S::each(product, done);
    return;
  }
  shares.send(product);
  shares.receive();
  if (JOIN == alone) {
    shares.sums(units, [&](int i, const Vec& sum) { done(first + i, sum); });
    return;
  }
  Vec* all = (Vec*)meet.sums + (long long)tile * PARTS * S::UNITS + first;
  shares.sums(units, [&](int i, const Vec& sum) { all[part * S::UNITS + i] = sum; });
  if (!arrive_last(arrived, PARTS)) return;
  for (int i = threadIdx.x; i < units; i += THREADS) {
    Vec sum = {};
    for (int p = 0; p < PARTS; p++) {
      Vec x = all[p * S::UNITS + i];
      for (int j = 0; j < S::W; j++) sum.at[j] += x.at[j];
    }
    done(first + i, sum);
  }
}

// Apart, so that the path that matters reaches its first load in a straight line.
template <class Way>
__device__ __noinline__ void ragged_cluster(const TYPE* A, const TYPE* B, Output out, Meet meet,
                                            Sizes s) {
  cluster_of<Way, false>(A, B, out, meet, s);
}

//   grid (PARTS * CLUSTER, tiles of N, tiles of M). slice * PARTS * CLUSTER >= K. `whole` says
//   that the rows of A and of B start on 16 bytes in every slice and are whole chunks long, which
//   those of warpgroups always are: a call would have their products wait for one another.
template <class Way>
__device__ inline void cluster(const TYPE* A, const TYPE* B, Output out, Meet meet, Sizes s,
                               int whole) {
  if (EVEN_A || EVEN_B || WARPGROUPS || whole) cluster_of<Way, true>(A, B, out, meet, s);
  else ragged_cluster<Way>(A, B, out, meet, s);
}

#define CLUSTER_ENTRY(NAME, WAY)                                                                   \
  extern "C" __global__ void __launch_bounds__(THREADS, 1)                                     \
  NAME(const TYPE* A, const TYPE* B, const TYPE* bias, TYPE* C, float* sums,                   \
       unsigned* arrived, int M, int N, int K, int slice, int lda, int ldb, int ldc, int relu, \
       int whole) {                                                                            \
    cluster<WAY>(A, B, {C, bias, relu}, {sums, arrived}, {M, N, K, slice, lda, ldb, ldc},  \
                     whole);                                                                   \
  }

#endif
