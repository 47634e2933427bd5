// A GPU whose modules are the lane emulator's.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>
#include "../../emulator.h"
#include "driver.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#ifdef HIP
const Machine driver_machine = {"emulator " HIP_ARCH, 304, 192ull << 30};
#else
// Few units: blocks that must all be resident are few, and few are enough to fill it.
const Machine driver_machine = {"emulator sm_" TEXT(CUDA_SM) "a", 16, 141ull << 30};
#endif
void driver_start(u64 seed) { emu_seed(seed); }

// Pages that nobody touches cost nothing; before each allocation is how long it is, and
// behind it a page that may not be touched.
enum { PAGE = 4096 };
static u64 room_of(u64 bytes) { return (bytes + PAGE - 1) / PAGE * PAGE + 2 * PAGE; }
u64 driver_alloc(u64 bytes) {
  char *at = mmap(NULL, room_of(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return 0;
  *(u64 *)at = bytes;
  mprotect(at + room_of(bytes) - PAGE, PAGE, PROT_NONE);
  emu_allow((u64)at + PAGE, bytes);
  return (u64)at + PAGE;
}
u64 driver_size(u64 at) { return *(u64 *)(at - PAGE); }
void driver_release(u64 at) {
  emu_forbid(at);
  munmap((void *)(at - PAGE), room_of(driver_size(at)));
}
void driver_fill(u64 at, unsigned char value, u64 bytes) {
  u64 first = (at + PAGE - 1) & -(u64)PAGE, end = (at + bytes) & -(u64)PAGE;
  if (!value && first < end && !madvise((void *)first, end - first, MADV_DONTNEED)) {
    memset((void *)at, 0, first - at);
    memset((void *)end, 0, at + bytes - end);
  } else {
    memset((void *)at, value, bytes);
  }
}

int driver_adopt(void *module, const void *image, u64 bytes) {
  const EmuApi **api = dlsym(module, "emu_api");
  if (!api) return 0;
  *api = emu_table();
  emu_loaded(module, image, bytes);
  return 1;
}
void driver_drop(void *module) { emu_unloaded(module); }
const void *driver_kernel(void *module, const char *name, const unsigned **sizes) {
  char symbol[200];
  snprintf(symbol, sizeof symbol, "emu_kernel_%s", name);
  const EmuKernel *kernel = dlsym(module, symbol);
  if (kernel) *sizes = kernel->sizes;
  return kernel;
}
const char *driver_run(const Task *tasks, int count) {
  EmuTask all[TOGETHER];
  for (int i = 0; i < count; i++) {
    const Launch *l = &tasks[i].launch;
    EmuLaunch launch = {.shared = l->shared, .cluster = l->cluster, .cooperative = l->cooperative, .room = l->room, .overlap = l->overlap};
    memcpy(launch.grid, l->grid, sizeof launch.grid), memcpy(launch.block, l->block, sizeof launch.block);
    all[i] = (EmuTask){tasks[i].kernel, launch, tasks[i].params};
  }
  return emu_launch(all, count);
}
