// CUDA C++ for the lane emulator: the words that kernels use of it, on a CPU. The compiler is
// told to include it before anything else; with it comes ptx.h in the place of the
// headers of kernels/device.
#ifndef EMULATOR_CUDA_H
#define EMULATOR_CUDA_H
// Before the words below, which system headers would trip over.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <type_traits>
#include <utility>

#include "../emulator.h"
#include "floats.h"

#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(BYTES) __attribute__((aligned(BYTES)))
#ifndef EMU_GLOBAL
#define EMU_GLOBAL
#endif
#ifndef EMU_KERNEL
#define EMU_KERNEL(...)
#endif
#define __global__ EMU_GLOBAL
#define __launch_bounds__(...) EMU_KERNEL(__VA_ARGS__)
#define __grid_constant__
#define __constant__ static const
#define __restrict __restrict__
// Stands among the words of a declaration in CUDA, where C++ has no attribute of its own.
#define alignas(BYTES) __attribute__((aligned(BYTES)))

// Blocks start in no order that CUDA would promise.
constexpr unsigned EMU_WAVE = 32, EMU_QUEUES = 8;

#define EMU_VECTORS(T, NAME)                                                                     \
  struct __align__(2 * sizeof(T)) NAME##2 { T x, y; };                                           \
  struct NAME##3 { T x, y, z; };                                                                 \
  struct __align__(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) NAME##4 { T x, y, z, w; };           \
  inline NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }                                     \
  inline NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; }                             \
  inline NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }
EMU_VECTORS(signed char, char)
EMU_VECTORS(unsigned char, uchar)
EMU_VECTORS(short, short)
EMU_VECTORS(unsigned short, ushort)
EMU_VECTORS(int, int)
EMU_VECTORS(unsigned, uint)
EMU_VECTORS(float, float)
EMU_VECTORS(double, double)
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

// It is the same for a lane at all times.
#define EMU_CONSTANT_OF_LANE HIDDEN __attribute__((const))
EMU_CONSTANT_OF_LANE inline uint3 emu_thread_index() { return {emu_thread_at(0), emu_thread_at(1), emu_thread_at(2)}; }
EMU_CONSTANT_OF_LANE inline uint3 emu_block_index() { return {emu_block(0), emu_block(1), emu_block(2)}; }
EMU_CONSTANT_OF_LANE inline uint3 emu_block_size() { return {emu_size(0), emu_size(1), emu_size(2)}; }
EMU_CONSTANT_OF_LANE inline uint3 emu_grid_size() { return {emu_grid(0), emu_grid(1), emu_grid(2)}; }
EMU_CONSTANT_OF_LANE inline unsigned emu_lane() { return emu_thread() % EMU_WAVE; }
#define threadIdx (emu_thread_index())
#define blockIdx (emu_block_index())
#define blockDim (emu_block_size())
#define gridDim (emu_grid_size())

// As CUDA has them: a value of the common type.
template <class A, class B> __forceinline__ std::common_type_t<A, B> min(A a, B b) {
  typedef std::common_type_t<A, B> T;
  return (T)b < (T)a ? (T)b : (T)a;
}
template <class A, class B> __forceinline__ std::common_type_t<A, B> max(A a, B b) {
  typedef std::common_type_t<A, B> T;
  return (T)a < (T)b ? (T)b : (T)a;
}

HIDDEN inline unsigned __float_as_uint(float x) { return emu_bits(x); }
HIDDEN inline float __uint_as_float(unsigned x) { return emu_float(x); }
HIDDEN inline int __float_as_int(float x) { return emu_bits(x); }
HIDDEN inline float __int_as_float(int x) { return emu_float(x); }
// The fast functions are exact here.
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdividef(float a, float b) { return a / b; }
inline float __expf(float x) { return expf(x); }
inline float __logf(float x) { return logf(x); }
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
inline int __ffs(int x) { return __builtin_ffs(x); }
// Four bytes of the eight of {b, a}, by the fours of `how`, whose top bit repeats the sign.
HIDDEN inline unsigned __byte_perm(unsigned a, unsigned b, unsigned how) {
  unsigned long long from = (unsigned long long)b << 32 | a;
  unsigned to = 0;
  for (int i = 0; i < 4; i++) {
    unsigned char byte = from >> 8 * (how >> 4 * i & 7);
    if (how >> 4 * i & 8) byte = byte & 0x80 ? 0xff : 0;
    to |= (unsigned)byte << 8 * i;
  }
  return to;
}
HIDDEN inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  return ((unsigned long long)high << 32 | low) >> (by & 31);
}

#include "cuda_lanes.h"
#include "ptx.h"
#include "tcgen05.h"

#endif
