// CUDA's and HIP's driver on the CPU, as far as their backends call them: faults, devices, memory, events.
// Device memory is host memory, and time is a clock that only work moves.
#include "../../emulator.h"
#include "driver.h"

#include <stdio.h>

double driver_clock_ms;
int driver_live;

static int dead, late;  // the status of a context that a kernel has ruined, now or at the next wait
static char why[600];
int driver_devices = 1;
static int current;  // whether the context was made current
static u64 used;     // bytes of memory

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
  driver_together(1);
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
int cuDriverGetVersion(int *to) { ENTER; *to = DRIVER_VERSION; return 0; }
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
#ifndef OLD_DRIVER
int cuDeviceGetUuid_v2(char *to, int device) {
  ENTER;
#ifdef HIP
  char text[17];
  snprintf(text, sizeof text, "%016x", device);
  memcpy(to, text, 16);
#else
  memset(to, 0xab, 15);
  to[15] = device;
#endif
  return device >= 40 ? 0 : INVALID_DEVICE;
}
#endif
int cuDeviceGetPCIBusId(char *to, int bytes, int device) {
  ENTER;
  strncpy(to, BUS_ID, bytes);
  return device >= 40 ? 0 : INVALID_DEVICE;
}
int cuDeviceGetAttribute(int *to, int attribute, int device) {
  ENTER;
  switch (attribute) {
#define X(NUMBER, VALUE) case NUMBER: *to = VALUE; break;
    ATTRIBUTES(X)
#undef X
    default: return INVALID_VALUE;
  }
  return device >= 40 ? 0 : INVALID_DEVICE;
}
#ifndef HIP
int driver_sm = CUDA_SM;
#else
const char *driver_arch = HIP_ARCH ":sramecc+:xnack-";
// gcnArchName is at 1160 since ROCm 6, and was at 396.
#ifndef OLD_DRIVER
int hipGetDevicePropertiesR0600(char *to, int device) {
  ENTER;
  memset(to, 0, 1472);
  strcpy(to, "AMD gfx0001 board");
  strcpy(to + 1160, driver_arch);
  return device >= 40 ? 0 : INVALID_DEVICE;
}
#endif
int hipGetDeviceProperties(char *to, int device) {
  ENTER;
  memset(to, 0, 792);
  strcpy(to + 396, driver_arch);
  return device >= 40 ? 0 : INVALID_DEVICE;
}
#endif
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
#ifndef HIP
int cuCtxGetCurrent(u64 *to) { ENTER; *to = current ? 77 : 0; return 0; }
int cuCtxGetDevice(int *to) { ENTER; *to = 40; return current ? 0 : INVALID_CONTEXT; }
#endif

int cuMemGetInfo_v2(u64 *available, u64 *total) {
  ENTER;
  *available = driver_machine.bytes - used;
  *total = driver_machine.bytes;
  return 0;
}
int cuMemAlloc_v2(u64 *to, u64 bytes) {
  ENTER;
  if (!current) return INVALID_CONTEXT;
  if (!bytes) return INVALID_VALUE;
  if (bytes > driver_machine.bytes - used || !(*to = driver_alloc(bytes))) return OUT_OF_MEMORY;
  used += driver_size(*to);
  driver_live++;
  return 0;
}
int cuMemFree_v2(u64 p) {
  driver_count(__func__);
  used -= driver_size(p);
  driver_release(p);
  driver_live--;
  return 0;
}

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

#if !defined(OLD_DRIVER) && !defined(HIP)
int cuEventElapsedTime_v2(float *ms, float *from, float *to) { return cuEventElapsedTime(ms, from, to); }
#endif

#if !defined(OLD_DRIVER) && !defined(HIP)
static u64 persisting = 11 << 20;
int cuCtxSetLimit(unsigned limit, u64 value) {
  ENTER;
  if (limit != 6) return UNSUPPORTED_LIMIT;
  persisting = value;
  return current ? 0 : INVALID_CONTEXT;
}
int cuCtxGetLimit(u64 *value, unsigned limit) {
  ENTER;
  *value = persisting;
  return limit != 6 ? UNSUPPORTED_LIMIT : current ? 0 : INVALID_CONTEXT;
}
#endif

// Tensor maps, which the lane emulator reads. What is refused is what cuda.h of CUDA 13.0 says at
// cuTensorMapEncodeTiled.
#if !defined(OLD_DRIVER) && !defined(HIP)
// By CUtensorMapDataType; packed types of less than a byte are not known here.
static const unsigned element_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
enum { TYPES = sizeof element_bytes / sizeof *element_bytes };
static int is_float(unsigned type) { return type >= 6; }

// Swizzles beyond 128B (3) have larger chunks within 128 bytes.
static unsigned span_of(unsigned swizzle) { return swizzle > 3 ? 128 : 16u << swizzle; }

