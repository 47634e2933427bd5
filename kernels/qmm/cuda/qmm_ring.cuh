// What the tensor-core kernel keeps in shared memory: K steps of stored weights and of x in a
// ring.
//
// Idea: weights stay packed until they are in registers. The warps of a K phase have a ring
// of their own, so they wait for no others; weights are read once and leave the caches first.
//
// Compile-time: TYPE, octet.cuh's, BM tokens and 16 * RT * WN rows of weights a tile, KS (the
// K step), WK phases of WN warps, STAGES, CLUSTER.
#ifndef MNKBENCH_QMM_RING
#define MNKBENCH_QMM_RING
#include "../../common/mutant.h"
#include "../../device/ptx_copy.h"
#include "cluster_reduce.cuh"
#include "octet.cuh"

// Of 8 tokens, or of one, whose neighbours in a product are itself.
constexpr int NT = (BM + 7) / 8;
static_assert(BM == 1 || BM % 8 == 0, "tokens of a tile");
constexpr int BN = 16 * RT * WN, GANG = 32 * WN, THREADS = GANG * WK;
// Octets that a lane takes at once: the four lanes of a row stay within a group, or, where
// scales are multiplied into the weights, each of them does.
constexpr bool FOLDED = MODE == NVFP4, EVEN = (BITS & (BITS - 1)) == 0;
constexpr int LO = (GROUP >= 64 || FOLDED) && EVEN ? 2 : 1;

// Bytes of a row of weights in a step, and from row to row: what four lanes of a row read at
// once starts in other banks than what those of the next rows do.
constexpr int ROW = KS * BITS / 8, QUAD = 4 * LO * BITS < 16 || LO * BITS % 4 ? 16 : 4 * LO * BITS;
constexpr int PITCH_W = ((ROW + QUAD - 1) / QUAD | 1) * QUAD;
constexpr int PITCH_X = 2 * KS + (LO == 1 ? 64 : 16);
constexpr int STAGE_W = BN * PITCH_W, STAGE = STAGE_W + BM * PITCH_X;
static_assert(KS % 128 == 0, "rows of a step are whole 16-byte chunks, and whole groups");

// Sums of the phases, which take the place of the ring.
constexpr int PITCH_S = BN + 4, UNITS = BM * BN / 4;
constexpr int SUMS = WK * BM * PITCH_S * 4;
constexpr int RING = WK * STAGES * STAGE, ROOM = RING > SUMS ? RING : SUMS;
constexpr int MAIL = ClusterReduce::bytes(UNITS);

// Few sums leave registers for two blocks, or for twice the warps.
constexpr bool FEW = RT * NT <= 2 && EVEN;
constexpr int LEAST = (FEW ? 512 : 256) / THREADS, RESIDENT = LEAST > 1 ? LEAST : 1;

SHARED_MEMORY(128);

struct Ring {
  const TYPE* x;              // of the first token
  const unsigned char* w;     // of the first row
  int tokens, rows, bytes, K;  // that exist; bytes of a row of weights
  int wide;                   // rows of weights start on 16 bytes
  unsigned base;
  unsigned long long policy;

  // Starts to copy the K step at `k`. What does not exist is 0, or, where the copies of a warp
  // are no whole rows, left as it is: what becomes of such rows is not stored.
  __device__ void copy(int k, int stage) const {
    unsigned to = base + stage * STAGE, t = threadIdx.x % GANG;
    int first = k / 8 * BITS;
    if (wide) {
      each<ROW / 16, BN>(t, rows, w + first, bytes, bytes - first,
                         [&](unsigned row, unsigned byte, const unsigned char* from, bool there) {
                           copy_async_16(to + row * PITCH_W + byte, from, there, policy);
                         });
    } else {
#pragma unroll 1
      for (int at = t; at < BN * ROW / 4; at += GANG) {
        int row = at / (ROW / 4), byte = at % (ROW / 4) * 4;
        if (row >= rows) break;
        copy_async_4(to + row * PITCH_W + byte, w + (long long)row * bytes + first + byte,
                     first + byte < bytes || MUTANT(qmm_no_word_guard));
      }
    }
    each<KS / 8, BM>(t, tokens, (const unsigned char*)(x + k), K * 2LL, (K - k) * 2,
                     [&](unsigned row, unsigned byte, const unsigned char* from, bool there) {
                       copy_async_16(to + STAGE_W + row * PITCH_X + byte, from, there);
                     });
  }

 private:
  // Calls `work` with this thread's share of the chunks of ROWS rows, of which `some` exist, and
  // of which `left` bytes do.
  template <int CHUNKS, int ROWS, class Work>
  __device__ static void each(unsigned t, int some, const unsigned char* from, long long pitch,
                              int left, Work work) {
    if constexpr (GANG % CHUNKS == 0) {
      constexpr int STEP = GANG / CHUNKS;
      unsigned row = t / CHUNKS, byte = t % CHUNKS * 16;
      int mine = (int)byte < left || MUTANT(qmm_no_chunk_guard) ? some - (int)row : 0;
      from += row * pitch + byte;
#pragma unroll
      for (int i = 0; i < ROWS; i += STEP, from += STEP * pitch) {
        bool there = MUTANT(qmm_no_row_guard) ? mine > 0 : i < mine;
        if (ROWS % STEP == 0 || row + i < ROWS) work(row + i, byte, from, there);
      }
    } else {
#pragma unroll
      for (unsigned i = 0; i < ROWS * CHUNKS; i += GANG) {
        unsigned row = (i + t) / CHUNKS, byte = (i + t) % CHUNKS * 16;
        if ((int)row < some && row < ROWS)
          work(row, byte, from + row * pitch + byte, (int)byte < left);
      }
    }
  }
};

// What a phase's warps wait for: nobody else.
__device__ inline void gather() {
  if (WN == 1 && MUTANT(qmm_no_warp_barrier)) return;
  if (WN == 1) __syncwarp();
  else if (WK == 1) __syncthreads();
  else sync_some<GANG>(1 + (MUTANT(qmm_shared_barrier) ? 0 : (int)threadIdx.x / GANG));
}

#endif
