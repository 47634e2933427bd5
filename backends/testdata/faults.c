// What tests add to the driver of an emulated device: its calls are counted, and fail when told to.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "../../emulator/driver/control.h"

static struct { char call[128]; int after, status; } faults[16];
static struct { char call[128]; int count; } counts[96];
extern int driver_devices;
static struct { unsigned char config[56], attributes[2][72]; } last;

// Makes the call after `after` more of its kind return `status`, once. A status that ruins a device
// is what every later call returns.
void mock_fault(const char *call, int after, int status) {
  for (int i = 0; i < 16; i++)
    if (!faults[i].status) {
      strncpy(faults[i].call, call, 127);
      faults[i].after = after, faults[i].status = status;
      return;
    }
  abort();
}
int mock_calls(const char *call) {
  for (int i = 0; i < 96; i++)
    if (!strcmp(counts[i].call, call)) return counts[i].count;
  return 0;
}
void mock_devices(int count) { driver_devices = count; }
// Copies the last launch configuration and its attributes: 200 bytes.
void mock_last_config(void *to) { memcpy(to, &last, sizeof last); }

#if defined HIP || defined METAL
extern const char *driver_arch;
#endif
#ifdef HIP
void mock_arch(const char *name) { driver_arch = strdup(name); }
#elif !defined METAL
extern int driver_sm;
// The compute capability, as 90.
void mock_sm(int capability) { driver_sm = capability; }
#endif
#ifdef METAL
extern int driver_family, driver_old;
// The architecture, and the number of the newest family that it is of.
void mock_arch(const char *name, int family) { driver_arch = strdup(name), driver_family = family; }
// Whether it is a macOS that cannot tell architectures.
void mock_old(int is) { driver_old = is; }
#endif

void driver_called(const char *call) {
  for (int i = 0; i < 96; i++) {
    if (!counts[i].call[0]) strncpy(counts[i].call, call, 127);
    if (strcmp(counts[i].call, call)) continue;
    counts[i].count++;
    return;
  }
}
int driver_fault(const char *call) {
  for (int i = 0; i < 16; i++) {
    if (!faults[i].status || strcmp(faults[i].call, call) || faults[i].after-- > 0) continue;
    int status = faults[i].status;
    faults[i].status = 0;
    return status;
  }
  return 0;
}
void driver_configured(const void *config, const void *attributes, unsigned count) {
  memset(&last, 0, sizeof last);
  memcpy(last.config, config, sizeof last.config);
  memcpy(last.attributes, attributes, count * sizeof *last.attributes);
}
void driver_forget(void) {
  memset(faults, 0, sizeof faults), memset(counts, 0, sizeof counts);
  driver_devices = 1;
}
