// Metal on the CPU: devices, memory, libraries, pipelines. Memory of the device is the host's.
#define _GNU_SOURCE
#include "../compile.h"

#include "metal.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

int driver_devices = 1, driver_family = 1009, driver_old;
const char *driver_arch = "applegpu_g15s";
static const u64 TOTAL = 96ull << 30;
static u64 used;

// The device is made once and never given back.
static struct { Object o; } the_device;
void *MTLCopyAllDevices(void) {
  the_device.o.isa = &class_MTLDevice, the_device.o.count = 1 << 30;
  NSArray *all = driver_new(&class_NSArray);
  for (all->count = 0; all->count < driver_devices; all->count++) all->at[all->count] = driver_retain(&the_device);
  return all;
}

static void *arch_name(Object *self) { (void)self; return driver_string(driver_arch); }
static const Method methods_MTLArchitecture[] = {{"name", arch_name}, {NULL, NULL}};
CLASS(MTLArchitecture, Object, NULL);

static void *device_name(Object *self) { (void)self; return driver_string("emulator applegpu_g15s"); }
static void *architecture(Object *self) { (void)self; return driver_auto(driver_new(&class_MTLArchitecture)); }
static char supports(Object *self, const char *s, u64 which) { (void)self, (void)s; return which <= (u64)driver_family; }
static u64 room(Object *self) { (void)self; return MAX_ROOM; }
static u64 longest(Object *self) { (void)self; return TOTAL / 2; }
static u64 allocated(Object *self) { (void)self; return used; }
static u64 working_set(Object *self) { (void)self; return TOTAL; }
static char architecture_is_old(Object *self, const char *s, const char *selector) {
  (void)self, (void)s;
  return !(driver_old && !strcmp(selector, "architecture"));
}
static void *new_queue(Object *self) { (void)self; return driver_new(&class_MTLCommandQueue); }

// Pages that nobody touches cost nothing; behind each buffer is one that may not be touched.
enum { PAGE = 4096 };
static u64 pages(u64 bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }
static void *new_buffer(Object *self, const char *s, u64 bytes, u64 options) {
  (void)self, (void)s;
  if (options) driver_die("newBufferWithLength: only shared memory is known here, not options %d", (int)options);
  if (!bytes || bytes > TOTAL / 2 || bytes > TOTAL - used) return NULL;
  char *at = mmap(NULL, pages(bytes) + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return NULL;
  mprotect(at + pages(bytes), PAGE, PROT_NONE);
  MTLBuffer *b = driver_new(&class_MTLBuffer);
  b->bytes = bytes, b->at = at;
  used += bytes;
  emu_allow((u64)at, bytes);
  return b;
}
static void drop_buffer(MTLBuffer *b) {
  emu_forbid((u64)b->at);
  munmap(b->at, pages(b->bytes) + PAGE);
  used -= b->bytes;
}
static char *contents(MTLBuffer *self) { return self->at; }
static const Method methods_MTLBuffer[] = {{"contents", contents}, {"gpuAddress", contents}, {NULL, NULL}};
CLASS(MTLBuffer, MTLBuffer, drop_buffer);

typedef struct { Object o; u64 version, safe; } MTLCompileOptions;
static void set_version(MTLCompileOptions *self, const char *s, u64 v) { (void)s; self->version = v; }
static void set_math(MTLCompileOptions *self, const char *s, u64 mode) { (void)s; self->safe = mode == 0; }
static const Method methods_MTLCompileOptions[] = {{"setLanguageVersion:", set_version}, {"setMathMode:", set_math}, {NULL, NULL}};
CLASS(MTLCompileOptions, MTLCompileOptions, NULL);

static void *new_library(Object *self, const char *s, NSString *source, MTLCompileOptions *options, void **error) {
  (void)self, (void)s;
  u64 wanted = strstr(source->text, "#define MATRIX_UNITS 1\n") ? 0x40000 : 0x30001;
  if (options->version != wanted || !options->safe)
    driver_die("MSL is to be compiled as version 3.1, or 4.0 for matrix units, with safe arithmetic");
  char *log = NULL;
  void *handle = driver_compile_msl(source->text, &log);
  if (handle) {
    MTLLibrary *l = driver_new(&class_MTLLibrary);
    l->handle = handle;
    return l;
  }
  // Nobody empties the pool of a thread that is not the program's: it is lost there, as in life.
  *error = driver_auto(driver_error(3, "MTLLibraryErrorDomain", log));
  free(log);
  return NULL;
}
static void *new_function(MTLLibrary *self, const char *s, NSString *name) {
  (void)s;
  char symbol[300];
  snprintf(symbol, sizeof symbol, "emu_kernel_%s", name->text);
  const EmuKernel *k = dlsym(self->handle, symbol);
  if (!k) return NULL;
  MTLFunction *f = driver_new(&class_MTLFunction);
  f->kernel = k, f->library = driver_retain(self);
  return f;
}
static const Method methods_MTLLibrary[] = {{"newFunctionWithName:", new_function}, {NULL, NULL}};
CLASS(MTLLibrary, MTLLibrary, NULL);
static const Method methods_MTLFunction[] = {{NULL, NULL}};
static void drop_function(MTLFunction *f) { driver_release(f->library); }
CLASS(MTLFunction, MTLFunction, drop_function);

static void *new_pipeline(Object *self, const char *s, MTLFunction *f, void **error) {
  (void)self, (void)s;
  int code = driver_fault_of("pipeline");
  if (code) return *error = driver_auto(driver_error(code, "CompilerError", "Encountered unlowered function call")), NULL;
  MTLComputePipelineState *p = driver_new(&class_MTLComputePipelineState);
  p->function = driver_retain(f);
  return p;
}
static u64 most_threads(MTLComputePipelineState *self) { return self->function->kernel->threads; }
static void drop_pipeline(MTLComputePipelineState *p) { driver_release(p->function); }
static const Method methods_MTLComputePipelineState[] = {{"maxTotalThreadsPerThreadgroup", most_threads}, {NULL, NULL}};
CLASS(MTLComputePipelineState, MTLComputePipelineState, drop_pipeline);

static const Method methods_MTLDevice[] = {
    {"name", device_name}, {"architecture", architecture}, {"supportsFamily:", supports},
    {"maxThreadgroupMemoryLength", room}, {"maxBufferLength", longest}, {"currentAllocatedSize", allocated},
    {"recommendedMaxWorkingSetSize", working_set}, {"newCommandQueue", new_queue},
    {"respondsToSelector:", architecture_is_old}, {"newBufferWithLength:options:", new_buffer},
    {"newLibraryWithSource:options:error:", new_library},
    {"newComputePipelineStateWithFunction:error:", new_pipeline}, {NULL, NULL}};
CLASS(MTLDevice, Object, NULL);

// MSL, compiled for the lane emulator, each source once a process.
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
  emu_loaded(handle, code, bytes);
  *(const EmuApi **)dlsym(handle, "emu_api") = emu_table();
  return handle;
}
void *driver_compile_msl(const char *source, char **log) {
  void *handle = known_as(source);
  if (handle) return handle;
  size_t bytes;
  char *code = driver_compile(source, "library.metal", "api/msl.h", "-std=c++17 -fno-strict-aliasing", &bytes, log);
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
