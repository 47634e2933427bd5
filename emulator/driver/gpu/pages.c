// CUDA's virtual memory management: addresses that are reserved, and memory that is mapped there. A
// kernel may touch what is mapped and accessible; what is read-only it may not write to.
#define _GNU_SOURCE
#include <sys/mman.h>

#include "../../emulator.h"
#include "driver.h"

#ifndef HIP
// A GPU has 2 MiB.
enum { GRANULARITY = 256 };
enum { PINNED = 1, ON_DEVICE = 1, READ = 1, READ_WRITE = 3 };
typedef struct { int type, id; } Location;
typedef struct { int type, handles; Location location; void *attributes; unsigned char flags[8]; } Properties;
typedef struct { Location location; int flags; } Access;

static int is_wrong(const Properties *p) { return !p || p->type != PINNED || p->handles || p->location.type != ON_DEVICE; }

int cuMemGetAllocationGranularity(u64 *to, const Properties *p, unsigned option) {
  ENTER;
  *to = GRANULARITY;
  return is_wrong(p) || option > 1 ? INVALID_VALUE : 0;
}
int cuMemAddressReserve(u64 *to, u64 bytes, u64 alignment, u64 wanted, u64 flags) {
  ENTER;
  if (!bytes || bytes % GRANULARITY || alignment || wanted || flags) return INVALID_VALUE;
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return OUT_OF_MEMORY;
  *to = (u64)at;
  driver_live++;
  return 0;
}
int cuMemAddressFree(u64 at, u64 bytes) { driver_count(__func__); driver_live--; return munmap((void *)at, bytes) ? INVALID_VALUE : 0; }
int cuMemCreate(u64 *to, u64 bytes, const Properties *p, u64 flags) {
  ENTER;
  if (is_wrong(p) || !bytes || bytes % GRANULARITY || flags) return INVALID_VALUE;
  if (bytes > driver_machine.bytes) return OUT_OF_MEMORY;
  u64 *handle = malloc(sizeof *handle);
  *handle = bytes;
  *to = (u64)handle;
  driver_live++;
  return 0;
}
int cuMemRelease(u64 handle) { driver_count(__func__); free((void *)handle); driver_live--; return 0; }
int cuMemMap(u64 at, u64 bytes, u64 offset, u64 handle, u64 flags) {
  ENTER;
  return at % GRANULARITY || bytes != *(u64 *)handle || offset || flags ? INVALID_VALUE : 0;
}
int cuMemSetAccess(u64 at, u64 bytes, const Access *access, u64 count) {
  ENTER;
  if (count != 1 || access->location.type != ON_DEVICE) return INVALID_VALUE;
  if (access->flags == READ_WRITE) emu_allow(at, bytes);
  else if (access->flags == READ) emu_seal(at);
  else return INVALID_VALUE;
  return 0;
}
int cuMemUnmap(u64 at, u64 bytes) { driver_count(__func__); (void)bytes; emu_forbid(at); return 0; }
#endif
