// Declarations that the files of the emulated CUDA and HIP drivers share, written in the names of
// CUDA, which names.h turns into HIP's where HIP is defined.
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../control.h"
#include "names.h"

typedef uint64_t u64;

// Statuses of cuda.h, and of hip_runtime_api.h.
enum {
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  NO_BINARY = 209,
  UNSUPPORTED_LIMIT = 215,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  LAUNCH_FAILED = 719,
  TOO_LARGE = 720,
  CAPTURE_UNSUPPORTED = 900,
  CAPTURE_INVALIDATED = 901,
};

// Returns the status that a test wants the call to have, or that of a ruined context.
int driver_enter(const char *call);
#define ENTER                          \
  do {                                 \
    int status_ = driver_enter(__func__); \
    if (status_) return status_;       \
  } while (0)

// For a call that gives something back: it works in a ruined context too.
void driver_count(const char *call);

// Moves only when work is done.
extern double driver_clock_ms;
// Handles that were made and not given back.
extern int driver_live;
extern int driver_devices;

// Makes every later call fail, from the next wait on: what a kernel did wrong shows late.
void driver_ruin(int status, const char *why);
int driver_late(void);

// The device: the lane emulator in machine.c; C functions as kernels in tests.
typedef struct {
  const char *name;
  int units;
  u64 bytes;  // of memory
} Machine;
extern const Machine driver_machine;
void driver_start(u64 seed);
// 0 where there is no memory.
u64 driver_alloc(u64 bytes);
void driver_release(u64 at);
u64 driver_size(u64 at);  // bytes of the allocation there
void driver_fill(u64 at, unsigned char value, u64 bytes);

typedef struct {
  unsigned grid[3], block[3], shared;
  unsigned cluster;  // blocks of one, along x
  int overlap;       // whether it may start before the launch before it has ended
  int cooperative;   // whether all of the grid is on the device together
  unsigned room;     // blocks of such that an idle device holds
} Launch;
// Makes a library known that was loaded from `bytes` at `image`; whether it is one of this machine's.
int driver_adopt(void *module, const void *image, u64 bytes);
void driver_drop(void *module);  // before it is closed
// A kernel and the bytes of each parameter, then 0; NULL where there is none of that name.
const void *driver_kernel(void *module, const char *name, const unsigned **sizes);
typedef struct {
  const void *kernel;
  Launch launch;
  void **params;
} Task;
enum { TOGETHER = 4 };  // at most
// Runs them at the same time. What they did wrong, or NULL.
const char *driver_run(const Task *tasks, int count);

typedef struct Node Node;

typedef struct {
  int capturing, invalidated;
  Node *first;
} Stream;

// Runs `node`, or records it where the stream is being captured.
int driver_submit(Stream *stream, Node *node);
