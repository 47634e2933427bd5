// CUDA's driver on the CPU, as far as cuda.ts calls it: faults, devices, memory, events.
// Device memory is host memory, and time is a clock that only work moves.
#include "driver.h"

#include <stdio.h>

double driver_clock_ms;
int driver_live;

static int dead, late;  // the status of a context that a kernel has ruined, now or at the next wait
static char why[600];
int driver_devices = 1;
static int current;  // whether the context was made current

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
  driver_start(1);
}
void driver_seed(u64 seed) { driver_start(seed); }
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

int cuInit(unsigned flags) { ENTER; return flags ? INVALID_VALUE : 0; }
int cuDriverGetVersion(int *to) { ENTER; *to = 13000; return 0; }
int cuDeviceGetCount(int *to) { ENTER; *to = driver_devices; return 0; }
int cuDeviceGet(int *to, int index) {
  ENTER;
  *to = 40 + index;  // an ordinal is no index
  return index < driver_devices ? 0 : INVALID_DEVICE;
}
int cuDeviceGetName(char *to, int bytes, int device) {
  ENTER;
  strncpy(to, driver_machine.name, bytes);
  return device >= 40 ? 0 : INVALID_DEVICE;
}
int cuDeviceGetPCIBusId(char *to, int bytes, int device) {
  ENTER;
  strncpy(to, "0000:18:00.0", bytes);
  return device >= 40 ? 0 : INVALID_DEVICE;
}
int cuDeviceGetAttribute(int *to, int attribute, int device) {
  ENTER;
  switch (attribute) {
    case 16: *to = driver_machine.units; break;
    case 38: *to = 60 << 20; break;
    case 75: *to = 9; break;
    case 76: *to = 0; break;
    case 97: *to = 227 << 10; break;
    default: return INVALID_VALUE;
  }
  return device >= 40 ? 0 : INVALID_DEVICE;
}
int cuDevicePrimaryCtxRetain(u64 *to, int device) {
  ENTER;
  *to = 77;
  driver_live++;
  return device >= 40 ? 0 : INVALID_DEVICE;
}
int cuDevicePrimaryCtxRelease_v2(int device) { driver_count(__func__); driver_live--; return device >= 40 ? 0 : INVALID_DEVICE; }
int cuCtxSetCurrent(u64 context) {
  driver_count(__func__);
  current = context == 77;
  return current ? 0 : INVALID_CONTEXT;
}

int cuMemGetInfo_v2(u64 *available, u64 *total) {
  ENTER;
  *available = driver_machine.bytes / 2;
  *total = driver_machine.bytes;
  return 0;
}
int cuMemAlloc_v2(u64 *to, u64 bytes) {
  ENTER;
  if (!current) return INVALID_CONTEXT;
  if (!bytes) return INVALID_VALUE;
  if (bytes > driver_machine.bytes / 2 || !(*to = driver_alloc(bytes))) return OUT_OF_MEMORY;
  driver_live++;
  return 0;
}
int cuMemFree_v2(u64 p) { driver_count(__func__); driver_release(p); driver_live--; return 0; }

static int is_stream(Stream *s) { return s && !s->capturing; }
int cuMemcpyHtoDAsync_v2(u64 to, const void *from, u64 bytes, Stream *s) {
  ENTER;
  if (!is_stream(s)) return INVALID_HANDLE;
  memcpy((void *)to, from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, u64 from, u64 bytes, Stream *s) {
  ENTER;
  if (!is_stream(s)) return INVALID_HANDLE;
  memcpy(to, (void *)from, bytes);
  return driver_late();
}

int cuEventCreate(float **to, unsigned flags) {
  ENTER;
  *to = malloc(sizeof **to);
  **to = -1;
  driver_live++;
  return flags ? INVALID_VALUE : 0;
}
int cuEventDestroy_v2(float *event) { driver_count(__func__); free(event); driver_live--; return 0; }
int cuEventRecord(float *event, Stream *s) {
  ENTER;
  *event = driver_clock_ms;
  return s ? 0 : INVALID_HANDLE;
}
int cuEventElapsedTime(float *ms, float *from, float *to) {
  ENTER;
  *ms = *to - *from;
  return *from < 0 || *to < 0 ? INVALID_HANDLE : 0;
}

#ifndef OLD_DRIVER
int cuEventElapsedTime_v2(float *ms, float *from, float *to) { return cuEventElapsedTime(ms, from, to); }
#endif

static const struct { int status; const char *name, *text; } errors[] = {
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {NO_BINARY, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
};
static int lookup(int status, const char **to, int text) {
  for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].status == status) return *to = text ? errors[i].text : errors[i].name, 0;
  return INVALID_VALUE;
}
int cuGetErrorName(int status, const char **to) { return lookup(status, to, 0); }
int cuGetErrorString(int status, const char **to) {
  if (status == LAUNCH_FAILED && why[0]) return *to = why, 0;
  return lookup(status, to, 1);
}
