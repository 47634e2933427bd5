// How blocks that no cluster joins add their sums: through a workspace in device memory.
#ifndef MNKBENCH_PARTS
#define MNKBENCH_PARTS
#include "../../../common/mutant.h"
#include "../../../device/ptx_memory.h"
#include "cluster_reduce.cuh"

// The least power of two that is no less.
__host__ __device__ constexpr int power_from(int x) { return x > 1 ? 2 * power_from((x + 1) / 2) : 1; }

// All parts of a tile hand each other a piece of their sums, at once and without a fence: a
// word that is not EMPTY has arrived. EMPTY is a NaN that no arithmetic makes; whoever reads a
// word leaves EMPTY behind, which is what the workspace holds before the first run. Blocks wait
// for one another here, so all of the grid must be on the device together.
//
// Compile-time: PARTS.
template <class Mainloop>
struct GridReduce {
  using S = ClusterReduce<Mainloop>;
  using Vec = typename S::Vec;
  // Units of a share that a part owns; threads in groups of at least as many read the parts in
  // turns.
  static constexpr int PIECE = (S::SHARE + PARTS - 1) / PARTS;
  static constexpr int LANES = power_from(PIECE) < THREADS ? power_from(PIECE) : THREADS;
  static constexpr int MOST = THREADS / LANES, GROUPS = MOST < PARTS ? MOST : PARTS;
  static constexpr int TURNS = (PARTS + GROUPS - 1) / GROUPS;
  static constexpr unsigned EMPTY = ~0u;

  // [owner, sender, PIECE]
  Vec* box;
  int part;

  // What the part waits for is wanted in the cache before it is sent.
  __device__ void open() const {
    constexpr unsigned LINES = (PARTS * PIECE * sizeof(Vec) + 127) / 128;
    const char* p = (const char*)(box + part * PARTS * PIECE);
    // Known to be no more turns than that: else they are unrolled to a kilobyte of code.
#pragma unroll
    for (unsigned first = 0; first < LINES; first += THREADS)
      if (first + threadIdx.x < LINES) prefetch(p + (first + threadIdx.x) * 128);
  }

  // `i`: a unit of the share.
  __device__ void send(int i, Vec sum) {
    for (int j = 0; j < S::W; j++)
      if (__float_as_uint(sum.at[j]) == EMPTY) sum.at[j] = __uint_as_float(EMPTY >> 1);
    int sender = MUTANT(exchange_same_place) ? part / 2 : part;
    store_relaxed(box + (i / PIECE * PARTS + sender) * PIECE + i % PIECE, sum.at);
  }

  // Gives `to(where(i), sum)` the sums of this part's units, of which `units` are in the share.
  template <class Where, class To>
  __device__ void receive(int units, Where where, To to) {
    int lane = threadIdx.x % LANES, group = threadIdx.x / LANES;
    for (int j = lane; j - lane < PIECE; j += LANES) {
      int i = part * PIECE + j;
      bool mine = j < PIECE && i < units, here = mine && group < GROUPS;
      Vec* from = box + (part * PARTS + group) * PIECE + j;
      Vec got[TURNS], sum = {};
#pragma unroll
      for (int t = 0; t < TURNS; t++)
        if (here && group + t * GROUPS < PARTS)
          load_relaxed(got[t].at, from + t * GROUPS * PIECE);
      auto at = where(i);
#pragma unroll
      for (int t = 0; t < TURNS; t++) {
        if (!here || group + t * GROUPS >= PARTS) break;
        Vec* p = from + t * GROUPS * PIECE;
        while (empty(got[t]) && !MUTANT(exchange_no_poll)) load_relaxed(got[t].at, p);
        for (int w = 0; w < S::W; w++) sum.at[w] += got[t].at[w];
      }
#pragma unroll
      for (int t = 0; t < TURNS; t++) {
        Vec none;
        for (int w = 0; w < S::W; w++) none.at[w] = __uint_as_float(EMPTY);
        if (here && group + t * GROUPS < PARTS && !MUTANT(exchange_not_emptied))
          store_relaxed(from + t * GROUPS * PIECE, none.at);
      }
      if (GROUPS > 1) groups_meet(sum);
      // Threads beyond the last group have read nothing.
      if (mine && group == 0) to(at, sum);
    }
  }

  // The first group has the sums of all in the end. Up to 32 units are a warp's,
  // whose lanes share the groups: one warp's instructions are all that is waited for here.
  __device__ static void groups_meet(Vec& sum) {
    constexpr int SUBS = LANES < 32 ? 32 / LANES : 1;
    Vec* met = (Vec*)(memory + S::END);
    if (threadIdx.x < GROUPS * LANES) met[threadIdx.x] = sum;
    if (!MUTANT(exchange_no_barrier)) __syncthreads();
    if (threadIdx.x >= LANES * SUBS) return;
    sum = {};
#pragma unroll
    for (int g = SUBS * MUTANT(exchange_skip_group); g < GROUPS; g += SUBS)
      if (g + SUBS <= GROUPS || g + threadIdx.x / LANES < GROUPS)
        for (int w = 0; w < S::W; w++) sum.at[w] += met[g * LANES + threadIdx.x].at[w];
#pragma unroll
    for (int step = 16; step >= LANES + MUTANT(exchange_skip_lanes); step /= 2)
      for (int w = 0; w < S::W; w++) sum.at[w] += __shfl_xor_sync(~0u, sum.at[w], step);
  }

  __device__ static bool empty(const Vec& x) {
    bool any = false;
    for (int j = 0; j < S::W; j++) any |= __float_as_uint(x.at[j]) == EMPTY;
    return any;
  }
};

#endif
