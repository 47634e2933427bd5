// A mock GPU whose modules have `void f(void **params)` and `const unsigned f_sizes[]`, the
// bytes of each parameter up to a 0.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include "../../../emulator/driver/gpu/driver.h"

const Machine driver_machine = {"Mock GPU", 132, 2ull << 30};
void driver_start(u64 seed) { (void)seed; }
u64 driver_alloc(u64 bytes) { return (u64)aligned_alloc(256, (bytes + 255) / 256 * 256); }
u64 driver_size(u64 at) { return malloc_usable_size((void *)at); }
void driver_release(u64 at) { free((void *)at); }
void driver_fill(u64 at, unsigned char value, u64 bytes) { memset((void *)at, value, bytes); }

typedef void (*Run)(void **params);
int driver_adopt(void *module, const void *image, u64 bytes) { return (void)image, (void)bytes, module != NULL; }
void driver_drop(void *module) { (void)module; }
const void *driver_kernel(void *module, const char *name, const unsigned **sizes) {
  char symbol[128];
  snprintf(symbol, sizeof symbol, "%s_sizes", name);
  *sizes = dlsym(module, symbol);
  return *sizes ? dlsym(module, name) : NULL;
}
const char *driver_run(const Task *tasks, int count) {
  for (int i = 0; i < count; i++) ((Run)tasks[i].kernel)(tasks[i].params);
  return NULL;
}
