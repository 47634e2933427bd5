/* Functions of the CUDA driver that the program has loaded. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "recorder.h"

void *driver_function(const char *name) {
  void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == NULL) return NULL;
  void *function = real_symbol(library, name);
  dlclose(library);
  return function;
}

bool device_of_thread(char *name, int size, int *major, int *minor) {
  enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };
  int (*current)(int *) = (int (*)(int *))driver_function("cuCtxGetDevice");
  int (*get_name)(char *, int, int) = (int (*)(char *, int, int))driver_function("cuDeviceGetName");
  int (*attribute)(int *, int, int) =
      (int (*)(int *, int, int))driver_function("cuDeviceGetAttribute");
  int device;
  if (current == NULL || get_name == NULL || attribute == NULL) return false;
  /* Before a context is made, the first device is the likeliest. */
  if (current(&device) != 0) device = 0;
  return get_name(name, size, device) == 0 && attribute(major, CAPABILITY_MAJOR, device) == 0 &&
         attribute(minor, CAPABILITY_MINOR, device) == 0;
}
