// CUDA C++ between lanes, for the lane emulator: `__shared__` memory, barriers, shuffles,
// votes, atomics and fences. See cuda.h.
#ifndef EMULATOR_CUDA_LANES_H
#define EMULATOR_CUDA_LANES_H
#include <elf.h>

// A shared variable is a thread-local one of the module. The compiler asks __tls_get_addr() where
// it is, which is defined here and answers with the memory of the calling lane's block.
#ifndef EMU_SHARED
#ifdef __clang__
#define EMU_SHARED thread_local
#else
// Without it g++ guards arrays of classes, as if they had to be initialised.
#define EMU_SHARED __constinit thread_local
#endif
#endif
#define __shared__ EMU_SHARED
// Gives `extern __shared__ TYPE NAME[]` the place of emu_dynamic.
#define EMU_DYNAMIC(NAME) asm(".globl " #NAME "\n.set " #NAME ", emu_dynamic");

extern "C" {
// It has a value, so that it is put first: no other variable is at offset 0, which also means the
// start of the module's variables.
__attribute__((visibility("hidden"), used)) thread_local char emu_first = 1;
__attribute__((visibility("hidden"), used)) thread_local char emu_dynamic;
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

struct EmuVariable { unsigned long module, offset; };
// Bytes of all thread-local variables of the module.
HIDDEN inline unsigned emu_shared_bytes() {
  auto header = (const Elf64_Phdr *)((const char *)&__ehdr_start + __ehdr_start.e_phoff);
  for (int i = 0; i < __ehdr_start.e_phnum; i++)
    if (header[i].p_type == PT_TLS) return header[i].p_memsz;
  return 0;
}
HIDDEN inline unsigned long emu_dynamic_at() { return (unsigned long)&emu_dynamic; }
__attribute__((visibility("hidden"))) HIDDEN void *__tls_get_addr(EmuVariable *of) {
  static unsigned long dynamic;
  static unsigned bytes;
  static volatile bool asks;
  // Asks itself for the offset of emu_dynamic.
  if (asks) return (void *)of->offset;
  if (!bytes) {
    asks = true;
    dynamic = emu_dynamic_at();
    asks = false;
    bytes = emu_shared_bytes();
  }
  if (of->offset == dynamic) return emu_lds();
  return emu_lds_static(&bytes, bytes, 1024) + of->offset;
}
}

HIDDEN inline void __syncthreads() { emu_barrier(); }
HIDDEN inline void emu_whole(unsigned mask) {
  if (mask != ~0u) emu_refuse("a mask of some lanes is not emulated");
}
HIDDEN inline void __syncwarp(unsigned mask = ~0u) {
  emu_whole(mask);
  emu_wave_barrier();
}
constexpr int warpSize = EMU_WAVE;

// Returns the `x` of lane `from` of the caller's group of `width` lanes, or its own `x` where the
// group has no such lane.
template <class T> HIDDEN T emu_exchange(const char *what, unsigned mask, T x, int from, int width) {
  emu_whole(mask);
  if (width < 1 || width > 32 || (width & (width - 1))) emu_refuse("a shuffle's width that is no power of two up to 32");
  auto all = (const unsigned char(*)[64])emu_share(what, &x, sizeof x);
  const int first = emu_lane() & -width;
  if (from >= first && from < first + width) memcpy(&x, all[from], sizeof x);
  return x;
}
template <class T> HIDDEN T __shfl_xor_sync(unsigned mask, T x, int apart, int width = 32) {
  return emu_exchange("__shfl_xor_sync", mask, x, emu_lane() ^ apart, width);
}
template <class T> HIDDEN T __shfl_down_sync(unsigned mask, T x, unsigned by, int width = 32) {
  return emu_exchange("__shfl_down_sync", mask, x, emu_lane() + by, width);
}
template <class T> HIDDEN T __shfl_up_sync(unsigned mask, T x, unsigned by, int width = 32) {
  return emu_exchange("__shfl_up_sync", mask, x, emu_lane() - by, width);
}
template <class T> HIDDEN T __shfl_sync(unsigned mask, T x, int from, int width = 32) {
  return emu_exchange("__shfl_sync", mask, x, (emu_lane() & -width) | (from & (width - 1)), width);
}
HIDDEN inline unsigned __ballot_sync(unsigned mask, int predicate) {
  emu_whole(mask);
  auto all = (const unsigned char(*)[64])emu_share("__ballot_sync", &predicate, sizeof predicate);
  unsigned votes = 0;
  for (unsigned i = 0; i < EMU_WAVE; i++) votes |= (unsigned)(*(const int *)all[i] != 0) << i;
  return votes;
}
HIDDEN inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
HIDDEN inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) == ~0u; }

template <class T> HIDDEN T __ldg(const T *p) {
  T x;
  emu_access(p, sizeof x, EMU_CONSTANT);
  memcpy(&x, p, sizeof x);
  return x;
}

// An atomic releases what its lane did before a fence, and acquires what was released so.
HIDDEN inline void __threadfence() { emu_fence(); }
HIDDEN inline void __threadfence_block() { emu_fence(); }
// Replaces *p by `next(*p)`; returns what was there.
template <class T, class F> HIDDEN T emu_atomic(T *p, F next, int order = EMU_FENCED) {
  emu_pause();
  emu_access(p, sizeof *p, EMU_ATOMIC);
  emu_access(p, sizeof *p, EMU_WRITE | EMU_ATOMIC);
  emu_order(p, order, 1);
  T before = *p;
  *p = next(before);
  return before;
}
// The type of the second parameter is that of the first: atomicAdd(&counter, 1).
template <class T> struct EmuSame { typedef T type; };
template <class T> HIDDEN T atomicAdd(T *p, typename EmuSame<T>::type x) {
  return emu_atomic(p, [=](T y) __attribute__((no_sanitize("thread"))) { return (T)(y + x); });
}
template <class T> HIDDEN T atomicSub(T *p, typename EmuSame<T>::type x) {
  return emu_atomic(p, [=](T y) __attribute__((no_sanitize("thread"))) { return (T)(y - x); });
}
template <class T> HIDDEN T atomicMax(T *p, typename EmuSame<T>::type x) {
  return emu_atomic(p, [=](T y) __attribute__((no_sanitize("thread"))) { return y < x ? x : y; });
}
template <class T> HIDDEN T atomicMin(T *p, typename EmuSame<T>::type x) {
  return emu_atomic(p, [=](T y) __attribute__((no_sanitize("thread"))) { return x < y ? x : y; });
}
template <class T> HIDDEN T atomicExch(T *p, typename EmuSame<T>::type x) {
  return emu_atomic(p, [=](T) __attribute__((no_sanitize("thread"))) { return x; });
}
template <class T> HIDDEN T atomicCAS(T *p, typename EmuSame<T>::type old, typename EmuSame<T>::type x) {
  return emu_atomic(p, [=](T y) __attribute__((no_sanitize("thread"))) { return y == old ? x : y; });
}
// Adds 1, or writes 0 over `most` and what is greater.
HIDDEN inline unsigned atomicInc(unsigned *p, unsigned most) {
  return emu_atomic(p, [=](unsigned y) __attribute__((no_sanitize("thread"))) { return y >= most ? 0 : y + 1; });
}

#endif
