// What tests tell the emulated Metal of its device and its macOS.
#define _GNU_SOURCE
#include <string.h>

extern const char *driver_arch;
extern int driver_family, driver_old;
// The architecture, and the number of the newest family that it is of.
void mock_arch(const char *name, int family) { driver_arch = strdup(name), driver_family = family; }
// Whether it is a macOS that cannot tell architectures.
void mock_old(int is) { driver_old = is; }
