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
#include "../../device/ptx_memory.h"
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

  // Starts to copy the weights of the K step at `k`. What does not exist is 0, or, where the copies of
  // a warp are no whole rows, left as it is: what becomes of such rows is not stored.
  __device__ void copy_weights(int k, int stage) const {
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
  }
  // The same of x.
  __device__ void copy_tokens(int k, int stage) const {
    unsigned to = base + stage * STAGE, t = threadIdx.x % GANG;
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

// Scales and biases of a block's K slice in shared memory.
//
// Compile-time: qmm_ring.cuh's.

// Scales and biases of the block's K slice as they are stored, asked for before any weights:
// behind these they would be the last to come.
// Groups whose scales are read at once, where there are registers for them.
constexpr int ALIKE = BIASED && !CHANNEL && GROUP <= 64 && NT <= 4 ? 2 : 1;
struct Table {
  using Scale = Stored<TYPE>::Scale;
  // Elements of a 16-byte chunk. The first group may lie anywhere in one.
  static constexpr int PER = 16 / sizeof(Scale);
  unsigned base;
  int pitch, skip;

  __device__ Table(unsigned base, int slice, int from)
      : base(base), pitch((((CHANNEL ? 1 : slice / GROUP) + 2 * PER - 2) / PER | 1) * 16),
        skip(from % PER) {}

  // From group `from` of `length` of each row on; `count` groups, 0 where there are none.
  __device__ void fill(const void* scales, const void* biases, int n0, int N, int from,
                       int length, int count) const {
    int first = from - skip, rows = min(BN, N - n0);
    long long origin = (long long)n0 * length + first;
    const Scale *s = (const Scale*)scales + origin, *b = (const Scale*)biases + origin;
    auto at = [](const Scale* p) { return (unsigned long long)p % 16; };
    if (length % PER == 0 && at(s) == 0 && (!BIASED || at(b) == 0)) {
      chunks(s, b, rows, length, first, count + skip);
      return;
    }
#pragma unroll 1
    for (int i = threadIdx.x; i < rows * (count + skip); i += THREADS) {
      int row = i / (count + skip), group = i % (count + skip);
      unsigned to = base + row * pitch + group * (int)sizeof(Scale);
      bool there = first + group < length;
      long long from = (long long)row * length + group;
      put(to, there ? s[from] : Scale{});
      if (BIASED) put(to + BN * pitch, there ? b[from] : Scale{});
    }
  }

  __device__ unsigned at(int group, int row) const {
    if (CHANNEL && !MUTANT(qmm_channel_groups)) group = 0;
    return base + row * pitch + ((MUTANT(qmm_no_skip) ? 0 : skip) + group) * (int)sizeof(Scale);
  }
  // The scale of a group as a pair of TYPE, times 2^7 over what the weights' fields lack.
  __device__ unsigned pair(int group, int row) const {
    unsigned two = e4m3_to_2f16(load_shared_u8_movable(at(group, row)) * 0x101);
    if (Kind<TYPE>::SHIFT == 3) return times<f16>(two, 0x58005800);
    float scale = half_of(two, 0) * 0x1p119f;
    return f32_to_2bf16(scale, scale);
  }
  // Of ALIKE groups from `group` on, which is a multiple of ALIKE.
  __device__ void get(Factors (&f)[ALIKE], int group, int row) const {
    if constexpr (ALIKE == 2) {
      unsigned s = load_shared_u32_movable(at(group, row));
      unsigned b = load_shared_u32_movable(at(group, row) + BN * pitch);
      for (int i = 0; i < 2; i++)
        f[i] = factors<TYPE>(widen(TYPE{(unsigned short)(s >> 16 * (MUTANT(qmm_same_scale) ? 0 : i))}),
                             widen(TYPE{(unsigned short)(b >> 16 * i)}));
    } else if constexpr (BIASED) {
      unsigned short s = load_shared_u16_movable(at(group, row));
      unsigned short b = load_shared_u16_movable(at(group, row) + BN * pitch);
      f[0] = factors<TYPE>(widen(TYPE{s}), widen(TYPE{b}));
    } else {
      f[0] = factors<TYPE>(decode_scale(MODE, load_shared_u8_movable(at(group, row))), 0);
    }
  }

 private:
  // By 16 bytes. Some threads to a row, each row's neighbours to one another: no division.
  __device__ void chunks(const Scale* s, const Scale* b, int rows, int length, int first,
                         int count) const {
    constexpr unsigned LANES = THREADS > BN ? THREADS / BN : 1;
    int lane = threadIdx.x % LANES * PER;
#pragma unroll 1
    for (int row = threadIdx.x / LANES; row < rows; row += THREADS / LANES) {
      unsigned to = base + row * pitch + lane * (int)sizeof(Scale);
      long long from = (long long)row * length + lane;
#pragma unroll 1
      for (int group = lane; group < count; group += LANES * PER) {
        bool there = first + group < length;
        copy_async_16(to, s + from, there);
        if (BIASED) copy_async_16(to + BN * pitch, b + from, there);
        to += LANES * 16;
        from += LANES * PER;
      }
    }
  }
  __device__ static void put(unsigned to, TYPE x) { store_shared_u16(to, x.bits); }
  __device__ static void put(unsigned to, unsigned char x) { store_shared_u8(to, x); }
};

#endif
