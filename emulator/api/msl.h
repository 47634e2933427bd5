// kernels/device/msl.h for the lane emulator: the same names, and MSL's own, on a CPU. The compiler
// is told to include it before anything else, so that the other one, finding its guard taken, is
// empty. Address spaces are nothing here: emulator/api/msl_spaces.h has the compiler check them.
#ifndef MNKBENCH_MSL
#define MNKBENCH_MSL
#include <string.h>

#include <tuple>
#include <utility>

#include "../emulator.h"
#include "floats.h"

#define DEVICE inline __attribute__((always_inline))
#define KERNEL(THREADS) extern "C" EMU_KERNEL((THREADS))
#ifndef EMU_KERNEL
#define EMU_KERNEL(THREADS)
#endif
#define device
#define threadgroup
#define thread
#define constant const

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned uint;
typedef unsigned long ulong;
typedef float float2 __attribute__((vector_size(8), may_alias));
typedef float float4 __attribute__((vector_size(16), may_alias));
typedef unsigned uint4 __attribute__((vector_size(16), may_alias));
struct uint3 { uint x, y, z; };

template <class To, class From> HIDDEN inline To as_type(From from) {
  static_assert(sizeof(To) == sizeof(From), "as_type keeps the size");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}
template <class T> DEVICE T min(T a, T b) { return b < a ? b : a; }
template <class T> DEVICE T max(T a, T b) { return a < b ? b : a; }

template <float (*WIDEN)(ushort), ushort (*NARROW)(float)> struct Emu16 {
  ushort bits;
  Emu16() = default;
  explicit Emu16(float x) : bits(NARROW(x)) {}
  operator float() const { return WIDEN(bits); }
};
typedef Emu16<emu_from_f16, emu_to_f16> half, f16;
typedef Emu16<emu_from_bf16, emu_to_bf16> bfloat, bf16;
typedef float f32;

enum { EMU_WAVE = 32 };
HIDDEN inline void barrier() { emu_barrier(); }
HIDDEN inline float emu_lane(const void *all, uint lane) {
  float x;
  memcpy(&x, (const char *)all + lane * 64, 4);
  return x;
}
HIDDEN inline float lane_sum(float x) {
  auto all = emu_share("simd_sum", &x, 4);
  float sum = 0;
  for (uint i = 0; i < EMU_WAVE; i++) sum += emu_lane(all, i);
  return sum;
}
HIDDEN inline float lane_xor(float x, ushort mask) {
  return emu_lane(emu_share("simd_shuffle_xor", &x, 4), emu_thread() % EMU_WAVE ^ mask);
}

// As MLX has them: backends/metal/lanes_test.ts compares them with one-hot matrices.
HIDDEN inline int square_row(uint lane) { return (lane / 4 & 4) + lane / 2 % 4; }
HIDDEN inline int square_col(uint lane) { return (lane / 4 & 2) * 2 + lane % 2 * 2; }
HIDDEN inline void multiply_add(float2 &c, float2 a, float2 b) {
  float mine[4] = {a[0], a[1], b[0], b[1]}, left[8][8], right[8][8];
  auto all = (const char *)emu_share("simdgroup_multiply_accumulate", mine, sizeof mine);
  for (uint i = 0; i < EMU_WAVE; i++)
    for (int j = 0; j < 2; j++) {
      memcpy(&left[square_row(i)][square_col(i) + j], all + i * 64 + j * 4, 4);
      memcpy(&right[square_row(i)][square_col(i) + j], all + i * 64 + 8 + j * 4, 4);
    }
  int lane = emu_thread() % EMU_WAVE, row = square_row(lane), col = square_col(lane);
  for (int j = 0; j < 2; j++)
    for (int k = 0; k < 8; k++) c[j] = __builtin_fmaf(left[row][k], right[k][col + j], c[j]);
}

