// kernels/device/ptx*.h for the lane emulator: the same names, on a CPU. See cuda.h. The guards
// are theirs, so that they are empty when a kernel includes them.
#ifndef MNKBENCH_PTX
#define MNKBENCH_PTX
#define MNKBENCH_PTX_BARRIER
#define MNKBENCH_PTX_PREFETCH
#define MNKBENCH_PTX_STMATRIX
#define MNKBENCH_PTX_COPY
#define MNKBENCH_PTX_ARRIVE
#define MNKBENCH_PTX_MEMORY
#define MNKBENCH_PTX_MMA
#define MNKBENCH_PTX_MMA_MN

#define DEVICE inline __attribute__((always_inline))
// All of the block's memory that the launch asked for.
#define SHARED_MEMORY(ALIGN) \
  HIDDEN inline unsigned char *emu_memory() { return emu_lds_at(ALIGN); }
#define memory emu_memory()
// More of it: every block has its own, which the address of a byte of the module's names.
#define SHARED(TYPE, NAME, ...) SHARED_ALIGNED(alignof(TYPE), TYPE, NAME, __VA_ARGS__)
#define SHARED_ALIGNED(ALIGN, TYPE, NAME, ...)  \
  typedef TYPE NAME##_type __VA_ARGS__;         \
  static char NAME##_key;                       \
  NAME##_type &NAME = *(NAME##_type *)emu_lds_static(&NAME##_key, sizeof(NAME##_type), ALIGN)

HIDDEN inline unsigned shared_address(const void *p) { return emu_address(p); }

DEVICE float f16_to_f32(unsigned short x) { return emu_from_f16(x); }
DEVICE void f32_to_f16(float x, unsigned short &y) { y = emu_to_f16(x); }
DEVICE void f32_to_bf16(float x, unsigned short &y) { y = emu_to_bf16(x); }
DEVICE unsigned emu_pair(unsigned short low, unsigned short high) { return low | (unsigned)high << 16; }
DEVICE unsigned f32_to_2f16(float low, float high) { return emu_pair(emu_to_f16(low), emu_to_f16(high)); }
DEVICE unsigned f32_to_2bf16(float low, float high) { return emu_pair(emu_to_bf16(low), emu_to_bf16(high)); }
DEVICE unsigned e4m3_to_2f16(unsigned x) { return emu_pair(emu_e4m3_to_f16(x), emu_e4m3_to_f16(x >> 8)); }
DEVICE void e4m3_to_4f16(unsigned (&y)[2], unsigned x) {
  y[0] = e4m3_to_2f16(x);
  y[1] = e4m3_to_2f16(x >> 16);
}
DEVICE unsigned low_half_twice(unsigned x) { return (x & 0xffff) * 0x10001; }
DEVICE unsigned high_half_twice(unsigned x) { return (x >> 16) * 0x10001; }
DEVICE unsigned multiply_2f16(unsigned a, unsigned b) {
  return emu_pair(emu_multiply_f16(a, b), emu_multiply_f16(a >> 16, b >> 16));
}
DEVICE unsigned multiply_2bf16(unsigned a, unsigned b) {
  return emu_pair(emu_multiply_bf16(a, b), emu_multiply_bf16(a >> 16, b >> 16));
}
template <float (*WIDEN)(unsigned short), unsigned short (*NARROW)(float)>
HIDDEN unsigned short emu_multiply_add(unsigned short a, unsigned short b, unsigned short c) {
  return NARROW(emu_odd((double)WIDEN(a) * WIDEN(b) + WIDEN(c)));
}
DEVICE unsigned multiply_add_2f16(unsigned a, unsigned b, unsigned c) {
  constexpr auto one = emu_multiply_add<emu_from_f16, emu_to_f16>;
  return emu_pair(one(a, b, c), one(a >> 16, b >> 16, c >> 16));
}
DEVICE unsigned multiply_add_2bf16(unsigned a, unsigned b, unsigned c) {
  constexpr auto one = emu_multiply_add<emu_from_bf16, emu_to_bf16>;
  return emu_pair(one(a, b, c), one(a >> 16, b >> 16, c >> 16));
}

HIDDEN inline unsigned thread_x_here() { return emu_thread_at(0); }
DEVICE void zero_here(float &x) { x = 0; }
DEVICE void zero_here(unsigned &x) { x = 0; }
template <class T> DEVICE void not_before(T &) {}

