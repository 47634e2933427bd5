// A tile of a product on MFMA: how it lies in the local data share, how it gets there, and how
// waves multiply it.
//
// Compile-time: BM, BN, BK, WAVES, TYPE and LAYOUT (nn: B[K, N], nt: B[N, K]).
//
// Both operands lie with k innermost, in chunks of 16 bytes. A lane's chunk is PER values of k,
// which feed PER / 4 products (PER of fp32): any order of k will do that is the same for both.
#ifndef MNKBENCH_TILE_HIP
#define MNKBENCH_TILE_HIP
#include "../../common/mutant.h"
#include "element.hip.h"

enum Layout { nn, nt };
constexpr bool NT = LAYOUT == nt;
constexpr int THREADS = WAVE * WAVES;
constexpr int PER = 16 / sizeof(TYPE);
constexpr int CHUNKS = BK / PER;
// The k that a wave's chunks make up together, and how many of them a step has.
constexpr int ATOM = 4 * PER, ATOMS = BK / ATOM;

// Waves halve the longer side of the tile as long as 16 are left; the others split BK.
struct WarpTiling {
  int m = BM, n = BN, k = 1;
  constexpr WarpTiling() {
    for (int waves = WAVES; waves > 1; waves /= 2) {
      if (m >= n && m > 16) m /= 2;
      else if (n > 16) n /= 2;
      else if (m > 16) m /= 2;
      else k *= 2;
    }
  }
};
#ifdef WAVES_K
constexpr int WM = BM / WAVES_M, WN = BN / WAVES_N, WK = WAVES_K;
static_assert(WAVES == WAVES_M * WAVES_N * WAVES_K, "the waves are those of the cut");
#else
constexpr int WM = WarpTiling().m, WN = WarpTiling().n, WK = WarpTiling().k;
#endif
// Two blocks share a compute unit where its 64 KiB of local data share have room for both.
constexpr int LDS_BYTES = 2 * (BM + BN) * BK * sizeof(TYPE);
constexpr int PER_SIMD = (WAVES * (2 * LDS_BYTES <= 65536 ? 2 : 1) + 3) / 4;
static_assert(ATOMS % WK == 0, "every wave has products in every step");

// Chunks of a row are permuted by the row, so that a column's chunks of eight rows lie in
// different banks.
DEVICE int chunk_at(int row, int chunk) {
  constexpr int WIDE = CHUNKS < 8 ? CHUNKS : 8;
  return row * CHUNKS + (chunk ^ (row / (8 / WIDE) % WIDE));
}

// A piece of ROWS x BK on its way: from rows of k to registers, to the local data share.
// WHOLE: chunks start on 16 bytes, and each exists wholly or not at all.
template <int ROWS>
struct Rows {
  static constexpr int COUNT = (ROWS * CHUNKS + THREADS - 1) / THREADS;
  u32x4 held[COUNT];

  template <bool WHOLE>
  DEVICE void fetch(const TYPE* from, int ld, int rows, int depth) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      int at = i * THREADS + thread_x(), row = at / CHUNKS, k = at % CHUNKS * PER;
      Pack<TYPE, PER> x = {};
      if (row < ROWS && row < rows) {
        const TYPE* p = from + (long long)row * ld + k;
        if (!WHOLE) x = load<PER>(p, depth - k);
        else if (k < depth) x = *(const Pack<TYPE, PER>*)p;
      }
      held[i] = __builtin_bit_cast(u32x4, x);
    }
  }
  DEVICE void put(u32x4* to) const {
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      int at = i * THREADS + thread_x();
      if (COUNT * THREADS == ROWS * CHUNKS || at < ROWS * CHUNKS)
        to[chunk_at(at / CHUNKS, at % CHUNKS)] = held[i];
    }
  }
};

// The same of a piece whose rows are of k, BK x COLS: each lane turns squares of PER x PER.
template <int COLS>
struct Columns {
  static constexpr int ACROSS = COLS / PER, SQUARES = CHUNKS * ACROSS;
  static constexpr int COUNT = (SQUARES + THREADS - 1) / THREADS;
  Pack<TYPE, PER> held[COUNT][PER];

  template <bool WHOLE>
  DEVICE void fetch(const TYPE* from, int ld, int cols, int depth) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      int at = i * THREADS + thread_x(), k0 = at / ACROSS * PER, col = at % ACROSS * PER;
#pragma unroll
      for (int r = 0; r < PER; r++) {
        Pack<TYPE, PER> x = {};
        if (at < SQUARES && k0 + r < depth) {
          const TYPE* p = from + (long long)(k0 + r) * ld + col;
          if (!WHOLE) x = load<PER>(p, cols - col);
          else if (col < cols) x = *(const Pack<TYPE, PER>*)p;
        }
        held[i][r] = x;
      }
    }
  }
  DEVICE void put(u32x4* to) const {
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      int at = i * THREADS + thread_x();
      if (COUNT * THREADS != SQUARES && at >= SQUARES) break;
#pragma unroll
      for (int c = 0; c < PER; c++) {
        Pack<TYPE, PER> x;
#pragma unroll
        for (int r = 0; r < PER; r++)
          x.at[r] = MUTANT(hip_no_transpose) ? held[i][c].at[r] : held[i][r].at[c];
        to[chunk_at(at % ACROSS * PER + c, at / ACROSS)] = __builtin_bit_cast(u32x4, x);
      }
    }
  }
};

