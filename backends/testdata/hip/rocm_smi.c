// ROCm's management library for two GPUs, the second at 0000:c1:00.0. With OLD_SMI the clocks
// have the layout before ROCm 6, and power is an average.
#include <stdint.h>

enum { NOT_SUPPORTED = 2, INVALID_ARGS = 1 };
int rsmi_init(uint64_t flags) { return flags ? INVALID_ARGS : 0; }
int rsmi_num_monitor_devices(uint32_t *to) { *to = 2; return 0; }
int rsmi_dev_pci_id_get(uint32_t i, uint64_t *to) {
  // The high bits number the part of a partitioned device.
  *to = i ? 0xc100ull | 3ull << 28 : 0x0300;
  return 0;
}
#ifdef OLD_SMI
typedef struct { uint32_t count, current; uint64_t hz[32]; } Clocks;
#define CLOCKS(...) (Clocks){__VA_ARGS__}
#else
typedef struct { _Bool deep; uint32_t count, current; uint64_t hz[33]; } Clocks;
#define CLOCKS(...) (Clocks){1, __VA_ARGS__}
#endif
int rsmi_dev_gpu_clk_freq_get(uint32_t i, int which, Clocks *to) {
  if (i != 1) return INVALID_ARGS;
  if (which == 0) *to = CLOCKS(3, 2, {132000000, 1000000000, 2100000000});
  else if (which == 4) *to = CLOCKS(4, 3, {900000000, 1000000000, 1200000000, 1300000000});
  else return NOT_SUPPORTED;
  return 0;
}
int rsmi_dev_temp_metric_get(uint32_t i, uint32_t sensor, int metric, int64_t *to) {
  if (i != 1 || metric) return INVALID_ARGS;
  if (sensor == 0) return NOT_SUPPORTED;
  *to = 43000;
  return 0;
}
int rsmi_dev_power_ave_get(uint32_t i, uint32_t sensor, uint64_t *to) {
#ifdef OLD_SMI
  *to = 123456000;
  return i != 1 || sensor;
#else
  return NOT_SUPPORTED;
#endif
}
#ifndef OLD_SMI
int rsmi_dev_current_socket_power_get(uint32_t i, uint64_t *to) {
  *to = 456789000;
  return i != 1;
}
#endif
