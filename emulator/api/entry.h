// Starts a kernel whose parameters a driver has as an array of pointers to values: they
// are copied out of it.
#ifndef EMULATOR_ENTRY_H
#define EMULATOR_ENTRY_H
#include <utility>

#include "../emulator.h"
#include "floats.h"

template <class T> struct EmuEntry;
template <class... A> struct EmuEntry<void(A...)> {
  static constexpr unsigned SIZES[] = {sizeof(A)..., 0};
  template <void (*F)(A...), int... I> HIDDEN static void unpack(void **p, std::integer_sequence<int, I...>) {
    F(*(A *)p[I]...);
  }
  template <void (*F)(A...)> HIDDEN static void run(void **p) {
    unpack<F>(p, std::make_integer_sequence<int, sizeof...(A)>());
  }
};
#define EMU_ENTRY(NAME, THREADS)                                                               \
  extern "C" __attribute__((visibility("default"))) const EmuKernel emu_kernel_##NAME = {             \
      &EmuEntry<decltype(NAME)>::run<NAME>, EmuEntry<decltype(NAME)>::SIZES, THREADS, EMU_WAVE, EMU_QUEUES};

#endif
