// kernels/device/ptx_copy.h for the lane emulator: the same names, on a CPU. See cuda.h.
#ifndef MNKBENCH_PTX_COPY
#define MNKBENCH_PTX_COPY
#include "ptx.h"
#include "ptx_barrier.h"

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

#endif