// Register counts are not emulated.
template <int COUNT> DEVICE void raise_registers() {
  static_assert(COUNT % 8 == 0 && COUNT >= 24 && COUNT <= 256, "a number of registers that there can be");
}
template <int COUNT> DEVICE void lower_registers() { raise_registers<COUNT>(); }

template <int MANY> HIDDEN void sync_some(int id) {
  static_assert(MANY > 0 && MANY % 32 == 0, "whole warps");
  emu_barrier_of(id, MANY);
}

// The emulator decides when the next launch starts.
DEVICE void launch_dependents() {}
HIDDEN inline void wait_for_prerequisites() { emu_launch_wait(); }

// Barriers in shared memory, and copies that tell them.

HIDDEN inline void barrier_init(unsigned bar, int arrivals) { emu_mbarrier_init(bar, arrivals); }
HIDDEN inline void barrier_made() { emu_mbarrier_made(); }
HIDDEN inline void barrier_expect(unsigned bar, int bytes) { emu_mbarrier_arrive(bar, emu_rank(), bytes); }
HIDDEN inline void barrier_open(unsigned bar, int bytes) {
  barrier_init(bar, 1);
  barrier_made();
  barrier_expect(bar, bytes);
}
HIDDEN inline void barrier_arrive(unsigned bar) { emu_mbarrier_arrive(bar, emu_rank(), 0); }
// Scopes are not told apart.
HIDDEN inline void barrier_arrive(unsigned bar, unsigned rank) { emu_mbarrier_arrive(bar, rank, 0); }
HIDDEN inline void barrier_wait(unsigned bar, int parity) { emu_mbarrier_wait(bar, parity); }
template <int PARITY> HIDDEN void barrier_wait_cluster(unsigned bar) { emu_mbarrier_wait(bar, PARITY); }

// A policy is a number that evict_first() and evict_normal() make.
HIDDEN inline void emu_policy(unsigned long long policy) {
  if (policy >> 1 != 0xe71c7) emu_refuse("a cache policy that is none");
}
HIDDEN inline void copy_bulk(unsigned to, const void *from, int bytes, unsigned bar, unsigned long long policy) {
  emu_policy(policy);
  emu_copy_bulk(to, from, bytes, bar, 1u << emu_rank());
}
HIDDEN inline void copy_bulk_to_all(unsigned to, const void *from, int bytes, unsigned bar,
                                    unsigned long long policy, unsigned short mask) {
  emu_policy(policy);
  emu_copy_bulk(to, from, bytes, bar, mask);
}

// Blocks of a cluster.

EMU_CONSTANT_OF_LANE inline unsigned cluster_rank() { return emu_rank(); }

HIDDEN inline void cluster_arrive() { emu_cluster_arrive(EMU_RELEASE); }
HIDDEN inline void cluster_arrive_relaxed() { emu_cluster_arrive(EMU_RELAXED); }
HIDDEN inline void cluster_wait() { emu_cluster_wait(); }
HIDDEN inline void cluster_sync() {
  emu_cluster_arrive(EMU_RELEASE);
  emu_cluster_wait();
}

HIDDEN inline void store_cluster(unsigned to, unsigned rank, float x) { emu_store_far(to, rank, &x, 4); }
HIDDEN inline void store_async(unsigned to, unsigned bar, unsigned rank, unsigned x) {
  emu_store_async(to, bar, rank, &x, 4);
}
HIDDEN inline void store_async(unsigned to, unsigned bar, unsigned rank, const float (&x)[2]) {
  emu_store_async(to, bar, rank, x, 8);
}
HIDDEN inline void store_async(unsigned to, unsigned bar, unsigned rank, const float (&x)[4]) {
  emu_store_async(to, bar, rank, x, 16);
}

// Copies to shared memory in groups.

HIDDEN inline void emu_copy(unsigned to, const void *from, bool there, unsigned bytes) {
  // The address must be one even where nothing is read.
  if ((unsigned long long)from % bytes) emu_refuse("a copy from an address that is no multiple of its size");
  emu_copy_async(emu_pointer(to), there ? from : nullptr, bytes);
}
DEVICE void copy_async_16(unsigned to, const void *from, bool there) { emu_copy(to, from, there, 16); }
DEVICE void copy_async_16(unsigned to, const void *from, bool there, unsigned long long policy) {
  emu_policy(policy);
  emu_copy(to, from, there, 16);
}
DEVICE void copy_async_16_line(unsigned to, const void *from) { emu_copy(to, from, true, 16); }
DEVICE void copy_async_16_line(unsigned to, const void *from, int left) { emu_copy(to, from, left > 0, 16); }
DEVICE void copy_async_4(unsigned to, const void *from, bool there) { emu_copy(to, from, there, 4); }