HIDDEN inline int unit_row(uint lane) { return (lane / 4 & 4) + lane / 2 % 4; }
HIDDEN inline int unit_col(uint lane) { return (lane / 4 & 2) * 4 + lane % 2 * 4; }
template <class T> HIDDEN inline void multiply_add_units(float *c, float *d, const T *a, const T *b) {
  T mine[24];
  memcpy(mine, a, 8 * sizeof(T)), memcpy(mine + 8, b, 16 * sizeof(T));
  auto all = (const char *)emu_share("matmul2d", mine, sizeof mine);
  float left[16][16], right[32][16];
  for (uint i = 0; i < EMU_WAVE; i++) {
    memcpy(mine, all + i * 64, sizeof mine);
    for (int e = 0; e < 24; e++) {
      const int row = unit_row(i) + e % 8 / 4 * 8, col = unit_col(i) + e % 4;
      if (e < 8) left[row][col] = mine[e];
      else right[(e - 8) / 8 * 16 + row][col] = mine[e];
    }
  }
  const int lane = emu_thread() % EMU_WAVE;
  for (int e = 0; e < 8; e++)
    for (int k = 0; k < 16; k++) {
      const int row = unit_row(lane) + e / 4 * 8, col = unit_col(lane) + e % 4;
      c[e] = __builtin_fmaf(left[row][k], right[col][k], c[e]);
      d[e] = __builtin_fmaf(left[row][k], right[16 + col][k], d[e]);
    }
}

// WHERE and ROOM declare no parameters for the driver.
struct EmuBlock : uint3 {};
struct EmuBlocks : uint3 {};
struct EmuThread {
  uint at;
  operator uint() const { return at; }
};
struct EmuRoom {
  uchar *at;
  template <class T> operator T *() const { return (T *)at; }
};
#define WHERE EmuBlock block, EmuBlocks blocks, EmuThread tid
#define ROOM EmuRoom lds

// Starts a kernel with copies of its parameters.
template <class T> struct EmuParam;
template <class T> struct EmuParam<T *> {
  enum { SIZE = 8 | EMU_POINTER };
  typedef T *Value;
  HIDDEN static T *take(void **&p) { return *(T **)*p++; }
};
template <class T> struct EmuParam<const T &> {
  enum { SIZE = sizeof(T) };
  typedef T Value;
  HIDDEN static T take(void **&p) { return *(T *)*p++; }
};
#define EMU_TAG(TAG, ...)                                                     \
  template <> struct EmuParam<TAG> {                                          \
    enum { SIZE = 0 };                                                        \
    typedef TAG Value;                                                        \
    HIDDEN static TAG take(void **&) { return TAG{__VA_ARGS__}; }             \
  };
EMU_TAG(EmuBlock, {emu_block(0), emu_block(1), emu_block(2)})
EMU_TAG(EmuBlocks, {emu_grid(0), emu_grid(1), emu_grid(2)})
EMU_TAG(EmuThread, emu_thread())
EMU_TAG(EmuRoom, emu_lds())

template <class T> struct EmuMslEntry;
template <class... A> struct EmuMslEntry<void(A...)> {
  // Ends at the first that is 0, as the tags stand last.
  static constexpr unsigned SIZES[] = {EmuParam<A>::SIZE..., 0};
  template <void (*F)(A...), size_t... I>
  HIDDEN static void call(std::tuple<typename EmuParam<A>::Value...> &v, std::index_sequence<I...>) {
    F(std::get<I>(v)...);
  }
  template <void (*F)(A...)> HIDDEN static void run(void **p) {
    std::tuple<typename EmuParam<A>::Value...> v{EmuParam<A>::take(p)...};
    call<F>(v, std::index_sequence_for<A...>());
  }
};
#undef EMU_ENTRY
#define EMU_ENTRY(NAME, THREADS)                                                               \
  extern "C" __attribute__((visibility("default"))) const EmuKernel emu_kernel_##NAME = {      \
      &EmuMslEntry<decltype(NAME)>::run<NAME>, EmuMslEntry<decltype(NAME)>::SIZES, THREADS, EMU_WAVE, 4};

#endif
