// y = x . W^T by products of warpgroups, weights decoded in registers.
//
// Idea: rows of W are the 64-row side of wgmma and its register operand, tokens are its columns,
// up to 256 of them: a weight is decoded once for a tile of tokens. Sets of warpgroups have the
// same rows and tokens and other parts of K, so that some decode while others multiply, and so
// have the blocks of a cluster. A warp copies its own rows' codes and scales (wgmma_spans.cuh); x
// comes by tensor maps, which a warp of its own asks for; of x . W another warp asks for columns, and
// two make the pairs of their scales (wgmma_columns.cuh). Sums of all parts are added in a fixed
// order, in fp32.
//
//   x [M, K]: boxes of BM x 64   w [N, K * BITS / 32] words   scales, biases [N, K / GROUP]
//   y [M, N]
//   Compile-time: TYPE, MODE, BITS, GROUP, BM tokens and ROWS of weights a tile, SETS, STAGES (stages of x
//   of a set), STAGE_STEPS (steps of a stage), PLACES, CLUSTER, NN, UNIT (K of a part is a multiple of
//   it), EVEN (wgmma_spans.cuh), LAST (units of the last part, 0: the parts are equal but for one unit), LATE
//   (mailboxes where stages were), TABLE (wgmma_decode.cuh)
//   grid (CLUSTER, tiles of N, tiles of M), block 2 * ROWS * SETS + 128, cluster CLUSTER
//   early: 1 if the launch may start before the previous one ends
//   flags: wgmma_spans.cuh's or wgmma_columns.cuh's
//   shared memory: TABLE_BYTES + BARRIERS + 16 bytes a stage, and 24 of x . W a place
#include "../../common/mutant.h"
#include "../../device/ptx_barrier.h"
constexpr int SET = ROWS / 64 * 128, THREADS = SET * SETS, PARTS = SETS * CLUSTER;
#if NN
#include "wgmma_columns.cuh"
#else
#include "wgmma_spans.cuh"
#endif
#include "wgmma_reduce.cuh"

static_assert(ROWS % 64 == 0 && BM % 8 == 0 && BM <= 256, "products are whole");
// Registers that those who copy do not need go to the sums; of x . W they copy weights too. A block
// starts with as many of a thread as its threads leave, in eights: raising waits for ever for more.
constexpr int MANY = (THREADS <= 256 ? 240 : THREADS == 384 ? 160 : 112) - (NN ? 8 : 0);
constexpr int FEW = NN ? (THREADS <= 256 ? 40 : THREADS == 384 ? 56 : 64) : THREADS <= 256 ? 24 : 32;
constexpr int STARTED = 65536 / (THREADS + 128) / 8 * 8;
static_assert(THREADS == 128 || THREADS * MANY + 128 * FEW <= STARTED * (THREADS + 128), "registers");
// Bytes of x of a step, and of a stage.
constexpr int TILE = BM * 128, STAGE = STAGE_STEPS * TILE, X = SETS * STAGES * STAGE;
// Sums take the place of all that was copied.
constexpr int COPIED = X + THREADS / COPIERS * RING;
// Mailboxes for which there is no other room do too, but for their barrier.
constexpr int BESIDE = LATE ? COPIED - BOXES : COPIED, MAIL = BESIDE > SUMS ? BESIDE : SUMS;
constexpr int BARRIERS = MAIL + MAILBOX;

SHARED_MEMORY(1024); // where swizzle atoms start

// A set's place in its stages of x.
struct Stage {
  unsigned base;
  int set, index = 0, phase = 0;
  __device__ unsigned full() const { return base + BARRIERS + 16 * (set * STAGES + index); }
  __device__ unsigned empty() const { return full() + 8; }
  __device__ unsigned x() const { return base + (set * STAGES + index) * STAGE; }
  __device__ void next() {
    if (++index == STAGES) index = 0, phase ^= 1;
  }
  // Until x is there.
  __device__ __forceinline__ void wait() const {
    if (!MUTANT(warpgroup_no_wait)) barrier_wait(full(), phase);
  }
};

