// What both partial products share: the part of the output and of K that a block owns, the
// ring of K steps in shared memory, and how warps that split K meet.
//
// Compile-time: BM, BN, BK, WARPS, STAGES, TYPE and LAYOUT (nn: B[K, N], nt: B[N, K]).
// A `Product` (partial_mma.cu, partial_ffma.cu) says how one K step is multiplied.
//
// Copies: PTX ISA, "cp.async" (src-size below 16 fills with zeros), "cp.async.wait_group".
#ifndef MNKBENCH_PARTIAL
#define MNKBENCH_PARTIAL
#include "element.cuh"

enum Layout { nn, nt };
constexpr bool NT = LAYOUT == nt;
constexpr int THREADS = 32 * WARPS;
// Elements of a 16-byte chunk.
constexpr int PER = 16 / sizeof(TYPE);

// Warps halve the longer side of the tile as long as 16 are left; the others split BK.
struct Cut {
  int m = BM, n = BN, k = 1;
  __host__ __device__ constexpr Cut() {
    for (int warps = WARPS; warps > 1; warps /= 2) {
      if (m >= n && m > 16) m /= 2;
      else if (n > 16) n /= 2;
      else if (m > 16) m /= 2;
      else k *= 2;
    }
  }
};
constexpr int WM = Cut().m, WN = Cut().n, WK = Cut().k;

// A tile of ROWS x COLS elements as stored. The chunks of a row are permuted by the row
// (XOR), so that eight rows' chunks of one column lie in different banks; rows that are read
// together may be 2^APART apart.
template <int ROWS, int COLS, int APART = 0>
struct Tile {
  static constexpr int CHUNKS = COLS / PER, STEP = THREADS / CHUNKS;
  static constexpr int BYTES = ROWS * COLS * sizeof(TYPE);
  static constexpr int WIDE = CHUNKS < 8 ? CHUNKS : 8;

  // Bytes from the start of the tile to a chunk.
  __device__ static unsigned at(int row, int chunk) {
    return (row * CHUNKS + (chunk ^ ((row >> APART) / (8 / WIDE) % WIDE))) * 16;
  }

  // Starts to copy what is at `from`, of which only `rows` x `cols` exist; the rest is 0.
  // WHOLE: chunks start on 16 bytes, and each exists wholly or not at all.
  template <bool WHOLE>
  __device__ static void copy(unsigned to, const TYPE* from, int ld, int rows, int cols) {
    int row = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS, there = cols - chunk * PER;
    const TYPE* p = from + (long long)row * ld + chunk * PER;
    if (WHOLE) {
#pragma unroll
      for (int i = 0; i < (ROWS + STEP - 1) / STEP; i++, row += STEP, p += (long long)STEP * ld)
        if (ROWS % STEP == 0 || row < ROWS)
          asm volatile("{ .reg .pred absent; setp.ne.b32 absent, %2, 0;\n"
                       "cp.async.cg.shared.global.L2::128B [%0], [%1], 16, absent; }" ::
                       "r"(to + at(row, chunk)), "l"(p), "r"((int)(row >= rows || there <= 0))
                       : "memory");
    } else {
#pragma unroll 1
      for (; row < ROWS; row += STEP, p += (long long)STEP * ld) {
        Pack<TYPE, PER> x = {};
        for (int i = 0; i < PER; i++)
          if (row < rows && i < there) x.at[i] = p[i];
        uint4 bits = *(uint4*)&x;
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::
                     "r"(to + at(row, chunk)), "r"(bits.x), "r"(bits.y), "r"(bits.z),
                     "r"(bits.w) : "memory");
      }
    }
  }
};
using TileA = Tile<BM, BK>;

template <int PENDING>
__device__ inline void wait() {
  asm volatile("cp.async.wait_group %0;" :: "n"(PENDING) : "memory");
}

