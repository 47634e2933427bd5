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
int nvmlDeviceGetPowerUsage(uint64_t device, unsigned *to) {
  *to = 123456;
  return no_power ? NOT_SUPPORTED : device == 5 ? 0 : INVALID_ARGUMENT;
}
int nvmlDeviceGetTemperature(uint64_t device, int sensor, unsigned *to) {
  *to = 41;
  return device == 5 && sensor == 0 ? 0 : INVALID_ARGUMENT;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(uint64_t device, uint64_t *to) {
  *to = throttle;
  return device == 5 ? 0 : INVALID_ARGUMENT;
}
const char *nvmlErrorString(int status) { return status == NOT_SUPPORTED ? "Not Supported" : "Unknown Error"; }
