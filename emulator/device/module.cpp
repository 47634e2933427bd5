// The part of the emulator that is in every module: what its kernels call, passed on to the
// driver's emulator, and what the compiler calls with -fsanitize=thread.
#include <string.h>

#include "../emulator.h"

#define MINE __attribute__((visibility("hidden")))
extern "C" {
__attribute__((visibility("default"))) const EmuApi *emu_api;

#define NOTE_CALLER (*emu_api->place = __builtin_return_address(0))
#define X(R, NAME, PARAMETERS, ARGUMENTS) \
  MINE R emu_##NAME PARAMETERS { return NOTE_CALLER, emu_api->NAME ARGUMENTS; }
EMU_CALLS(X)
#undef X

#define ACCESS(N)                                                                  \
  MINE void __tsan_read##N(void *p) { NOTE_CALLER, emu_api->access(p, N, 0); }                       \
  MINE void __tsan_write##N(void *p) { NOTE_CALLER, emu_api->access(p, N, EMU_WRITE); }              \
  MINE void __tsan_unaligned_read##N(void *p) { NOTE_CALLER, emu_api->access(p, N, 0); }             \
  MINE void __tsan_unaligned_write##N(void *p) { NOTE_CALLER, emu_api->access(p, N, EMU_WRITE); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
MINE void __tsan_read_range(void *p, uint64_t n) { NOTE_CALLER, emu_api->access(p, n, 0); }
MINE void __tsan_write_range(void *p, uint64_t n) { NOTE_CALLER, emu_api->access(p, n, EMU_WRITE); }
// clang 15 and newer call these in the place of memcpy and the others.
MINE void *__tsan_memcpy(void *to, const void *from, size_t n) {
  NOTE_CALLER, emu_api->access(from, n, 0), emu_api->access(to, n, EMU_WRITE);
  return memcpy(to, from, n);
}
MINE void *__tsan_memmove(void *to, const void *from, size_t n) {
  NOTE_CALLER, emu_api->access(from, n, 0), emu_api->access(to, n, EMU_WRITE);
  return memmove(to, from, n);
}
MINE void *__tsan_memset(void *to, int value, size_t n) {
  NOTE_CALLER, emu_api->access(to, n, EMU_WRITE);
  return memset(to, value, n);
}
MINE void __tsan_init(void) {}
MINE void __tsan_func_entry(void *) {}
MINE void __tsan_func_exit(void) {}
}
