// kernels/device/ptx_memory.h for the lane emulator: the same names, on a CPU. See cuda.h.
#ifndef MNKBENCH_PTX_MEMORY
#define MNKBENCH_PTX_MEMORY
#include "ptx.h"
#include "ptx_barrier.h"

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
DEVICE void store_shared(unsigned to, const uint4 &x) { emu_store(to, x); }

DEVICE unsigned long long evict_first() { return 2 * 0xe71c7; }
DEVICE unsigned long long evict_normal() { return 2 * 0xe71c7 + 1; }

template <int N> HIDDEN void load_once_line(unsigned (&x)[N], const void *from, bool there) {
  static_assert(N == 1 || N == 2 || N == 4, "what one load can move");
  memset(x, 0, sizeof x);
  if (!there) return;
  emu_access(from, sizeof x, EMU_CONSTANT);
  memcpy(x, from, sizeof x);
}
template <int N> HIDDEN void load_once(unsigned (&x)[N], const void *from, unsigned long long policy) {
  emu_policy(policy);
  load_once_line(x, from, true);
}
HIDDEN inline void load_once(uint4 &x, const void *from, bool there, unsigned long long policy) {
  emu_policy(policy);
  unsigned words[4];
  load_once_line(words, from, there);
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

#endif