// The K of a set: whole steps from `first` on, the last one maybe ragged.
struct Part {
  int first, end, steps;
  __device__ Part(int set, int K) {
    int units = (K + UNIT - 1) / UNIT, part = blockIdx.x * SETS + set;
    if (LAST) {
      constexpr int OTHERS = PARTS > 1 ? PARTS - 1 : 1;
      first = (units - LAST) * part / OTHERS * UNIT;
      end = part + 1 < PARTS ? (units - LAST) * (part + 1) / OTHERS * UNIT : K;
    } else {
      first = units * part / PARTS * UNIT;
      end = min(K, units * (part + 1) / PARTS * UNIT);
    }
    steps = (end - first + STEP - 1) / STEP;
  }
};

#if NN
// Where a set's places are, and their barriers.
__device__ inline Places places_of(unsigned base, int set) {
  return {base + X + set * RING, base + BARRIERS + 16 * SETS * STAGES + 24 * set * PLACES};
}
// Calls `of` with each span of all sets: its set, its place, its first k, and the phase of the place's
// barriers after which it is there.
template <class Of> __device__ inline void for_spans(int K, Of of) {
  int most = 0, place = 0, phase = 0;
#pragma unroll
  for (int set = 0; set < SETS; set++) most = max(most, Part(set, K).steps);
#pragma unroll 1
  for (int span = 0; span * SPAN < most * STEP; span++) {
#pragma unroll 1
    for (int set = 0; set < SETS; set++) {
      Part part(set, K);
      if (span * SPAN < part.steps * STEP) of(set, place, part.first + span * SPAN, phase);
    }
    if (++place == PLACES) place = 0, phase ^= 1;
  }
}
// A warp asks for the spans of all sets.
__device__ inline void produce_weights(const Maps& maps, const Stored& from, Size size,
                                       unsigned base, int n0, bool chunks) {
  unsigned long long policy = evict_first();
  for_spans(size.K, [&](int set, int place, int k, int phase) {
    Places places = places_of(base, set);
    if (!MUTANT(warpgroup_early_weights)) barrier_wait(places.empty(place), phase ^ 1);
    copy_span(maps, from, size, places, place, n0, k, chunks, policy);
  });
}
// Two warps make the pairs of scales of the spans of all sets. A place is always the same warp's: a warp
// that did not wait for each of a place's phases could not tell them apart.
__device__ inline void produce_pairs(unsigned base, int n0, int K) {
  int warp = (threadIdx.x - THREADS) / 32 - 2;
  for_spans(K, [&](int set, int place, int, int phase) {
    if ((set + place) % 2 != warp) return;
    Places places = places_of(base, set);
    if (!MUTANT(columns_early_pairs)) barrier_wait(places.raw(place), phase);
    make_pairs(places, place, n0);
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(places.full(place));
  });
}
#endif

// One thread copies steps `from` to `to` of all sets in turn, by whole stages. The last stage of a part may
// have x behind it too, or zeros behind K: they are not used.
__device__ inline void produce(const TensorMap* x, unsigned base, int m0, int K, int from, int to) {
  Stage stage{base, 0, from / STAGE_STEPS % STAGES, from / STAGE_STEPS / STAGES % 2};
#pragma unroll 1
  for (int step = from; step < to; step += STAGE_STEPS, stage.next())
#pragma unroll
    for (stage.set = 0; stage.set < SETS; stage.set++) {
      Part part(stage.set, K);
      if (step >= part.steps) continue;
      if (!MUTANT(warpgroup_early_refill)) barrier_wait(stage.empty(), stage.phase ^ 1);
      barrier_expect(stage.full(), STAGE);
#pragma unroll
      for (int i = 0; i < STAGE_STEPS; i++)
        copy_tile(stage.x() + i * TILE, x, part.first + (step + i) * STEP, m0, stage.full());
    }
}

// The sums of a warpgroup over a part of K.
using Sums = float[BM / 2];

