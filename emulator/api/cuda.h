// CUDA C++ for the lane emulator: the words that kernels use of it, on a CPU. The compiler is
// told to include it before anything else; with it come ptx.h and the others in the place of
// those of kernels/device, which find their guards taken and are empty.
#ifndef EMULATOR_CUDA_H
#define EMULATOR_CUDA_H
// Before the words below, which system headers would trip over.
#include <math.h>
#include <string.h>

#include <type_traits>
#include <utility>

#include "../emulator.h"
#include "entry.h"
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

// Blocks start in no order that CUDA would promise.
constexpr unsigned EMU_WAVE = 32, EMU_QUEUES = 8;

struct uint3 { unsigned x, y, z; };
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

struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) float4 { float x, y, z, w; };
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

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

HIDDEN inline void __syncthreads() { emu_barrier(); }
HIDDEN inline void emu_whole(unsigned mask) {
  if (mask != ~0u) emu_refuse("a mask of some lanes is not emulated");
}
HIDDEN inline void __syncwarp(unsigned mask = ~0u) {
  emu_whole(mask);
  emu_wave_barrier();
}
// Of lane `from` of all 32.
template <class T> HIDDEN T emu_exchange(const char *what, unsigned mask, T x, unsigned from) {
  emu_whole(mask);
  auto all = (const unsigned char(*)[64])emu_share(what, &x, sizeof x);
  memcpy(&x, all[from % EMU_WAVE], sizeof x);
  return x;
}
template <class T> HIDDEN T __shfl_xor_sync(unsigned mask, T x, int apart) {
  return emu_exchange("__shfl_xor_sync", mask, x, emu_lane() ^ apart);
}
template <class T> HIDDEN T __shfl_sync(unsigned mask, T x, int from) {
  return emu_exchange("__shfl_sync", mask, x, from);
}

// Adds 1, or writes 0 over `most` and what is greater; orders nothing.
HIDDEN inline unsigned atomicInc(unsigned *p, unsigned most) {
  emu_pause();
  emu_access(p, 4, EMU_WRITE | EMU_ATOMIC);
  emu_order(p, EMU_RELAXED, 1);
  unsigned before = *p;
  *p = before >= most ? 0 : before + 1;
  return before;
}

#include "ptx.h"
#include "ptx_barrier.h"
#include "ptx_cluster.h"
#include "ptx_copy.h"
#include "ptx_memory.h"
#include "ptx_mma.h"
#include "ptx_tensor.h"
#include "ptx_wgmma.h"

#endif
