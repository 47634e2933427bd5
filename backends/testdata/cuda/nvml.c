// NVIDIA's management library for one GPU at 0000:18:00.0.
#include <stdint.h>
#include <string.h>

enum { INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6 };

static uint64_t throttle;
static int no_power;
void mock_throttle(uint64_t bits) { throttle = bits; }
void mock_no_power(int yes) { no_power = yes; }

int nvmlInit_v2(void) { return 0; }
int nvmlSystemGetDriverVersion(char *to, unsigned bytes) {
  strncpy(to, "580.1.2", bytes);
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, uint64_t *to) {
  *to = 5;
  return strcmp(bus, "0000:18:00.0") ? NOT_FOUND : 0;
}
int nvmlDeviceGetClockInfo(uint64_t device, int which, unsigned *to) {
  *to = which == 1 ? 1980 : which == 2 ? 3201 : 0;
  return device == 5 ? 0 : INVALID_ARGUMENT;
}
#ifndef OLD
typedef struct {
  unsigned field, scope;
  int64_t timestamp, latency;
  int type, status;
  uint64_t value;
} Field;
static uint64_t lowered_ns[3];
void mock_lowered(int which, uint64_t ns) { lowered_ns[which] = ns; }
int nvmlDeviceGetFieldValues(uint64_t device, int count, Field *to) {
  if (device != 5 || count != 1 || to->scope != 0) return INVALID_ARGUMENT;
  const int which = to->field == 74 ? 0 : to->field == 75 ? 1 : to->field == 77 ? 2 : -1;
  to->status = to->field == 186 && no_power ? NOT_SUPPORTED : 0;
  to->type = which < 0 ? 1 : 3;
  // The upper half of an unsigned int is not the library's.
  to->value = which < 0 ? 0xabcd00000000u | 123456 : lowered_ns[which];
  return which < 0 && to->field != 186 ? INVALID_ARGUMENT : 0;
}
typedef struct {
  unsigned pid;
  uint64_t bytes;
  unsigned gpu_instance, compute_instance;
} Process;
static unsigned pids[4], pid_count;
void mock_process(unsigned pid) { pids[pid_count++] = pid; }
int nvmlDeviceGetComputeRunningProcesses_v3(uint64_t device, unsigned *count, Process *to) {
  if (*count < pid_count) return INVALID_ARGUMENT;
  for (unsigned i = 0; i < pid_count; i++) to[i] = (Process){pids[i], 1 << 20, ~0u, ~0u};
  *count = pid_count;
  return device == 5 ? 0 : INVALID_ARGUMENT;
}
#endif
// MIG, ECC, the ECC that it is delivered with, power limit in W, persistence.
static unsigned state[5] = {0, 1, 1, 700, 1};
void mock_state(int which, unsigned value) { state[which] = value; }
static int no_state;
void mock_no_state(int yes) { no_state = yes; }
static int get(int which, unsigned scale, unsigned *to) {
  *to = state[which] * scale;
  return no_state ? NOT_SUPPORTED : 0;
}
#ifndef OLD
int nvmlDeviceGetMigMode(uint64_t device, unsigned *to, unsigned *pending) {
  *pending = 1;
  return get(0, 1, to);
}
int nvmlDeviceGetDefaultEccMode(uint64_t device, unsigned *to) { return get(2, 1, to); }
#endif
int nvmlDeviceGetEccMode(uint64_t device, unsigned *to, unsigned *pending) {
  *pending = !state[1];
  return get(1, 1, to);
}
int nvmlDeviceGetEnforcedPowerLimit(uint64_t device, unsigned *to) { return get(3, 1000, to); }
int nvmlDeviceGetPowerManagementDefaultLimit(uint64_t device, unsigned *to) {
  *to = 700000;
  return no_state ? NOT_SUPPORTED : 0;
}
int nvmlDeviceGetPersistenceMode(uint64_t device, unsigned *to) { return get(4, 1, to); }
int nvmlDeviceGetTemperature(uint64_t device, int sensor, unsigned *to) {
  *to = 41;
  return device == 5 && sensor == 0 ? 0 : INVALID_ARGUMENT;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(uint64_t device, uint64_t *to) {
  *to = throttle;
  return device == 5 ? 0 : INVALID_ARGUMENT;
}
const char *nvmlErrorString(int status) { return status == NOT_SUPPORTED ? "Not Supported" : "Unknown Error"; }
