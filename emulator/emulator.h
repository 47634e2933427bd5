// The lane emulator: GPU kernels on a CPU, for tests. Each lane is a fiber; lanes of a wave
// meet at collectives, waves of a block at barriers, and blocks are interleaved by a seeded
// scheduler. Every access to memory is seen (the compiler's thread sanitiser calls us), so
// that bounds, values never written and races of lanes are found where they happen.
//
// What kernels call is in one header for each API (gfx.h for AMD's). A kernel that a module
// exports as `k` is described by its symbol `emu_kernel_k`.
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

typedef struct {
  unsigned grid[3], block[3];
  unsigned shared;    // bytes of the block's memory
  unsigned cluster;   // blocks of one, side by side along x; 0 where there are none
  int cooperative;    // all blocks are on the device together
  unsigned room;      // blocks that an idle device holds, where others run at the same time
  int overlap;        // it may have started before the launch before was over
} EmuLaunch;

typedef struct {
  const EmuKernel *kernel;
  EmuLaunch launch;
  void **params;
} EmuTask;

// For the driver. Runs tasks of one API at the same time, and returns a sentence about the first
// fault, or NULL.
const char *emu_launch(const EmuTask *tasks, unsigned count);
void emu_seed(uint64_t seed);
void emu_allow(uint64_t at, uint64_t bytes);  // global memory that kernels may touch
void emu_forbid(uint64_t at);
void emu_seal(uint64_t at);  // forbids them to write to what starts there
// A module that dlopen() gave, and the bytes that it came from; before it is closed.
void emu_loaded(void *handle, const void *image, uint64_t bytes);
void emu_unloaded(void *handle);

