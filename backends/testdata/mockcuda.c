// CUDA's driver on the CPU, as far as cuda.ts calls it: faults, devices, memory, events.
// Device memory is host memory, and time is a clock that only work moves.
#include "mock.h"

#include <stdio.h>

double mock_clock_ms;
int mock_live;

#define MAX_FAULTS 16
static struct { char call[64]; int after, status; } faults[MAX_FAULTS];
static struct { char call[64]; int count; } counts[64];
static int dead, late;  // the status of a context that a kernel has ruined, now or at the next wait
static char why[600];
static int devices = 1;
static int current;  // whether the context was made current

// Makes the call after `after` more of its kind return `status`, once. A status that ruins
// a context is what every later call returns.
void mock_fault(const char *call, int after, int status) {
  for (int i = 0; i < MAX_FAULTS; i++)
    if (!faults[i].status) {
      strncpy(faults[i].call, call, 63);
      faults[i].after = after;
      faults[i].status = status;
      return;
    }
  abort();
}

void mock_ruin(int status, const char *text) {
  if (late || dead) return;
  late = status;
  snprintf(why, sizeof why, "unspecified launch failure: %s", text);
}
int mock_late(void) {
  if (late) dead = late, late = 0;
  return dead;
}

void mock_reset(void) {
  memset(faults, 0, sizeof faults);
  memset(counts, 0, sizeof counts);
  dead = late = 0;
  why[0] = 0;
  devices = 1;
  mock_clock_ms = 0;
  mock_start(1);
}

void mock_seed(u64 seed) { mock_start(seed); }
void mock_devices(int count) { devices = count; }
int mock_living(void) { return mock_live; }

int mock_calls(const char *call) {
  for (int i = 0; i < 64; i++)
    if (!strcmp(counts[i].call, call)) return counts[i].count;
  return 0;
}

void mock_count(const char *call) {
  for (int i = 0; i < 64; i++) {
    if (!counts[i].call[0]) strncpy(counts[i].call, call, 63);
    if (strcmp(counts[i].call, call)) continue;
    counts[i].count++;
    return;
  }
}

int mock_enter(const char *call) {
  mock_count(call);
  for (int i = 0; i < MAX_FAULTS; i++) {
    if (!faults[i].status || strcmp(faults[i].call, call)) continue;
    if (faults[i].after-- > 0) continue;
    int status = faults[i].status;
    faults[i].status = 0;
    if (status == ILLEGAL_ADDRESS || status == LAUNCH_FAILED) dead = status;
    return status;
  }
  return dead;
}

int cuInit(unsigned flags) { ENTER; return flags ? INVALID_VALUE : 0; }
int cuDriverGetVersion(int *to) { ENTER; *to = 13000; return 0; }
int cuDeviceGetCount(int *to) { ENTER; *to = devices; return 0; }
int cuDeviceGet(int *to, int index) {
  ENTER;
  *to = 40 + index;  // an ordinal is no index
  return index < devices ? 0 : INVALID_DEVICE;
}
int cuDeviceGetName(char *to, int bytes, int device) {
  ENTER;
  strncpy(to, mock_machine.name, bytes);
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
    case 16: *to = mock_machine.units; break;
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
  mock_live++;
  return device >= 40 ? 0 : INVALID_DEVICE;
}
int cuDevicePrimaryCtxRelease_v2(int device) { mock_count(__func__); mock_live--; return device >= 40 ? 0 : INVALID_DEVICE; }
int cuCtxSetCurrent(u64 context) {
  mock_count(__func__);
  current = context == 77;
  return current ? 0 : INVALID_CONTEXT;
}

int cuMemGetInfo_v2(u64 *available, u64 *total) {
  ENTER;
  *available = mock_machine.bytes / 2;
  *total = mock_machine.bytes;
  return 0;
}
int cuMemAlloc_v2(u64 *to, u64 bytes) {
  ENTER;
  if (!current) return INVALID_CONTEXT;
  if (!bytes) return INVALID_VALUE;
  if (bytes > mock_machine.bytes / 2 || !(*to = mock_alloc(bytes))) return OUT_OF_MEMORY;
  mock_live++;
  return 0;
}
int cuMemFree_v2(u64 p) { mock_count(__func__); mock_release(p); mock_live--; return 0; }

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
  return mock_late();
}

int cuEventCreate(float **to, unsigned flags) {
  ENTER;
  *to = malloc(sizeof **to);
  **to = -1;
  mock_live++;
  return flags ? INVALID_VALUE : 0;
}
int cuEventDestroy_v2(float *event) { mock_count(__func__); free(event); mock_live--; return 0; }
int cuEventRecord(float *event, Stream *s) {
  ENTER;
  *event = mock_clock_ms;
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
