// Metal's compiler on the CPU: compiles for the lane emulator, each source once a process.
#define _GNU_SOURCE
#include "../compile.h"

#include <pthread.h>

#include "../load.h"
#include "metal.h"

static struct { char *source; void *handle; } known[512];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *known_as(const char *source) {
  void *handle = NULL;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < 512 && known[i].source && !handle; i++)
    if (!strcmp(known[i].source, source)) handle = known[i].handle;
  pthread_mutex_unlock(&lock);
  return handle;
}
static void *load(const char *code, size_t bytes) {
  void *handle = driver_load(code, bytes);
  if (!handle) driver_die("%s", dlerror());
  *(const EmuApi **)dlsym(handle, "emu_api") = emu_table();
  return handle;
}
void *driver_compile_msl(const char *source, char **log) {
  void *handle = known_as(source);
  if (handle) return handle;
  size_t bytes;
  char *code = driver_compile(source, "api/msl.h", "-std=c++17 -fno-strict-aliasing", &bytes, log);
  if (!code) return NULL;
  handle = load(code, bytes);
  free(code);
  pthread_mutex_lock(&lock);
  for (int i = 0; i < 512; i++)
    if (!known[i].source) {
      known[i].source = strdup(source), known[i].handle = handle;
      break;
    }
  pthread_mutex_unlock(&lock);
  return handle;
}
