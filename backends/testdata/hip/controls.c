// What tests tell the emulated HIP runtime of its device.
#define _GNU_SOURCE
#include <string.h>

extern const char *driver_arch;
void mock_arch(const char *name) { driver_arch = strdup(name); }