// Whether registers are few beside the sums of the largest tiles: only codes of 4 bits fit, and with two
// warpgroups those without biases. Of others, nvcc 13.0 still spills up to 20 bytes with more warpgroups.
constexpr int MOST_TOKENS = THREADS <= 256 ? 256 : THREADS == 384 ? 128 : 64;
constexpr bool TIGHT = BITS != 4 && THREADS > (MODE == AFFINE ? 128 : 256) && BM > MOST_TOKENS * 3 / 4;

// Products are queued in groups. Where there are registers for it, the four of a step are a group: a warp
// then decodes a whole step with nothing to wait for, which takes two buffers of operands.
constexpr bool WHOLE = !NN && (THREADS == 128 || (THREADS == 256 && BM <= 224 && !TIGHT));
constexpr int GROUPED = WHOLE ? 4 : 1, BUFFERS = WHOLE ? 2 : 1, UNDER_WAY = WHOLE ? 1 : 3;

// Whether the loop tests before each step of a span if the part of K ends there. Parts that are whole
// spans need no such tests; affine codes keep them, as most tiles are faster so
// (docs/notes/2026-11-30-fewer-instructions.md).
constexpr bool TESTS_EACH_STEP = NN || !EVEN || LAST || MODE == AFFINE;

// A group's operands are decoded while the groups before are under way, into registers that one before
// these has read. Codes are loaded a step before they are decoded, and scales prepared one before that.
__device__ __forceinline__ void consume(Sums& d, Spans& spans, Stage stage, int left) {
  constexpr int STEPS = SPAN / STEP;
  static_assert(STEPS % BUFFERS == 0, "a buffer is always the same step's");
  static_assert(STEPS % STAGE_STEPS == 0, "a span is whole stages");
  Selector selector(stage.base - TABLE_BYTES);
  // Kept in registers where these are not few: nvcc 13.0 computes them again in each step.
  unsigned lane = threadIdx.x % 32;
  if (BITS == 4 || THREADS <= 256 || BM < MOST_TOKENS * 3 / 4) not_before(selector.bytes), not_before(lane);
  Raw raw;
  unsigned a[BUFFERS][16];
  if (left <= 0) return;
  // Behind the last step it is old codes that are decoded, and not used.
  auto decode = [&](int step, int first) {
#pragma unroll
    for (int j = first; j < first + GROUPED; j++) {
      raw.decode(a[step % BUFFERS], step % STEPS, j, selector);
      if (j % 2 == 0) continue;
      spans.load(raw, (step + 1) % STEPS, j / 2);
      if (j == 1) continue;
      const int prepared = step + 2;
      if (prepared % STEPS == 0 && prepared < left) spans.advance();
      spans.prepare(prepared % STEPS);
    }
  };
  spans.advance();
  spans.prepare(0);
  spans.load(raw, 0, 0);
  spans.load(raw, 0, 1);
  spans.prepare(1);
  decode(0, 0);
  // The barrier of the stage that is to be released, if there is one.
  unsigned before = 0;
#pragma unroll 1
  for (; left > 0; left -= STEPS) {
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
      if (TESTS_EACH_STEP && step >= left) break;
      const int in_stage = step % STAGE_STEPS;
      if (in_stage == 0) stage.wait();
      unsigned long long from = descriptor(stage.x() + (MUTANT(warpgroup_same_half) ? 0 : in_stage) * TILE, 0);
#pragma unroll
      for (int group = 0; group < 4 / GROUPED; group++) {
        wgmma_fence();
#pragma unroll
        for (int j = group * GROUPED; j < (group + 1) * GROUPED; j++)
          multiply<BM>(d, a[step % BUFFERS] + 4 * j, from + 2 * j);
        wgmma_commit();
        wgmma_wait<UNDER_WAY + MUTANT(warpgroup_late_wait)>();
        // The last group of the stage before is over.
        if (in_stage == 0 && group == UNDER_WAY - 1) {
          if (before) {
            __syncwarp();
            if (lane == 0) barrier_arrive(before);
          }
          before = stage.empty();
        }
        const int next = (group + 1) * GROUPED;
        decode(step + next / 4, next % 4);
      }
      if (in_stage == STAGE_STEPS - 1) stage.next();
    }
  }
  wgmma_wait<MUTANT(warpgroup_no_finish)>();