// P[split, m0.., n0..] = A[m0.., K slice] . B[K slice, n0..].
template <class Product, bool WHOLE>
__device__ inline void slice_of(const TYPE* A, const TYPE* B, float* P, int M, int N, int slice,
                                int lda, int ldb, int m0, int n0, int split) {
  using TileB = typename Product::TileB;
  constexpr int STAGE = TileA::BYTES + TileB::BYTES;
  extern __shared__ __align__(128) unsigned char memory[];
  unsigned ring = (unsigned)__cvta_generic_to_shared(memory);

  int k0 = split * slice;
  const TYPE* a = A + (long long)m0 * lda + k0;
  const TYPE* b = NT ? B + (long long)n0 * ldb + k0 : B + (long long)k0 * ldb + n0;
  int steps = (slice + BK - 1) / BK;
  auto copy = [&](int step, int stage) {
    int k = step * BK;
    unsigned toA = ring + stage * STAGE, toB = toA + TileA::BYTES;
    TileA::template copy<WHOLE>(toA, a + k, lda, M - m0, slice - k);
    if (NT) TileB::template copy<WHOLE>(toB, b + k, ldb, N - n0, slice - k);
    else TileB::template copy<WHOLE>(toB, b + (long long)k * ldb, ldb, slice - k, N - n0);
  };
  auto commit = [] { asm volatile("cp.async.commit_group;" ::: "memory"); };

  // As much in flight as the ring holds, before anything else.
#pragma unroll
  for (int s = 0; s < STAGES; s++) {
    if (s == 0 || s < steps) copy(s, s);
    commit();
  }

  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int wk = warp % WK, wm = warp / WK % (BM / WM), wn = warp / WK / (BM / WM);
  Product product(wm * WM, wn * WN, wk, lane);
  int stage = 0, before = 0;
#pragma unroll 1
  for (int step = 0; step < steps; step++) {
    // The first step finds STAGES groups under way, every later one STAGES - 1.
    if (step == 0) wait<STAGES - 1>();
    else wait<STAGES - 2>();
    __syncthreads();
    if (step > 0) {
      // All warps are past the step before: its stage takes the next copy.
      if (step - 1 + STAGES < steps) copy(step - 1 + STAGES, before);
      commit();
    }
    unsigned from = ring + stage * STAGE;
    product.step(from, from + TileA::BYTES);
    before = stage;
    stage = stage + 1 == STAGES ? 0 : stage + 1;
  }

  using Vec = typename Product::Vec;
  constexpr int SLOTS = Product::SLOTS, W = sizeof(Vec) / sizeof(float);
  // Of warps that split K, each sums and stores its share of the slots.
  constexpr int OWN = (SLOTS + WK - 1) / WK;
  if (WK > 1) {
    // Every warp is in the last step's stage or done: the stage after it is free.
    static_assert(WK == 1 || WK * BM * BN * sizeof(float) <= STAGE, "sums fit in a stage");
    Vec* met = (Vec*)(memory + stage * STAGE) + (wn * (BM / WM) + wm) * WK * SLOTS * 32 + lane;
#pragma unroll
    for (int i = 0; i < SLOTS; i++) met[(wk * SLOTS + i) * 32] = product.part[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < OWN; i++) {
      if (wk * OWN + i >= SLOTS) break;
      Vec sum = {};
#pragma unroll
      for (int k = 0; k < WK; k++) {
        Vec x = met[(k * SLOTS + wk * OWN + i) * 32];
        for (int j = 0; j < W; j++) sum.at[j] += x.at[j];
      }
      product.part[i] = sum;
    }
  }

#pragma unroll
  for (int i = 0; i < OWN; i++) {
    int slot = WK > 1 ? wk * OWN + i : i;
    int row = m0 + product.row(slot), col = n0 + product.col(slot);
    if (slot < SLOTS && row < M)
      store(P + ((long long)split * M + row) * N + col, product.part[i], N - col);
  }
}

// Apart, so that the path that matters reaches its first load in a straight line.
template <class Product>
__device__ __noinline__ void ragged(const TYPE* A, const TYPE* B, float* P, int M, int N,
                                    int slice, int lda, int ldb, int m0, int n0, int split) {
  slice_of<Product, false>(A, B, P, M, N, slice, lda, ldb, m0, n0, split);
}

// The part of the work that is this block's.
//
//   grid (tiles of M in a group, tiles of N, groups * splits): consecutive blocks share a
//   K slice and a few columns of B. slice = K / splits. `whole` says that the rows of A and
//   of B start on 16 bytes in every slice and are whole chunks long.
template <class Product>
__device__ inline void partial(const TYPE* A, const TYPE* B, float* P, int M, int N, int slice,
                               int lda, int ldb, int groups, int whole) {
  int group = 0, split = blockIdx.z;
  if (groups > 1) {
    group = split % groups;
    split /= groups;
  }
  int m0 = (group * gridDim.x + blockIdx.x) * BM, n0 = blockIdx.y * BN;
  if (m0 >= M) return;
  if (whole) slice_of<Product, true>(A, B, P, M, N, slice, lda, ldb, m0, n0, split);
  else ragged<Product>(A, B, P, M, N, slice, lda, ldb, m0, n0, split);
}

#endif
