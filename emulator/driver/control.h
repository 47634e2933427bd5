// What drivers of emulated devices share: calls beside their API, functions that tests may add,
// and how binaries are loaded.
#pragma once
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Makes the device as good as new: no error, the first order of the scheduler.
void driver_reset(void);
// Makes the scheduler take another order.
void driver_seed(uint64_t seed);
// Handles that were made and not given back.
int driver_living(void);
// Holds launches back until there are so many, of any streams, or one waits; then they run at the same
// time. Of a GPU; 1 again after that.
void driver_together(int launches);

// Not in a user's library: backends/testdata/faults.c has them.
#define FROM_TESTS __attribute__((weak))
// Counts a call.
FROM_TESTS void driver_called(const char *call);
// The status that this call is to fail with, or 0.
FROM_TESTS int driver_fault(const char *call);
// Notes a launch with attributes: 56 bytes, and `count` times 72.
FROM_TESTS void driver_configured(const void *config, const void *attributes, unsigned count);
// Forgets all calls and faults; has one device.
FROM_TESTS void driver_forget(void);

// Loads a library from its bytes. NULL where it cannot be loaded: dlerror() says why.
static inline void *driver_load(const void *image, size_t bytes) {
  // A path of its own: the loader takes one that it has seen for the same library.
  char path[] = P_tmpdir "/emulatedXXXXXX";
  int file = mkstemp(path);
  if (write(file, image, bytes) != (ssize_t)bytes) abort();
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  close(file);
  unlink(path);
  return handle;
}
