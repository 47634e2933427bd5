// A tile of best.cu: its sums, and how they are stored.
#ifndef GROUPED_BEST_TILE
#define GROUPED_BEST_TILE

// Shared memory whose rows are 128 bytes of K in the 128-byte swizzle, eight rows to an atom:
// the 16-byte chunk c of row r is at chunk c ^ (r % 8). Atoms of 1024 bytes follow each other.
__device__ __forceinline__ unsigned long long descriptor(unsigned address) {
  return (address & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

// Stores 16 rows of weights by `N` tokens: through a patch of shared memory of the warp's own,
// in which a token's 16 results lie side by side.
template <int N>
__device__ __forceinline__ void store(const float (&d)[N / 2], const Problem& p, unsigned patch,
                                      int row, int token, int mmajor) {
  unsigned lane = thread() % 32;
  unsigned to = patch + (lane % 8 + lane / 16 * 8) * 48 + lane / 8 % 2 * 16;
#pragma unroll
  for (int i = 0; i < N / 8; i += 2) {
    unsigned x[4] = {};
#pragma unroll
    for (int h = 0; h < 4; h++)
      if (i + h / 2 < N / 8)
        x[h] = f32_to_2f16(d[4 * i + 2 * h] * UNSHIFT, d[4 * i + 2 * h + 1] * UNSHIFT);
    __syncwarp();
    stmatrix_transposed(to, x);
    __syncwarp();
    // By rows of N a lane has half of a token's results, M-major the results of half the rows.
    int column = mmajor ? lane % 16 : lane / 2, half = mmajor ? lane / 16 : lane % 2;
    int at = token + 8 * i + column, from = row + 8 * half;
    uint4 v;
    load_shared(v, patch + column * 48 + half * 16);
    if (at >= p.m || from >= p.n || 8 * i + column >= N) continue;
    unsigned short* c = (unsigned short*)p.c;
    if (!mmajor) {
      *(uint4*)(c + (long long)at * p.n + from) = v;
    } else {
      unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int j = 0; j < 8; j++)
        c[(long long)(from + j) * p.m + at] = words[j / 2] >> 16 * (j % 2);
    }
  }
}

// The register operands of the four products of a slab: lane t of four has 16 weights of a row, one
// block of the format, in two words.
struct Operands {
  unsigned a[16];

  // From where the lane's words of rows r and r + 8 are, 256 bytes apart, and its scale of r.
  __device__ __forceinline__ void decode(unsigned weights, unsigned scales) {
    uint2 top, low;
    load_shared(top, weights);
    load_shared(low, weights + 256);
    // Rows r and r + 8 of a tile of scales are 128 bytes apart.
    unsigned both = scale_pair(load_shared_u8(scales) | load_shared_u8(scales + 128) << 8);
    unsigned scale_top = low_twice(both), scale_low = high_twice(both);
    half(a, top.x, low.x, scale_top, scale_low);
    half(a + 8, top.y, low.y, scale_top, scale_low);
  }
  __device__ static __forceinline__ void half(unsigned* to, unsigned top, unsigned low,
                                              unsigned scale_top, unsigned scale_low) {
    to[0] = pair<0>(top, scale_top), to[1] = pair<0>(low, scale_low);
    to[2] = pair<1>(top, scale_top), to[3] = pair<1>(low, scale_low);
    to[4] = pair<2>(top, scale_top), to[5] = pair<2>(low, scale_low);
    to[6] = pair<3>(top, scale_top), to[7] = pair<3>(low, scale_low);
  }
};

// The slabs of a tile, two operands in turn: one is decoded while the other is multiplied.
template <int N>
struct Slabs {
  float d[N / 2];
  Operands x[2];
  Weights& weights;
  Stage& next; // to decode
  Stage now;   // to multiply
  int& place;
  unsigned own, scale; // where the lane's words are, and its scale in a tile of 128 rows

  // Zeros for the sums, and for what is decoded only later: registers without values would be
  // taken at all times, for every N, and so would be zeros that the compiler may share.
  __device__ __forceinline__ Slabs(Weights& weights, Stage& stage, int& place)
      : weights(weights), next(stage), now(stage), place(place) {
    unsigned t = thread(), row = t / 32 * 16 + t % 32 / 4;
    own = weights.slot + t % 32 * 8;
    scale = row % 32 * 16 + row / 32 * 4 + t % 4;
#pragma unroll
    for (int i = 0; i < N / 2; i++) zero_here(d[i]);
#pragma unroll
    for (int i = 0; i < 16; i++) zero_here(x[1].a[i]);
  }

  template <int I>
  __device__ __forceinline__ void prepare() {
    wait_copies<WEIGHTS - 2>();
    __syncwarp(); // all lanes' copies are there, and all have read the place that is next
    barrier_wait(next.full(), next.phase);
    x[I].decode(own + place * OWN, next.scales() + scale);
    place = place + 1 == WEIGHTS ? 0 : place + 1;
    weights.fetch();
    next.next();
  }
  // Starts the products of a slab and prepares the next one, if any.
  template <int I>
  __device__ __forceinline__ void multiply(bool first, bool last) {
    unsigned long long b = descriptor(now.tokens());
    wgmma_fence();
#pragma unroll
    for (int j = 0; j < 4; j++) wgmma<N>(d, x[I].a + 4 * j, b + 2 * j);
    wgmma_commit();
    wgmma_wait<1>(); // the slab before: its operands and its stage are free
    if (!first) release(before());
    now.next();
    if (!last) prepare<1 - I>();
  }
  __device__ __forceinline__ Stage before() const {
    Stage stage = now;
    stage.index = now.index ? now.index - 1 : STAGES - 1;
    return stage;
  }
  __device__ __forceinline__ void run(int slabs) {
    prepare<0>();
#pragma unroll 1
    for (int k = 0; k < slabs; k += 2) {
      multiply<0>(k == 0, k + 1 == slabs);
      if (k + 1 < slabs) multiply<1>(false, k + 2 == slabs);
    }
    wgmma_wait<0>();
#pragma unroll
    for (int i = 0; i < N / 2; i++) not_before(d[i]);
    __syncwarp(); // all lanes have read the last slab's scales
    release(before());
  }
};

template <int N>
__device__ __forceinline__ void tile(const Work& work, const Item& item, Weights& weights,
                                     Stage& stage, unsigned rank, int& place) {
  const Problem& p = work.problems[item.problem];
  Slabs<N> slabs(weights, stage, place);
  slabs.run(p.k / 64);
  int warp = thread() / 32;
  unsigned patch = stage.base + PATCHES + warp * PATCH;
  store<N>(slabs.d, p, patch, row_of(item, rank) + warp * 16, item.token, work.mmajor);
}

template <int N>
struct Sizes {
  __device__ static __forceinline__ void run(const Work& work, const Item& item, Weights& weights,
                                             Stage& stage, unsigned rank, int& place) {
    if (item.cols == N) tile<N>(work, item, weights, stage, rank, place);
    else Sizes<N - STEP>::run(work, item, weights, stage, rank, place);
  }
};
template <>
struct Sizes<0> {
  __device__ static __forceinline__ void run(const Work&, const Item&, Weights&, Stage&, unsigned,
                                             int&) {}
};

__device__ __forceinline__ void consume(const Work& work, Range own, Stage stage,
                                        unsigned rank) {
  Weights weights(work, own, stage.base + RING);
#pragma unroll 1
  for (int s = 0; s < WEIGHTS - 1; s++) weights.fetch();
  int place = 0;
  for (; own.at < own.end; own.at++)
    Sizes<MAXN>::run(work, work.items[own.at], weights, stage, rank, place);
}

#endif