template <bool, class A, class> struct Choose { using type = A; };
template <class A, class B> struct Choose<false, A, B> { using type = B; };
using PieceA = Rows<BM>;
using PieceB = Choose<NT, Rows<BN>, Columns<BN>>::type;

#if defined(__gfx950__)
// One product takes a whole chunk.
DEVICE u32x4 wrong(u32x4 a) {
  if (MUTANT(hip_half_chunk)) return u32x4{a[0], a[1], 0, 0};
  return MUTANT(hip_swapped_halves) ? u32x4{a[2], a[3], a[0], a[1]} : a;
}
DEVICE f32x4 multiply(bf16, u32x4 a, u32x4 b, f32x4 c) { return mfma_bf16_k32(wrong(a), b, c); }
DEVICE f32x4 multiply(f16, u32x4 a, u32x4 b, f32x4 c) { return mfma_f16_k32(wrong(a), b, c); }
#else
DEVICE f32x4 multiply(bf16, u32x4 a, u32x4 b, f32x4 c) {
  c = mfma_bf16(u32x2{a[0], a[1]}, u32x2{b[0], b[1]}, c);
  return MUTANT(hip_half_product) ? c : mfma_bf16(u32x2{a[2], a[3]}, u32x2{b[2], b[3]}, c);
}
DEVICE f32x4 multiply(f16, u32x4 a, u32x4 b, f32x4 c) {
  c = mfma_f16(u32x2{a[0], a[1]}, u32x2{b[0], b[1]}, c);
  return mfma_f16(u32x2{a[2], a[3]}, u32x2{b[2], b[3]}, c);
}
#endif
DEVICE f32x4 multiply(f32, u32x4 a, u32x4 b, f32x4 c) {
  f32x4 x = __builtin_bit_cast(f32x4, a), y = __builtin_bit_cast(f32x4, b);
#pragma unroll
  for (int i = 0; i < 4; i++) c = mfma_f32(x[i], y[i], c);
  return c;
}

// A wave's WM x WN of sums, in squares of 16 x 16; of each a lane has four rows of a column.
struct Sums {
  static constexpr int MT = WM / 16, NT16 = WN / 16, SQUARES = MT * NT16;
  f32x4 part[SQUARES];
  int m, n, k, lane;

  DEVICE Sums() {
    int wave = thread_x() / WAVE;
    lane = thread_x() % WAVE;
    k = wave % WK;
    m = wave / WK % (BM / WM) * WM;
    n = wave / WK / (BM / WM) * WN;
#pragma unroll
    for (int i = 0; i < SQUARES; i++) part[i] = f32x4{0, 0, 0, 0};
  }

  // The chunk of a step that is this lane's in the wave's `i`th product.
  DEVICE int chunk(int i) const { return (i * WK + k) * 4 + lane / 16; }

  // One step of K: the tile of A is at `a`, and `chunk_of_b(i, t)` is the `i`th chunk of this
  // lane's column in the `t`th square.
  template <class F>
  DEVICE void step(const u32x4* a, F chunk_of_b) {
#pragma unroll
    for (int i = 0; i < ATOMS / WK; i++) {
      u32x4 fa[MT], fb[NT16];
#pragma unroll
      for (int t = 0; t < MT; t++) {
        int row = lane % 16 ^ (MUTANT(hip_swapped_rows) && lane % 16 < 2);
        fa[t] = a[chunk_at(m + t * 16 + row, chunk(i))];
      }
#pragma unroll
      for (int t = 0; t < NT16; t++) fb[t] = chunk_of_b(i, t);
#pragma unroll
      for (int t = 0; t < MT; t++)
#pragma unroll
        for (int u = 0; u < NT16; u++)
          part[t * NT16 + u] = multiply(TYPE(), fa[t], fb[u], part[t * NT16 + u]);
    }
  }

  // The same with the tile of B at `b`.
  DEVICE void step(const u32x4* a, const u32x4* b) {
    step(a, [&](int i, int t) __attribute__((always_inline)) {
      return b[chunk_at(n + t * 16 + lane % 16, chunk(i) ^ MUTANT(hip_swapped_chunks))];
    });
  }

  DEVICE int row(int square) const {
    return m + square / NT16 * 16 + (lane / 16 ^ MUTANT(hip_swapped_result)) * 4;
  }
  DEVICE int col(int square) const { return n + square % NT16 * 16 + lane % 16; }

  // Waves that split BK meet at `met`, which nobody else uses; each then has the whole sums of
  // the squares that are its own. There is a barrier in it.
  DEVICE bool owns(int square) const { return WK == 1 || square % WK == k; }
  DEVICE void meet(f32x4* met) {
    if (WK == 1) return;
    f32x4* mine = met + (thread_x() / WAVE / WK) * WK * SQUARES * WAVE + lane;
#pragma unroll
    for (int i = 0; i < SQUARES; i++) mine[(k * SQUARES + i) * WAVE] = part[i];
    if (!MUTANT(hip_no_reduce_barrier)) barrier();
#pragma unroll
    for (int i = 0; i < SQUARES; i++) {
      if (!owns(i)) continue;
      f32x4 sum = {0, 0, 0, 0};
#pragma unroll
      for (int w = 0; w < WK - MUTANT(hip_skip_wave); w++) sum += mine[(w * SQUARES + i) * WAVE];
      part[i] = sum;
    }
  }
};

#endif