// For kernels, through their API's header. A module has functions of these names that call the
// emulator of the driver that loaded it, which there may be several of in a process.
//   thread, block, grid: where the calling lane is; thread_at, size: in a block of dimensions
//   rank: the block's number in its cluster
//   lds: the block's memory; lds_at: where a kernel needs it at multiples of `align`; lds_static:
//     more of it, of a constant size, known by `key`
//   address, pointer: of the block's memory, to and from a number; the others of the cluster
//     have the same things at the same numbers
//   barrier, wave_barrier: all lanes of the block, or of the wave, meet; barrier_of: at one of 16,
//     `threads` of the block
//   share: gives `bytes` (64 at most) to all lanes of the wave; returns everyone's, 64 bytes apart
//   pause: lets others run, in a loop that polls; yield: the same elsewhere, now and then; draw: a
//     number that the order decides, below another; refuse: ends the launch
//   access: an access of the calling lane to `bytes` at `at`; `how` is of the flags below
//   order: what an atomic orders, before the access itself; `store` is 0 for a load, 1 for a sum
//     or an exchange, 2 for a plain store; fence: after it the lane's EMU_FENCED atomics acquire
//     and release, and it acquires what the last one before it read
//   copy_async: starts a copy to the block's memory, of zeros where there is no `from`;
//     copy_commit: those since the last are a group; copy_wait: until `left` groups are under way
//   launch_wait: until the launch before is over
//   cluster_*, store_far: the cluster's barrier, a store to the memory of another of its blocks
//   mbarrier_*: barriers in shared memory, by their addresses; arrive: in block `rank`, with
//     `bytes` more to come
//   copy_bulk, store_async: copies to shared memory that tell a barrier; `ranks` is a set; copy_tile:
//     of a box of the matrix that `map`, an EmuTensorMap, says, and `told` the block whose barrier is
//     told, or -1 for each its own
//   show_products: products to come see what the lane wrote to the block's memory
//   wgmma*: products of a warpgroup
//   tensor_*: tensor memory and its products, of one block or of a pair (tcgen05)
enum {
  EMU_WRITE = 1,
  EMU_ATOMIC = 2,
  EMU_CONSTANT = 4,   // global memory that is not written meanwhile
  EMU_UNWRITTEN = 8,  // it may never have been written: then it is NaN
};
enum { EMU_F16, EMU_BF16, EMU_E4M3 };
// A product's first operand: registers, or what describes it in shared memory. `type` is that of
// both; `first` says that the product replaces the sums.
typedef struct {
  const unsigned *registers;
  uint64_t described;
  int type, first, by_rows;
} EmuFactor;
// A product of tcgen05: columns of sums and scales in tensor memory, operands and itself described.
typedef struct {
  uint64_t a, b;
  unsigned sums, instruction, scales_a, scales_b;
  int add, pair;
} EmuTensorProduct;
enum { EMU_RELAXED = 0, EMU_ACQUIRE = 1, EMU_RELEASE = 2, EMU_FENCED = 4 };
#define EMU_CALLS(X)                                                                        \
  X(unsigned, thread, (void), ())                                                           \
  X(unsigned, thread_at, (int axis), (axis))                                                \
  X(unsigned, size, (int axis), (axis))                                                     \
  X(unsigned, block, (int axis), (axis))                                                    \
  X(unsigned, grid, (int axis), (axis))                                                     \
  X(unsigned, rank, (void), ())                                                             \
  X(unsigned char *, lds, (void), ())                                                       \
  X(unsigned char *, lds_at, (unsigned align), (align))                                     \
  X(unsigned char *, lds_static, (const void *key, unsigned bytes, unsigned align), (key, bytes, align)) \
  X(unsigned, address, (const void *p), (p))                                                \
  X(unsigned char *, pointer, (unsigned address), (address))                                \
  X(void, barrier, (void), ())                                                              \
  X(void, barrier_of, (unsigned barrier, unsigned threads), (barrier, threads))             \
  X(void, wave_barrier, (void), ())                                                         \
  X(const void *, share, (const char *what, const void *mine, unsigned bytes), (what, mine, bytes)) \
  X(void, pause, (void), ())                                                                \
  X(void, yield, (void), ())                                                                \
  X(unsigned, draw, (unsigned below), (below))                                              \
  X(void, refuse, (const char *what), (what))                                               \
  X(void, access, (const void *at, unsigned bytes, int how), (at, bytes, how))              \
  X(void, order, (const void *at, int order, int store), (at, order, store))                \
  X(void, fence, (void), ())                                                                \
  X(void, copy_async, (void *to, const void *from, unsigned bytes), (to, from, bytes))      \
  X(void, copy_commit, (void), ())                                                          \
  X(void, copy_wait, (unsigned left), (left))                                               \
  X(void, launch_wait, (void), ())                                                          \
  X(void, cluster_arrive, (int order), (order))                                             \
  X(void, cluster_wait, (void), ())                                                         \
  X(void, store_far, (unsigned to, unsigned rank, const void *from, unsigned bytes), (to, rank, from, bytes)) \
  X(void, mbarrier_init, (unsigned at, int count), (at, count))                             \
  X(void, mbarrier_made, (void), ())                                                        \
  X(void, mbarrier_arrive, (unsigned at, unsigned rank, int bytes), (at, rank, bytes))      \
  X(void, mbarrier_wait, (unsigned at, int parity), (at, parity))                           \
  X(void, copy_bulk, (unsigned to, const void *from, int bytes, unsigned barrier, unsigned ranks), (to, from, bytes, barrier, ranks)) \
  X(void, copy_tile, (unsigned to, const void *map, int column, int row, unsigned barrier, unsigned ranks, int told), (to, map, column, row, barrier, ranks, told)) \
  X(void, store_async, (unsigned to, unsigned barrier, unsigned rank, const void *from, unsigned bytes), (to, barrier, rank, from, bytes)) \
  X(void, show_products, (void), ())                                                        \
  X(void, wgmma, (float *sums, unsigned cols, const EmuFactor *a, uint64_t b, int by_rows), (sums, cols, a, b, by_rows)) \
  X(void, wgmma_fence, (void), ())                                                          \
  X(void, wgmma_commit, (void), ())                                                         \
  X(void, wgmma_wait, (unsigned left), (left))                                              \
  X(void, tensor_alloc, (unsigned slot, unsigned columns, int pair), (slot, columns, pair)) \
  X(void, tensor_free, (unsigned base, unsigned columns, int pair), (base, columns, pair))  \
  X(void, tensor_fence, (int after), (after))                                               \
  X(void, tensor_copy, (unsigned to, uint64_t from, int pair), (to, from, pair))            \
  X(void, tensor_multiply, (const EmuTensorProduct *product), (product))                    \
  X(void, tensor_commit, (unsigned barrier, unsigned ranks, int pair), (barrier, ranks, pair)) \
  X(void, tensor_load, (float *d, unsigned from, unsigned columns), (d, from, columns))
#define X(R, NAME, PARAMETERS, ARGUMENTS) R emu_##NAME PARAMETERS;
EMU_CALLS(X)
#undef X
typedef struct {
  const void **place;  // where a module notes which instruction calls
#define X(R, NAME, PARAMETERS, ARGUMENTS) R(*NAME) PARAMETERS;
  EMU_CALLS(X)
#undef X
} EmuApi;
// The driver's table, which it stores at a module's `emu_api` when it loads it.
const EmuApi *emu_table(void);
void emu_fault(const char *format, ...) __attribute__((noreturn));

// A tensor map of CUDA as the emulator has it: what the emulated driver's cuTensorMapEncodeTiled writes
// to the 128 bytes, and copies read. A real one's bits are nobody's business.
#define EMU_TENSOR_MAP 0x70616d726f736e74ull  // its first bytes are "tnsormap"

typedef struct {
  uint64_t magic;
  uint64_t at;         // of the first element
  uint64_t columns, rows;
  uint64_t row_bytes;  // from a row to the next
  uint32_t box_columns, box_rows;
  uint32_t element_bytes;
  uint32_t swizzle;    // rows of 16 << swizzle bytes; 0 for none
  uint32_t emulated;   // two dimensions, zeros outside, nothing interleaved, no element left out
  uint32_t promotion;  // of no account here; tests look at it
  uint32_t rest[16];
} EmuTensorMap;

#ifdef __cplusplus
}
#endif
#endif
