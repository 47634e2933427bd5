// The lane emulator: GPU kernels on a CPU, for tests. Each lane is a fiber; lanes of a wave
// meet at collectives, waves of a block at barriers, and blocks are interleaved by a seeded
// scheduler. Every access to memory is seen (the compiler's thread sanitiser calls us), so
// that bounds, values never written and races of lanes are found where they happen.
//
// What kernels call is in one header for each API (gfx.h for AMD's). A kernel that a module
// exports as `k` is described by its symbol `emu_k`.
#ifndef EMULATOR_H
#define EMULATOR_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

// Marks the size of a parameter that is a pointer, where an API tells them from values.
enum { EMU_POINTER = 1 << 30 };

// A kernel of a module.
typedef struct {
  void (*run)(void **params);
  const unsigned *sizes;  // bytes of each parameter, then 0; of a pointer, with EMU_POINTER
  unsigned threads;       // the most that a block may have
  unsigned wave;          // lanes of a wave
  unsigned queues;        // dies that blocks are dealt to in turn, each keeping its order
} EmuKernel;

// For the driver. A launch returns a sentence about the first fault, or NULL.
const char *emu_launch(const EmuKernel *k, const unsigned *grid, const unsigned *block,
                       unsigned shared, void **params);
void emu_seed(uint64_t seed);
void emu_allow(uint64_t at, uint64_t bytes);  // global memory that kernels may touch
void emu_forbid(uint64_t at);

// For kernels, through their API's header. A module has functions of these names that call the
// emulator of the driver that loaded it, which there may be several of in a process.
//   thread, block, grid: where the calling lane is
//   lds: the block's memory
//   barrier, wave_barrier: all lanes of the block, or of the wave, meet
//   share: gives `bytes` (64 at most) to all lanes of the wave; returns everyone's, 64 bytes apart
//   pause: lets others run
//   access: an access of the calling lane to `bytes` at `at`; `how` is of EMU_WRITE and EMU_ATOMIC
//   order: what an atomic orders, before the access itself; `store` is 0 for a load, 1 for a sum
//     or an exchange, 2 for a plain store
//   copy_async: starts a copy to the block's memory, which has arrived once copy_wait leaves
//     fewer under way
enum { EMU_WRITE = 1, EMU_ATOMIC = 2 };
enum { EMU_RELAXED = 0, EMU_ACQUIRE = 1, EMU_RELEASE = 2 };
#define EMU_CALLS(X)                                                                        \
  X(unsigned, thread, (void), ())                                                           \
  X(unsigned, block, (int axis), (axis))                                                    \
  X(unsigned, grid, (int axis), (axis))                                                     \
  X(unsigned char *, lds, (void), ())                                                       \
  X(void, barrier, (void), ())                                                              \
  X(void, wave_barrier, (void), ())                                                         \
  X(const void *, share, (const char *what, const void *mine, unsigned bytes), (what, mine, bytes)) \
  X(void, pause, (void), ())                                                                \
  X(void, access, (const void *at, unsigned bytes, int how), (at, bytes, how))              \
  X(void, order, (const void *at, int order, int store), (at, order, store))                \
  X(void, copy_async, (void *to, const void *from, unsigned bytes), (to, from, bytes))      \
  X(void, copy_wait, (unsigned left), (left))
#define X(R, NAME, PARAMETERS, ARGUMENTS) R emu_##NAME PARAMETERS;
EMU_CALLS(X)
#undef X
typedef struct {
#define X(R, NAME, PARAMETERS, ARGUMENTS) R(*NAME) PARAMETERS;
  EMU_CALLS(X)
#undef X
} EmuApi;
// The driver's table, which it stores at a module's `emu_api` when it loads it.
const EmuApi *emu_table(void);
void emu_fault(const char *format, ...) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif
#endif
