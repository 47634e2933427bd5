// C = epilogue(A . B^T) in one launch: split K between blocks and between waves of a block.
//
// Idea: AITER's LDS-pipelined split-K GEMM (its FlyDSL kernels). A ring of STAGES K steps in the
// local data share hides what memory takes; B may go straight to registers, since no wave
// shares it; waves that split a step meet in the local data share. Blocks that split K meet in
// memory, and the last to come finishes and resets the counters for the next launch:
//   ATOMIC 0: fp32 partial products, summed by the last block in the order of the splits, so
//     that the result is the same every time;
//   ATOMIC 1: the original protocol. Split 0 writes the bias or zeros and signals; all wait for
//     it, then add pairs of 16-bit values in whatever order they come.
// All splits of a tile are on one die (block number modulo 8), in the order of the splits, so
// that they share its L2 and nobody waits for a block that cannot start.
//
//   A [M, K], rows lda apart   B [N, K], rows ldb apart   bias [N] or null   C [M, N]
//   P [splits, M, N] fp32 (ATOMIC 0)   signals, counters: an int for each tile, 0 between launches
//   grid ceil(tiles / 8) * 8 * splits, block 64 * WAVES
#include "../../../common/mutant.h"
#include "../tile.hip.h"

constexpr int DIES = 8;
constexpr int A_CHUNKS = BM * CHUNKS, B_CHUNKS = B_TO_LDS ? BN * CHUNKS : 0;
constexpr int STAGE = A_CHUNKS + B_CHUNKS;
// Bytes that a lane copies past the registers, and its copies for a step.
#if defined(__gfx950__)
constexpr int COPY_BYTES = 16;
#else
constexpr int COPY_BYTES = 4;
#endif
constexpr int LANES_OF_CHUNK = 16 / COPY_BYTES;
constexpr int COPIES = STAGE * LANES_OF_CHUNK / THREADS;
constexpr int PAIRS = BM * BN / 2;

// A step of ROWS rows to the ring, past the registers. The local data share takes a wave's copies
// in a row, so it is the source's chunks that are permuted.
template <int ROWS>
DEVICE void copy_rows(u32x4* to, const TYPE* from, int ld, int rows) {
#if ASYNC
  int wave = thread_x() / WAVE, lane = thread_x() % WAVE;
#pragma unroll
  for (int i = 0; i < ROWS * CHUNKS * LANES_OF_CHUNK / THREADS; i++) {
    int first = (i * WAVES + wave) * WAVE, at = (first + lane) / LANES_OF_CHUNK;
    int row = at / CHUNKS, chunk = chunk_at(row, at % CHUNKS) - row * CHUNKS;
    if (MUTANT(splitk_no_swizzle)) chunk = at % CHUNKS;
    int there = row < rows || MUTANT(splitk_no_clamp) ? row : 0;
    const TYPE* p = from + (long long)there * ld + chunk * PER;
#if defined(__gfx950__)
    copy_async_16(to + first, (const u32x4*)p);
#else
    copy_async((unsigned*)to + first, (const unsigned*)p + lane % LANES_OF_CHUNK);
#endif
  }
#endif
}

