// Loads a library from its bytes.
#pragma once
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// NULL where it cannot be loaded: dlerror() says why.
static inline void *driver_load(const void *image, size_t bytes) {
  // A path of its own: the loader takes one that it has seen for the same library.
  char path[] = P_tmpdir "/emulatedXXXXXX";
  int file = mkstemp(path);
  if (write(file, image, bytes) != (ssize_t)bytes) abort();
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  close(file);
  unlink(path);
  return handle;
}