HIDDEN inline void commit_copies() { emu_copy_commit(); }
template <int LEFT> HIDDEN void wait_copies() { emu_copy_wait(LEFT); }
// They come at once: one of the times at which they may.
HIDDEN inline void copies_arrive(unsigned bar) {
  emu_copy_commit();
  emu_copy_wait(0);
  emu_mbarrier_arrive(bar, emu_rank(), 0);
}

// Loads, stores and atomics.

// Rows that do not exist are loaded with those that do, and what becomes of them is not stored:
// what was never written is NaN.
template <class T> HIDDEN void emu_load(T *x, unsigned bytes, unsigned from) {
  const void *p = emu_pointer(from);
  emu_access(p, bytes, EMU_UNWRITTEN);
  memcpy(x, p, bytes);
}
template <class T> HIDDEN T emu_loaded(unsigned from) {
  T x;
  emu_load(&x, sizeof x, from);
  return x;
}
DEVICE unsigned load_shared_u8(unsigned from) { return emu_loaded<unsigned char>(from); }
DEVICE unsigned load_shared_u32(unsigned from) { return emu_loaded<unsigned>(from); }
DEVICE void load_shared(uint2 &x, unsigned from) { x = emu_loaded<uint2>(from); }
DEVICE void load_shared(uint4 &x, unsigned from) { x = emu_loaded<uint4>(from); }
HIDDEN inline void load_shared(float (&x)[4], unsigned from) { emu_load(x, sizeof x, from); }
DEVICE unsigned short load_shared_u8_movable(unsigned from) { return load_shared_u8(from); }
DEVICE unsigned short load_shared_u16_movable(unsigned from) { return emu_loaded<unsigned short>(from); }
DEVICE unsigned load_shared_u32_movable(unsigned from) { return load_shared_u32(from); }
DEVICE void load_shared_movable(uint2 &x, unsigned from) { load_shared(x, from); }
DEVICE void load_shared_movable(uint4 &x, unsigned from) { load_shared(x, from); }

template <class T> HIDDEN void emu_store(unsigned to, T x) {
  void *p = emu_pointer(to);
  emu_access(p, sizeof x, EMU_WRITE);
  memcpy(p, &x, sizeof x);
}
DEVICE void store_shared_u8(unsigned to, unsigned char x) { emu_store(to, x); }
DEVICE void store_shared_u16(unsigned to, unsigned short x) { emu_store(to, x); }
DEVICE void store_shared_u32(unsigned to, unsigned x) { emu_store(to, x); }
DEVICE void store_shared(unsigned to, const uint2 &x) { emu_store(to, x); }
DEVICE void store_shared(unsigned to, const uint4 &x) { emu_store(to, x); }

DEVICE unsigned long long evict_first() { return 2 * 0xe71c7; }
DEVICE unsigned long long evict_normal() { return 2 * 0xe71c7 + 1; }

template <int N> HIDDEN void emu_load_once(unsigned (&x)[N], const void *from, bool there) {
  static_assert(N == 1 || N == 2 || N == 4, "what one load can move");
  memset(x, 0, sizeof x);
  if (!there) return;
  emu_access(from, sizeof x, EMU_CONSTANT);
  memcpy(x, from, sizeof x);
}
template <int N> HIDDEN void load_once(unsigned (&x)[N], const void *from, unsigned long long policy) {
  emu_policy(policy);
  emu_load_once(x, from, true);
}
HIDDEN inline void load_once(uint4 &x, const void *from, bool there, unsigned long long policy) {
  emu_policy(policy);
  unsigned words[4];
  emu_load_once(words, from, there);
  memcpy(&x, words, sizeof x);
}

// Of any address.
DEVICE void prefetch(const void *) {}