#pragma unroll
  for (int i = 0; i < BM / 2; i++) not_before(d[i]);
}

extern "C" __global__ void __launch_bounds__(THREADS + 128, 1)
wgmma_qmm(const __grid_constant__ TensorMap x,
#if NN
          const __grid_constant__ TensorMap codes_map, const __grid_constant__ TensorMap scales_map,
          const __grid_constant__ TensorMap biases_map,
#endif
          const unsigned char* w, const unsigned char* scales, const unsigned char* biases, TYPE* y,
          int M, int N, int K, int flags, int early) {
  int n0 = blockIdx.y * ROWS, m0 = blockIdx.z * BM, thread = threadIdx.x;
  unsigned base = shared_address(memory) + TABLE_BYTES;
  if (thread == THREADS) {
    for (int i = 0; i < SETS * STAGES; i++) {
      barrier_init(base + BARRIERS + 16 * i, 1);
      barrier_init(base + BARRIERS + 16 * i + 8, SET / 32 - MUTANT(warpgroup_few_arrivals));
    }
#if NN
    for (int i = 0; i < SETS * PLACES; i++) {
      unsigned bar = base + BARRIERS + 16 * SETS * STAGES + 24 * i;
      barrier_init(bar, 2 - MUTANT(columns_no_pairs));
      barrier_init(bar + 8, SET / 32 - MUTANT(warpgroup_few_reads));
      barrier_init(bar + 16, arrivals(flags));
    }
#endif
    barrier_made();
    // The next launch may start: it asks for its own weights.
    launch_dependents();
    // What is needed first is asked for before the block has met; of x . W codes come later than x.
    if (!early && !NN) produce(&x, base, m0, K, 0, STAGE_STEPS);
  }
  // By a lane's number of it, the compiler knows that it is the same in all lanes.
  int set = __shfl_sync(~0u, thread / SET, 0);
  Reduce reduce(base, base + MAIL, set);
  reduce.open();
  Part part(set, K);
#if NN
  Spans spans(places_of(base, set), n0);
#else
  int row = n0 + thread % SET / COPIERS * (COPIERS / 2);
  Spans spans({w, scales, biases}, {N, K}, row, part.first, part.end, flags,
              base + X + thread / COPIERS * RING);
  // Single scales of rows are waited for.
  constexpr bool LATER = CHANNEL || TIGHT;
  if (!LATER && thread < THREADS) spans.open();
#endif
  // While the first copies are under way.
  constexpr bool LATE_TABLE = MUTANT(warpgroup_late_table);
  if (TABLE && !LATE_TABLE) fill_table(base - TABLE_BYTES, THREADS + 128);
  __syncthreads();
  if (TABLE && LATE_TABLE) fill_table(base - TABLE_BYTES, THREADS + 128);
  if (thread >= THREADS) {
    if (THREADS > 128) lower_registers<FEW>();
    if (thread == THREADS) {
      int most = 0;
#pragma unroll
      for (int i = 0; i < SETS; i++) most = max(most, Part(i, K).steps);
      if (early && !MUTANT(warpgroup_no_launch_wait)) wait_for_prerequisites();
      produce(&x, base, m0, K, early || NN ? 0 : STAGE_STEPS, most);
    }
#if NN
    int warp = __shfl_sync(~0u, (thread - THREADS) / 32, 0);
    if (warp == 1)
      produce_weights({&codes_map, &scales_map, &biases_map}, {w, scales, biases}, {N, K}, base, n0,
                      flags);
    if (warp > 1) produce_pairs(base, n0, K);
#endif
    __syncwarp();
    reduce.make_room();
    reduce.ready();
    return;
  }
  if (THREADS > 128) raise_registers<MANY>();
#if !NN
  if (LATER) spans.open();
#endif
  Sums d;
#pragma unroll
  for (int i = 0; i < BM / 2; i++) zero_here(d[i]);
  consume(d, spans, Stage{base, set}, part.steps);
  wait_copies<0>();
  reduce.add(d);
  reduce.store(d, y, m0, n0, M, N);
}