KERNEL(THREADS) void splitk(const TYPE* A, const TYPE* B, const TYPE* bias, TYPE* C, float* P,
                            int* signals, int* counters, int M, int N, int slice, int lda,
                            int ldb, int ldc, int splits, int relu) {
  int slot = block_x() / DIES, tile = slot / splits * DIES + block_x() % DIES;
  int split = slot % splits, across = N / BN, down = (M + BM - 1) / BM;
  if (tile >= across * down) return;
  int m0 = tile / across * BM, n0 = tile % across * BN;
  u32x4* ring = (u32x4*)LDS;
  const TYPE* a = A + (long long)m0 * lda + split * slice;
  const TYPE* b = B + (long long)n0 * ldb + split * slice;
  int steps = slice / BK, rows = M - m0;

  Sums sums;
  // B straight to registers: one step ahead.
  constexpr int OWN = ATOMS / WK;
  u32x4 next_b[B_TO_LDS ? 1 : OWN * Sums::NT16], now_b[B_TO_LDS ? 1 : OWN * Sums::NT16];
  auto fetch_b = [&](int step) __attribute__((always_inline)) {
#pragma unroll
    for (int i = 0; i < OWN; i++)
#pragma unroll
      for (int t = 0; t < Sums::NT16; t++) {
        const TYPE* p = b + (long long)(sums.n + t * 16 + sums.lane % 16) * ldb;
        next_b[i * Sums::NT16 + t] = load_once((const u32x4*)(p + step * BK) + sums.chunk(i));
      }
  };
  auto multiply_step = [&](const u32x4* at) __attribute__((always_inline)) {
    if constexpr (B_TO_LDS) sums.step(at, at + A_CHUNKS);
    else sums.step(at, [&](int i, int t) __attribute__((always_inline)) {
      return now_b[i * Sums::NT16 + t];
    });
  };
  auto take_b = [&](int step) __attribute__((always_inline)) {
    if constexpr (!B_TO_LDS) {
#pragma unroll
      for (int i = 0; i < OWN * Sums::NT16; i++) now_b[i] = next_b[i];
      if (step + 1 < steps) fetch_b(step + 1);
    }
  };
  if constexpr (!B_TO_LDS) fetch_b(0);

#if ASYNC
  auto start = [&](int step) __attribute__((always_inline)) {
    u32x4* to = ring + step % STAGES * STAGE;
    copy_rows<BM>(to, a + step * BK, lda, rows);
    if constexpr (B_TO_LDS) copy_rows<BN>(to + A_CHUNKS, b + step * BK, ldb, BN);
  };
#pragma unroll
  for (int s = 0; s < STAGES - 1; s++) start(s);
#pragma unroll 1
  for (int step = 0; step < steps; step++) {
    // So many steps were started after this one; at the end there are fewer.
    if (step + STAGES - 1 <= steps) wait_copies<(STAGES - 2 + MUTANT(splitk_late_wait)) * COPIES>();
    else if (!MUTANT(splitk_no_last_wait)) wait_copies<0>();
    if (!MUTANT(splitk_no_copy_barrier)) barrier();
    // All are past the step before: its place takes the next copy.
    if (step + STAGES - 1 < steps) start(step + STAGES - 1 + MUTANT(splitk_skip_step));
    take_b(step);
    multiply_step(ring + step % STAGES * STAGE);
  }
#else
  Rows<BM> piece_a;
  Rows<BN> piece_b;
  auto fetch = [&](int step) __attribute__((always_inline)) {
    piece_a.template fetch<true>(a + step * BK, lda, rows, BK);
    if constexpr (B_TO_LDS) piece_b.template fetch<true>(b + step * BK, ldb, BN, BK);
  };
  auto put = [&](int step) __attribute__((always_inline)) {
    u32x4* to = ring + step % STAGES * STAGE;
    piece_a.put(to);
    if constexpr (B_TO_LDS) piece_b.put(to + A_CHUNKS);
  };
  fetch(0);
  put(0);
  barrier();
#pragma unroll 1
  for (int step = 0; step < steps; step++) {
    if (step + 1 < steps) fetch(step + 1);
    take_b(step);
    multiply_step(ring + step % STAGES * STAGE);
    if (step + 1 < steps) put(step + 1);
    barrier();
  }
#endif

  // Waves that split the step meet: [WK, BM, BN] in what is added to C, or in fp32.
#if ATOMIC
  using Met = TYPE;
#else
  using Met = float;
#endif
  Met* met = (Met*)LDS;
  barrier();
#pragma unroll
  for (int i = 0; i < Sums::SQUARES; i++)
#pragma unroll
    for (int r = 0; r < 4; r++)
      narrow(sums.part[i][r], met[(sums.k * BM + sums.row(i) + r) * BN + sums.col(i)]);
  if (ATOMIC && split == 0) {
    for (int e = thread_x(); e < PAIRS; e += THREADS) {
      int row = m0 + e * 2 / BN, col = n0 + e * 2 % BN;
      Pack<TYPE, 2> x = {};
      if (bias) x = *(const Pack<TYPE, 2>*)(bias + col);
      if (row < M) *(Pack<TYPE, 2>*)(C + (long long)row * ldc + col) = x;
    }
  }
  barrier();
  if (ATOMIC && thread_x() == 0) {
    if (split == 0) agent_store_release(signals + tile, 1);
    else while (agent_load_acquire(signals + tile) == 0 && !MUTANT(splitk_no_signal_wait)) pause();
  }
  if (ATOMIC && !MUTANT(splitk_no_signal_barrier)) barrier();

  float* p = P + (long long)split * M * N;
  for (int e = thread_x(); e < PAIRS; e += THREADS) {
    int row = m0 + e * 2 / BN, col = n0 + e * 2 % BN;
    Pack<float, 2> sum = {};
#pragma unroll
    for (int w = 0; w < WK; w++) {
      Pack<Met, 2> x = *(const Pack<Met, 2>*)(met + w * BM * BN + e * 2);
      for (int j = 0; j < 2; j++) sum.at[j] += widen(x.at[j]);
    }
    if (row >= M && !MUTANT(splitk_no_row_guard)) continue;
#if ATOMIC
    Pack<TYPE, 2> x;
    for (int j = 0; j < 2; j++) narrow(sum.at[j], x.at[j]);
    agent_add_pair(C + (long long)row * ldc + col, x);
#else
    *(Pack<float, 2>*)(p + (long long)row * N + col) = sum;
#endif
  }

  // Who comes last has everything to read, and nobody left to wait for.
  if (!MUTANT(splitk_early_count)) barrier();
  int* last = (int*)LDS;
  if (thread_x() == 0) *last = agent_add_acq_rel(counters + tile, 1) == splits - 1;
  if (!MUTANT(splitk_no_count_barrier)) barrier();
  if (!*last) return;
  if (thread_x() == 0) {
    if (!MUTANT(splitk_counter_not_reset)) agent_store(counters + tile, 0);
    if (ATOMIC && !MUTANT(splitk_signal_not_reset)) agent_store(signals + tile, 0);
  }
#if !ATOMIC
  for (int e = thread_x(); e < PAIRS; e += THREADS) {
    int row = m0 + e * 2 / BN, col = n0 + e * 2 % BN;
    if (row >= M) continue;
    Pack<float, 2> sum = {};
#pragma unroll 4
    for (int s = 0; s < splits - MUTANT(splitk_skip_split); s++) {
      Pack<float, 2> x = *(const Pack<float, 2>*)(P + ((long long)s * M + row) * N + col);
      for (int j = 0; j < 2; j++) sum.at[j] += x.at[j];
    }
    Pack<TYPE, 2> c, add = {};
    if (bias) add = *(const Pack<TYPE, 2>*)(bias + col);
    for (int j = 0; j < 2; j++) narrow(epilogue(sum.at[j], widen(add.at[j]), relu), c.at[j]);
    store(C + (long long)row * ldc + col, c, 2);
  }
#endif
}