// Word by word, so that some may be new and some old.
template <int N> HIDDEN void load_relaxed(float (&x)[N], const void *p) {
  const float *from = (const float *)p;
  static_assert(N == 2 || N == 4, "what one load can move");
  if ((unsigned long long)from % sizeof x) emu_refuse("reads words at an address that is no multiple of their size");
  emu_pause();
  for (int i = 0; i < N; i++) {
    emu_access(from + i, 4, EMU_ATOMIC);
    memcpy(x + i, from + i, 4);
  }
}
template <int N> HIDDEN void store_relaxed(void *p, const float (&x)[N]) {
  float *to = (float *)p;
  static_assert(N == 2 || N == 4, "what one store can move");
  if ((unsigned long long)to % sizeof x) emu_refuse("writes words at an address that is no multiple of their size");
  // In any order too.
  int first = emu_draw(N);
  for (int i = 0; i < N; i++) {
    int at = (first + i) % N;
    emu_yield();
    emu_access(to + at, 4, EMU_WRITE | EMU_ATOMIC);
    emu_order(to + at, EMU_RELAXED, 2);
    memcpy(to + at, x + at, 4);
  }
}
HIDDEN inline unsigned load_acquire(const unsigned *from) {
  emu_pause();
  emu_access(from, 4, EMU_ATOMIC);
  emu_order(from, EMU_ACQUIRE, 1);
  return *from;
}
HIDDEN inline unsigned decrement_acq_rel(unsigned *p, unsigned most) {
  emu_pause();
  emu_access(p, 4, EMU_WRITE | EMU_ATOMIC);
  emu_order(p, EMU_ACQUIRE | EMU_RELEASE, 1);
  unsigned before = *p;
  *p = before == 0 || before > most ? most : before - 1;
  return before;
}

// Matrix products of a warp. Lane maps: PTX ISA, "mma.m16n8k16 with floating point type",
// "ldmatrix", "stmatrix"; backends/cuda/lanes_test.ts compares them with one-hot matrices.

// A row of a matrix of 8 x 8, as it lies in memory.
struct EmuRow {
  unsigned short at[8];
};
// Every lane reads the row that it has the address of.
template <bool TRANSPOSED> HIDDEN void ldmatrix(unsigned (&r)[4], unsigned from) {
  EmuRow mine;
  const void *p = emu_pointer(from);
  emu_access(p, 16, EMU_UNWRITTEN);
  memcpy(&mine, p, 16);
  auto all = (const unsigned char(*)[64])emu_share(TRANSPOSED ? "ldmatrix.trans" : "ldmatrix", &mine, 16);
  unsigned lane = emu_lane();
  for (int i = 0; i < 4; i++) {
    unsigned short x[2];
    for (int h = 0; h < 2; h++) {
      unsigned across = lane / 4, along = lane % 4 * 2 + h;
      unsigned row = TRANSPOSED ? along : across, col = TRANSPOSED ? across : along;
      x[h] = ((const EmuRow *)all[8 * i + row])->at[col];
    }
    r[i] = emu_pair(x[0], x[1]);
  }
}
// Each of the first 8 N lanes writes the row that it has the address of.
template <int N> HIDDEN void stmatrix_transposed(unsigned to, const unsigned (&r)[N]) {
  auto all = (const unsigned char(*)[64])emu_share("stmatrix.trans", r, 4 * N);
  unsigned lane = emu_lane(), matrix = lane / 8, row = lane % 8;
  if (matrix >= N) return;
  EmuRow mine;
  for (unsigned col = 0; col < 8; col++) {
    // The elements of a register are consecutive rows of a column.
    unsigned word = ((const unsigned *)all[4 * col + row / 2])[matrix];
    mine.at[col] = word >> 16 * (row % 2);
  }
  void *p = emu_pointer(to);
  emu_access(p, 16, EMU_WRITE);
  memcpy(p, &mine, 16);
}

struct EmuFragments {
  unsigned a[4], b[2];
};
template <float (*WIDEN)(unsigned short)>
HIDDEN void emu_mma(const char *what, float *top, float *low, const unsigned *a, const unsigned *b) {
  EmuFragments mine;
  memcpy(mine.a, a, 16), memcpy(mine.b, b, 8);
  auto all = (const unsigned char(*)[64])emu_share(what, &mine, sizeof mine);
  unsigned lane = emu_lane();
  float left[2][16], right[2][16];
  for (unsigned k = 0; k < 16; k++) {
    // Four lanes have a row or a column; pairs of k in the same half are 8 apart in registers.
    unsigned of = k % 8 / 2, half = k / 8, shift = 16 * (k % 2);
    for (unsigned i = 0; i < 2; i++) {
      left[i][k] = WIDEN(((const EmuFragments *)all[lane / 4 * 4 + of])->a[i + 2 * half] >> shift);
      right[i][k] = WIDEN(((const EmuFragments *)all[(lane % 4 * 2 + i) * 4 + of])->b[half] >> shift);
    }
  }
  for (unsigned i = 0; i < 4; i++) {
    double sum = 0;
    for (unsigned k = 0; k < 16; k++) sum += (double)left[i / 2][k] * right[i % 2][k];
    float &to = i < 2 ? top[i] : low[i - 2];
    to = (float)(to + sum);
  }
}
DEVICE void mma_f16(float *top, float *low, const unsigned *a, const unsigned *b) {
  emu_mma<emu_from_f16>("mma_f16", top, low, a, b);
}
DEVICE void mma_bf16(float *top, float *low, const unsigned *a, const unsigned *b) {
  emu_mma<emu_from_bf16>("mma_bf16", top, low, a, b);
}