int cuTensorMapEncodeTiled(void *map, unsigned type, unsigned rank, u64 at, const u64 *dims, const u64 *strides,
                           const unsigned *box, const unsigned *steps, unsigned interleave, unsigned swizzle,
                           unsigned promotion, unsigned fill) {
  ENTER;
  if (!map || (u64)map % 64 || !dims || !box || !steps || (rank > 1 && !strides)) return INVALID_VALUE;
  if (type >= TYPES || rank < 1 || rank > 5 || interleave > 2 || swizzle > 6 || promotion > 3 || fill > 1) return INVALID_VALUE;
  if ((interleave && rank < 3) || (interleave == 2 && swizzle != 1) || (fill && !is_float(type))) return INVALID_VALUE;
  const unsigned align = interleave == 2 ? 32 : 16;
  if (!at || at % align) return INVALID_VALUE;
  int dense = 1;
  for (unsigned i = 0; i < rank; i++) {
    if (dims[i] < 1 || dims[i] > 1ull << 32 || box[i] < 1 || box[i] > 256) return INVALID_VALUE;
    // The first is ignored where nothing is interleaved.
    if ((i || interleave) && (steps[i] < 1 || steps[i] > 8)) return INVALID_VALUE;
    dense &= steps[i] == 1;
  }
  for (unsigned i = 0; i + 1 < rank; i++)
    if (strides[i] % align || strides[i] >= 1ull << 40) return INVALID_VALUE;
  const unsigned bytes = element_bytes[type], row = box[0] * bytes;
  if (!interleave && (row % 16 || (swizzle && row > span_of(swizzle)))) return INVALID_VALUE;
  EmuTensorMap m = {EMU_TENSOR_MAP, at, dims[0]};
  m.element_bytes = bytes, m.swizzle = swizzle, m.promotion = promotion, m.box_columns = box[0];
  if (rank == 2) m.rows = dims[1], m.row_bytes = strides[0], m.box_rows = box[1];
  // Of no account here; tests look at it.
  m.rest[0] = type | rank << 8 | interleave << 16 | fill << 24;
  for (unsigned i = 0; i < rank; i++) m.rest[1 + i] = steps[i];
  for (unsigned i = 2; i < rank; i++) m.rest[4 + i] = box[i], m.rest[7 + i] = dims[i], m.rest[10 + i] = strides[i - 1];
  m.emulated = rank == 2 && dense && !interleave && !fill && swizzle <= 3;
  memcpy(map, &m, sizeof m);
  return 0;
}
#endif

static const struct { int status; const char *name, *text; } errors[] = {
    {INVALID_VALUE, OF("CUDA_ERROR_INVALID_VALUE", "hipErrorInvalidValue"), "invalid argument"},
    {OUT_OF_MEMORY, OF("CUDA_ERROR_OUT_OF_MEMORY", "hipErrorOutOfMemory"), "out of memory"},
    {NO_DEVICE, OF("CUDA_ERROR_NO_DEVICE", "hipErrorNoDevice"), OF("no CUDA-capable device is detected", "no ROCm-capable device is detected")},
    {INVALID_IMAGE, OF("CUDA_ERROR_INVALID_IMAGE", "hipErrorInvalidImage"), "device kernel image is invalid"},
    {NO_BINARY, OF("CUDA_ERROR_NO_BINARY_FOR_GPU", "hipErrorNoBinaryForGpu"), "no kernel image is available for execution on the device"},
    {NOT_FOUND, OF("CUDA_ERROR_NOT_FOUND", "hipErrorNotFound"), "named symbol not found"},
    {ILLEGAL_ADDRESS, OF("CUDA_ERROR_ILLEGAL_ADDRESS", "hipErrorIllegalAddress"), "an illegal memory access was encountered"},
    {LAUNCH_FAILED, OF("CUDA_ERROR_LAUNCH_FAILED", "hipErrorLaunchFailure"), "unspecified launch failure"},
    {TOO_LARGE, OF("CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "hipErrorCooperativeLaunchTooLarge"), "too many blocks in cooperative launch"},
    {CAPTURE_UNSUPPORTED, OF("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "hipErrorStreamCaptureUnsupported"), "operation not permitted when stream is capturing"},
};
static const char *name_of(int status) {
  for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].status == status) return errors[i].name;
  return NULL;
}
static const char *text_of(int status) {
  if (status == LAUNCH_FAILED && why[0]) return why;
  for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].status == status) return errors[i].text;
  return NULL;
}
#ifdef HIP
const char *hipGetErrorName(int status) { return name_of(status) ?: "hipErrorUnknown"; }
const char *hipGetErrorString(int status) { return text_of(status) ?: "unknown error"; }
#else
int cuGetErrorName(int status, const char **to) { return (*to = name_of(status)) ? 0 : INVALID_VALUE; }
int cuGetErrorString(int status, const char **to) { return (*to = text_of(status)) ? 0 : INVALID_VALUE; }
#endif
