// HIP's runtime on the CPU, as far as the backend calls it: faults, devices, memory, events.
// Device memory is host memory, and time is a clock that only work moves.
#define _GNU_SOURCE
#include "runtime.h"

#include <stdio.h>
#include <sys/mman.h>

double driver_clock_ms;
int driver_live;

static int dead, late;  // the status of a device that a kernel has ruined, now or at the next wait
static char why[600];
int driver_devices = 1;
static int current;  // whether the context was made current
const char *driver_arch = "gfx942:sramecc+:xnack-";
static const u64 TOTAL = 192ull << 30;
static u64 used;

void driver_ruin(int status, const char *text) {
  if (late || dead) return;
  late = status;
  snprintf(why, sizeof why, "unspecified launch failure: %s", text);
}
int driver_late(void) {
  if (late) dead = late, late = 0;
  return dead;
}
void driver_reset(void) {
  if (driver_forget) driver_forget();
  dead = late = 0;
  why[0] = 0;
  driver_clock_ms = 0;
  emu_seed(1);
}
void driver_seed(u64 seed) { emu_seed(seed); }
int driver_living(void) { return driver_live; }

void driver_count(const char *call) {
  if (driver_called) driver_called(call);
}
int driver_enter(const char *call) {
  driver_count(call);
  int status = driver_fault ? driver_fault(call) : 0;
  if (status == ILLEGAL_ADDRESS || status == LAUNCH_FAILED) dead = status;
  return status ? status : dead;
}

int hipInit(unsigned flags) { ENTER; return flags ? INVALID_VALUE : 0; }
int hipDriverGetVersion(int *to) { ENTER; *to = 60443482; return 0; }
int hipGetDeviceCount(int *to) { ENTER; *to = driver_devices; return 0; }
int hipDeviceGet(int *to, int index) { ENTER; *to = index; return index < driver_devices ? 0 : INVALID_DEVICE; }
int hipDeviceGetName(char *to, int bytes, int device) {
  ENTER;
  strncpy(to, "emulator gfx942", bytes);
  return device < driver_devices ? 0 : INVALID_DEVICE;
}
int hipDeviceGetPCIBusId(char *to, int bytes, int device) {
  ENTER;
  strncpy(to, "0000:c1:00.0", bytes);
  return device < driver_devices ? 0 : INVALID_DEVICE;
}
int hipDeviceGetAttribute(int *to, int attribute, int device) {
  ENTER;
  switch (attribute) {
    case 19: *to = 4 << 20; break;
    case 63: *to = 304; break;
    case 74: *to = 64 << 10; break;
    default: return INVALID_VALUE;
  }
  return device < driver_devices ? 0 : INVALID_DEVICE;
}
// gcnArchName is at 1160 since ROCm 6, and was at 396.
#ifndef OLD_RUNTIME
int hipGetDevicePropertiesR0600(char *to, int device) {
  ENTER;
  memset(to, 0, 1472);
  strcpy(to, "AMD gfx0001 board");
  strcpy(to + 1160, driver_arch);
  return device < driver_devices ? 0 : INVALID_DEVICE;
}
#endif
int hipGetDeviceProperties(char *to, int device) {
  ENTER;
  memset(to, 0, 792);
  strcpy(to + 396, driver_arch);
  return device < driver_devices ? 0 : INVALID_DEVICE;
}
int hipDevicePrimaryCtxRetain(u64 *to, int device) {
  ENTER;
  *to = 77;
  driver_live++;
  return device < driver_devices ? 0 : INVALID_DEVICE;
}
int hipDevicePrimaryCtxRelease(int device) { driver_count(__func__); driver_live--; return device < driver_devices ? 0 : INVALID_DEVICE; }
int hipCtxSetCurrent(u64 context) {
  driver_count(__func__);
  current = context == 77;
  return current ? 0 : INVALID_CONTEXT;
}

// Pages that nobody touches cost nothing; before each allocation is how long it is, and
// behind it a page that may not be touched.
enum { PAGE = 4096 };
static u64 room_of(u64 bytes) { return (bytes + PAGE - 1) / PAGE * PAGE + 2 * PAGE; }
int hipMemGetInfo(u64 *available, u64 *total) { ENTER; *available = TOTAL - used; *total = TOTAL; return 0; }
int hipMalloc(u64 *to, u64 bytes) {
  ENTER;
  if (!current) return INVALID_CONTEXT;
  if (!bytes) return INVALID_VALUE;
  if (bytes > TOTAL - used) return OUT_OF_MEMORY;
  char *at = mmap(NULL, room_of(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return OUT_OF_MEMORY;
  *(u64 *)at = bytes;
  mprotect(at + room_of(bytes) - PAGE, PAGE, PROT_NONE);
  *to = (u64)at + PAGE;
  used += bytes;
  emu_allow(*to, bytes);
  driver_live++;
  return 0;
}
int hipFree(u64 p) {
  driver_count(__func__);
  u64 bytes = *(u64 *)(p - PAGE);
  emu_forbid(p);
  munmap((void *)(p - PAGE), room_of(bytes));
  used -= bytes;
  driver_live--;
  return 0;
}
static int is_stream(Stream *s) { return s && !s->capturing; }
int hipMemcpyHtoDAsync(u64 to, const void *from, u64 bytes, Stream *s) {
  ENTER;
  if (!is_stream(s)) return INVALID_HANDLE;
  memcpy((void *)to, from, bytes);
  return 0;
}
int hipMemcpyDtoHAsync(void *to, u64 from, u64 bytes, Stream *s) {
  ENTER;
  if (!is_stream(s)) return INVALID_HANDLE;
  memcpy(to, (void *)from, bytes);
  return driver_late();
}

int hipEventCreateWithFlags(float **to, unsigned flags) {
  ENTER;
  *to = malloc(sizeof **to);
  **to = -1;
  driver_live++;
  return flags ? INVALID_VALUE : 0;
}
int hipEventDestroy(float *event) { driver_count(__func__); free(event); driver_live--; return 0; }
int hipEventRecord(float *event, Stream *s) { ENTER; *event = driver_clock_ms; return s ? 0 : INVALID_HANDLE; }
int hipEventElapsedTime(float *ms, float *from, float *to) {
  ENTER;
  *ms = *to - *from;
  return *from < 0 || *to < 0 ? INVALID_HANDLE : 0;
}

static const struct { int status; const char *name, *text; } errors[] = {
    {INVALID_VALUE, "hipErrorInvalidValue", "invalid argument"},
    {OUT_OF_MEMORY, "hipErrorOutOfMemory", "out of memory"},
    {NO_DEVICE, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {INVALID_IMAGE, "hipErrorInvalidImage", "device kernel image is invalid"},
    {NO_BINARY, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"},
    {NOT_FOUND, "hipErrorNotFound", "named symbol not found"},
    {ILLEGAL_ADDRESS, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    {CAPTURE_UNSUPPORTED, "hipErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
};
const char *hipGetErrorName(int status) {
  if (status == LAUNCH_FAILED) return "hipErrorLaunchFailure";
  for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].status == status) return errors[i].name;
  return "hipErrorUnknown";
}
const char *hipGetErrorString(int status) {
  if (status == LAUNCH_FAILED) return why[0] ? why : "unspecified launch failure";
  for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].status == status) return errors[i].text;
  return "unknown error";
}
