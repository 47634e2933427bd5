// A tile of best.cu: its sums, and how they are stored.
#ifndef GROUPED_BEST_TILE
#define GROUPED_BEST_TILE

// Stores 16 rows of weights by `N` tokens: through a patch of shared memory of the warp's own,
// in which a token's 16 results lie side by side.
template <int N>
__device__ __forceinline__ void store(const float (&d)[N / 2], const Problem& p, unsigned patch, int row,
                             int token, int mmajor) {
  int lane = thread() % 32;
  unsigned to = patch + (lane % 8 + lane / 16 * 8) * 48 + lane / 8 % 2 * 16;
#pragma unroll
  for (int i = 0; i < N / 8; i += 2) {
    unsigned x[4] = {};
#pragma unroll
    for (int h = 0; h < 4; h++)
      if (i + h / 2 < N / 8)
        x[h] = narrow(d[4 * i + 2 * h] * UNSHIFT, d[4 * i + 2 * h + 1] * UNSHIFT);
    __syncwarp();
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::
                 "r"(to), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]) : "memory");
    __syncwarp();
    // By rows of N a lane has half of a token's results, M-major the results of half the rows.
    int column = mmajor ? lane % 16 : lane / 2, half = mmajor ? lane / 16 : lane % 2;
    int at = token + 8 * i + column, from = row + 8 * half;
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(patch + column * 48 + half * 16) : "memory");
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

template <int N>
__device__ __forceinline__ void tile(const Work& work, const Item& item, Weights& weights,
                                     Stage& stage, unsigned rank, int& place) {
  const Problem& p = work.problems[item.problem];
  int warp = thread() / 32, lane = thread() % 32, slabs = p.k / 64;
  int row = warp * 16 + lane / 4;
  unsigned own = row % 32 * 16 + row / 32 * 4 + lane % 4; // of a tile of scales; row < 128
  float d[N / 2] = {};
  unsigned a[2][8];
  Stage before = stage;
#pragma unroll 1
  for (int k = 0; k < slabs; k++) {
    asm volatile("cp.async.wait_group %0;" ::"n"(WEIGHTS - 2) : "memory");
    uint2 top = load8(weights.slot + place * OWN);
    uint2 low = load8(weights.slot + place * OWN + OWN / 2);
    place = place + 1 == WEIGHTS ? 0 : place + 1;
    weights.fetch();
    barrier_wait(stage.full(), stage.phase);
    // Rows r and r + 8 of a tile of scales are 128 bytes apart.
    unsigned codes = load1(stage.scales() + own) | load1(stage.scales() + own + 128) << 8;
    unsigned scales = scale_pair(codes);
    unsigned scale_top = low_twice(scales), scale_low = high_twice(scales);
    unsigned long long b = descriptor(stage.tokens());
#pragma unroll
    for (int v = 0; v < 2; v++) {
      decode(a[v], v ? top.y : top.x, v ? low.y : low.x, scale_top, scale_low);
      wgmma_fence();
      Wgmma<N>::run(d, a[v], b + 4 * v);
      Wgmma<N>::run(d, a[v] + 4, b + 4 * v + 2);
      wgmma_commit();
      wgmma_wait<1>(); // the products before these: their registers are free
      if (v == 0 && k > 0) {
        release(before);
      }
    }
    before = stage;
    stage.next();
  }
  wgmma_wait<0>();
  // The compiler may not move what reads the sums to before the wait.
#pragma unroll
  for (int i = 0; i < N / 2; i++) asm volatile("" : "+f"(d[i])::"memory");
  release(before);
  int own_warp = thread() / 32;
  unsigned patch = stage.base + PATCHES + own_warp * PATCH;
  store<N>(d, p, patch, row_of(item, rank) + own_warp * 16, item.token, work.mmajor);
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