// Boxes of a matrix: device/tensor.cpp.

struct alignas(64) TensorMap { unsigned long long words[16]; };

HIDDEN inline void copy_tile(unsigned to, const TensorMap *map, int column, int row, unsigned bar) {
  emu_copy_tile(to, map, column, row, bar, 1u << emu_rank(), -1);
}
HIDDEN inline void copy_tile_once(unsigned to, const TensorMap *map, int column, int row, unsigned bar, unsigned long long policy) {
  emu_policy(policy);
  copy_tile(to, map, column, row, bar);
}
HIDDEN inline void copy_tile_to_all(unsigned to, const TensorMap *map, int column, int row, unsigned bar, unsigned short mask) {
  emu_copy_tile(to, map, column, row, bar, mask, -1);
}

DEVICE void prefetch_map(const TensorMap *) {}
DEVICE void prefetch_tile(const TensorMap *, int, int) {}

// Products of a warpgroup: device/wgmma.cpp.

HIDDEN inline void wgmma_fence() { emu_wgmma_fence(); }
HIDDEN inline void wgmma_commit() { emu_wgmma_commit(); }
template <int PENDING> HIDDEN void wgmma_wait() { emu_wgmma_wait(PENDING); }

HIDDEN inline void show_products() { emu_show_products(); }
HIDDEN inline unsigned long long descriptor(unsigned address, int product) {
  return 1ull << 62 | 64ull << 32 | ((address >> 4) + (1 << 16) + 2 * product);
}

template <int N> HIDDEN void emu_wgmma_of(float (&d)[N / 2], EmuFactor a, unsigned long long b, bool by_rows = false) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "a number of columns that there is");
  emu_wgmma(d, N, &a, b, by_rows);
}
template <int N> HIDDEN void wgmma(float (&d)[N / 2], const unsigned *a, unsigned long long b) {
  emu_wgmma_of<N>(d, {a, 0, EMU_F16, 0, 0}, b);
}
template <int N> HIDDEN void wgmma_bf16(float (&d)[N / 2], const unsigned *a, unsigned long long b) {
  emu_wgmma_of<N>(d, {a, 0, EMU_BF16, 0, 0}, b);
}
template <int N> HIDDEN void wgmma_f16(float (&d)[N / 2], unsigned long long a, unsigned long long b) {
  emu_wgmma_of<N>(d, {nullptr, a, EMU_F16, 0, 0}, b);
}
template <int N> HIDDEN void wgmma_bf16(float (&d)[N / 2], unsigned long long a, unsigned long long b) {
  emu_wgmma_of<N>(d, {nullptr, a, EMU_BF16, 0, 0}, b);
}
template <int N> HIDDEN void wgmma_e4m3(float (&d)[N / 2], unsigned long long a, unsigned long long b, int add) {
  emu_wgmma_of<N>(d, {nullptr, a, EMU_E4M3, !add, 0}, b);
}

// ptx_mma_mn.h.
HIDDEN inline unsigned long long descriptor_mn(unsigned address, unsigned apart) {
  return 1ull << 62 | 64ull << 32 | (address >> 4 & 0x3fff) | apart >> 4 << 16;
}
template <int N> HIDDEN void wgmma_f16_mn(float (&d)[N / 2], unsigned long long a, unsigned long long b) {
  emu_wgmma_of<N>(d, {nullptr, a, EMU_F16, 0, 0}, b, true);
}
template <int N> HIDDEN void wgmma_bf16_mn(float (&d)[N / 2], unsigned long long a, unsigned long long b) {
  emu_wgmma_of<N>(d, {nullptr, a, EMU_BF16, 0, 0}, b, true);
}
template <int N> HIDDEN void wgmma_f16_m_major(float (&d)[N / 2], unsigned long long a, unsigned long long b) {
  emu_wgmma_of<N>(d, {nullptr, a, EMU_F16, 0, 1}, b);
}
template <int N> HIDDEN void wgmma_bf16_m_major(float (&d)[N / 2], unsigned long long a, unsigned long long b) {
  emu_wgmma_of<N>(d, {nullptr, a, EMU_BF16, 0, 1}, b);
}

#endif
