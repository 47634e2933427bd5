// kernels/device/gfx.h for the lane emulator: the same names, on a CPU. The compiler is told to
// include it before anything else, so that the other one, finding its guard taken, is empty.
//
// MFMA lane maps: "AMD Instinct MI300 instruction set architecture", 7.4, and AMD's matrix
// instruction calculator. backends/hip/lanes_test.ts compares them with one-hot matrices.
#ifndef MNKBENCH_GFX
#define MNKBENCH_GFX
#include <string.h>

#include "../emulator.h"
#include "floats.h"

#define DEVICE inline __attribute__((always_inline))
#define KERNEL(THREADS) extern "C" EMU_KERNEL((THREADS))
#define RESIDENT(WAVES)
#ifndef EMU_KERNEL
#define EMU_KERNEL(THREADS)
#endif

constexpr int WAVE = 64;
// Dies of an MI300X, to which blocks are dealt in turn.
constexpr unsigned EMU_WAVE = WAVE, EMU_QUEUES = 8;

typedef float f32x4 __attribute__((vector_size(16)));
typedef unsigned u32x4 __attribute__((vector_size(16)));
typedef unsigned u32x2 __attribute__((vector_size(8)));

HIDDEN inline int thread_x() { return emu_thread(); }
HIDDEN inline int block_x() { return emu_block(0); }
HIDDEN inline int block_y() { return emu_block(1); }
HIDDEN inline int grid_x() { return emu_grid(0); }
#define LDS emu_lds()
HIDDEN inline void barrier() { emu_barrier(); }

HIDDEN inline unsigned lane_xor(unsigned x, int mask) {
  auto all = (const unsigned char(*)[64])emu_share("lane_xor", &x, 4);
  unsigned y;
  memcpy(&y, all[(emu_thread() % WAVE) ^ mask], 4);
  return y;
}

DEVICE float f16_to_f32(unsigned short h) { return emu_from_f16(h); }
DEVICE unsigned short f32_to_f16(float x) { return emu_to_f16(x); }

// An MFMA of 16 x 16 x 4 * EACH of 16-bit values, which WIDEN converts to fp32. `Operand` is what a
// lane holds of a row or a column: EACH values.
template <float (*WIDEN)(unsigned short), class Operand>
HIDDEN inline f32x4 emu_mfma(const char *what, Operand a, Operand b, f32x4 c) {
  constexpr int EACH = sizeof(Operand) / 2;
  struct Fragments { unsigned short a[EACH], b[EACH]; } mine;
  memcpy(mine.a, &a, sizeof a), memcpy(mine.b, &b, sizeof b);
  auto all = (const unsigned char(*)[64])emu_share(what, &mine, sizeof mine);
  int lane = emu_thread() % WAVE, col = lane % 16;
  for (int r = 0; r < 4; r++) {
    int row = lane / 16 * 4 + r;
    float sum = c[r];
    for (int k = 0; k < 4 * EACH; k++) {
      auto of_row = (const Fragments *)all[row + 16 * (k / EACH)];
      auto of_col = (const Fragments *)all[col + 16 * (k / EACH)];
      sum += WIDEN(of_row->a[k % EACH]) * WIDEN(of_col->b[k % EACH]);
    }
    c[r] = sum;
  }
  return c;
}
HIDDEN inline f32x4 mfma_bf16(u32x2 a, u32x2 b, f32x4 c) { return emu_mfma<emu_from_bf16>("mfma_bf16", a, b, c); }
HIDDEN inline f32x4 mfma_f16(u32x2 a, u32x2 b, f32x4 c) { return emu_mfma<emu_from_f16>("mfma_f16", a, b, c); }
HIDDEN inline f32x4 mfma_bf16_k32(u32x4 a, u32x4 b, f32x4 c) { return emu_mfma<emu_from_bf16>("mfma_bf16_k32", a, b, c); }
HIDDEN inline f32x4 mfma_f16_k32(u32x4 a, u32x4 b, f32x4 c) { return emu_mfma<emu_from_f16>("mfma_f16_k32", a, b, c); }
HIDDEN inline f32x4 mfma_f32(float a, float b, f32x4 c) {
  float mine[2] = {a, b};
  auto all = (const unsigned char(*)[64])emu_share("mfma_f32", mine, sizeof mine);
  int lane = emu_thread() % WAVE;
  for (int r = 0; r < 4; r++)
    for (int k = 0; k < 4; k++)
      c[r] = __builtin_fmaf(((const float *)all[lane / 16 * 4 + r + 16 * k])[0],
                            ((const float *)all[lane % 16 + 16 * k])[1], c[r]);
  return c;
}

HIDDEN inline u32x4 load_once(const u32x4 *p) {
  emu_access(p, 16, 0);
  return *p;
}

HIDDEN inline int agent_add_acq_rel(int *p, int x) {
  emu_pause();
  emu_access(p, 4, EMU_WRITE | EMU_ATOMIC);
  emu_order(p, EMU_ACQUIRE | EMU_RELEASE, 1);
  int before = *p;
  *p += x;
  return before;
}
HIDDEN inline int agent_load_acquire(const int *p) {
  emu_access(p, 4, EMU_ATOMIC);
  emu_order(p, EMU_ACQUIRE, 0);
  return *p;
}
HIDDEN inline void agent_store_release(int *p, int x) {
  emu_pause();
  emu_access(p, 4, EMU_WRITE | EMU_ATOMIC);
  emu_order(p, EMU_RELEASE, 2);
  *p = x;
}
HIDDEN inline void agent_store(int *p, int x) {
  emu_pause();
  emu_access(p, 4, EMU_WRITE | EMU_ATOMIC);
  emu_order(p, EMU_RELAXED, 2);
  *p = x;
}
HIDDEN inline void agent_add_f32(float *p, float x) {
  emu_access(p, 4, EMU_WRITE | EMU_ATOMIC);
  *p += x;
}
template <float (*WIDEN)(unsigned short), unsigned short (*NARROW)(float)>
HIDDEN inline void emu_add_pair(unsigned *p, unsigned x) {
  emu_access(p, 4, EMU_WRITE | EMU_ATOMIC);
  unsigned low = NARROW(WIDEN(*p & 0xffff) + WIDEN(x & 0xffff));
  *p = low | (unsigned)NARROW(WIDEN(*p >> 16) + WIDEN(x >> 16)) << 16;
}
HIDDEN inline void agent_add_2bf16(unsigned *p, unsigned x) { emu_add_pair<emu_from_bf16, emu_to_bf16>(p, x); }
HIDDEN inline void agent_add_2f16(unsigned *p, unsigned x) { emu_add_pair<emu_from_f16, emu_to_f16>(p, x); }
template <class T>
HIDDEN inline void emu_copy_of_wave(const char *what, T *to, const T *from) {
  // The wave's first lane says where; the others follow it.
  auto all = (const unsigned char(*)[64])emu_share(what, &to, 8);
  unsigned char *first;
  memcpy(&first, all[0], 8);
  emu_copy_async(first + emu_thread() % WAVE * sizeof(T), from, sizeof(T));
  emu_copy_commit();
}
HIDDEN inline void copy_async(unsigned *to, const unsigned *from) { emu_copy_of_wave("copy_async", to, from); }
HIDDEN inline void copy_async_16(u32x4 *to, const u32x4 *from) { emu_copy_of_wave("copy_async_16", to, from); }
template <int LEFT> HIDDEN inline void wait_copies() { emu_copy_wait(LEFT); }
HIDDEN inline void pause() { emu_pause(); }

#endif
