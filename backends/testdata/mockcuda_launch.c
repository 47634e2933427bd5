// The mock driver's modules, launches, streams and graphs. A module is a shared library
// with `void f(void **params)` and `const unsigned f_sizes[]`, the bytes of each parameter
// up to a 0. A launch takes 1 ms, a memset 0.5 ms, a graph 0.25 ms and what is in it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "mock.h"

#define MAX_PARAMS 16

typedef struct {
  void (*run)(void **params);
  const unsigned *sizes;
  unsigned shared_limit;
  int non_portable;
} Function;

struct Node {
  Function *function;  // or a memset, where there is none
  void *params[MAX_PARAMS];
  u64 at, bytes;
  unsigned char value;
  Node *next;
};

static struct { unsigned char config[56], attributes[2][72]; } last;
// Copies the last launch configuration and its attributes: 200 bytes.
void mock_last_config(void *to) { memcpy(to, &last, sizeof last); }

// A driver is given the bytes alone: their number is in the ELF header.
int cuModuleLoadData(u64 *to, const void *image) {
  ENTER;
  const Elf64_Ehdr *header = image;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG)) return INVALID_IMAGE;
  u64 bytes = header->e_shoff + (u64)header->e_shentsize * header->e_shnum;
  int file = memfd_create("module", 0);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  if (write(file, image, bytes) != (ssize_t)bytes) abort();
  *to = (u64)dlopen(path, RTLD_NOW | RTLD_LOCAL);
  close(file);
  mock_live++;
  return *to ? 0 : INVALID_IMAGE;
}
int cuModuleUnload(u64 module) { ENTER; mock_live--; return dlclose((void *)module) ? INVALID_HANDLE : 0; }
int cuModuleGetFunction(Function **to, u64 module, const char *name) {
  ENTER;
  char sizes[128];
  snprintf(sizes, sizeof sizes, "%s_sizes", name);
  Function f = {dlsym((void *)module, name), dlsym((void *)module, sizes), 48 << 10, 0};
  if (!f.run || !f.sizes) return NOT_FOUND;
  *to = malloc(sizeof f);
  **to = f;
  return 0;
}
int cuFuncSetAttribute(Function *f, int attribute, int value) {
  ENTER;
  if (attribute == 8 && value <= 227 << 10) f->shared_limit = value;
  else if (attribute == 14) f->non_portable = value;
  else return INVALID_VALUE;
  return 0;
}

static void run(const Node *node) {
  mock_clock_ms += node->function ? 1 : 0.5;
  if (node->function) node->function->run((void **)node->params);
  else memset((void *)node->at, node->value, node->bytes);
}
static void drop(Node *node) {
  for (int i = 0; i < MAX_PARAMS; i++) free(node->params[i]);
  free(node);
}
int mock_submit(Stream *stream, Node *node) {
  if (!stream) return drop(node), INVALID_HANDLE;
  if (!stream->capturing) return run(node), drop(node), 0;
  Node **end = &stream->first;
  while (*end) end = &(*end)->next;
  *end = node;
  return 0;
}

// Values are copied at the launch, as a driver does.
static int launch(Function *f, Stream *stream, void **params) {
  Node *node = calloc(1, sizeof *node);
  node->function = f;
  for (int i = 0; f->sizes[i]; i++)
    node->params[i] = memcpy(aligned_alloc(128, 128), params[i], f->sizes[i]);
  return mock_submit(stream, node);
}
static int legal(const Function *f, const unsigned *d, unsigned shared, unsigned cluster) {
  u64 threads = (u64)d[3] * d[4] * d[5], blocks = (u64)d[0] * d[1] * d[2];
  return blocks && threads && threads <= 1024 && shared <= f->shared_limit &&
         d[0] % cluster == 0 && (cluster <= 8 || f->non_portable);
}
int cuLaunchKernel(Function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, Stream *stream, void **params, void **extra) {
  ENTER;
  unsigned dims[] = {gx, gy, gz, bx, by, bz};
  if (extra || !legal(f, dims, shared, 1)) return INVALID_VALUE;
  return launch(f, stream, params);
}
#ifndef OLD_DRIVER
typedef struct { unsigned id, pad, value[16]; } Attribute;
typedef struct { unsigned dims[6], shared; Stream *stream; Attribute *attributes; unsigned count; } Config;
int cuLaunchKernelEx(const Config *c, Function *f, void **params, void **extra) {
  ENTER;
  _Static_assert(sizeof(Config) == 56 && sizeof(Attribute) == 72, "layout of cuda.h");
  memset(&last, 0, sizeof last);
  memcpy(last.config, c, sizeof last.config);
  memcpy(last.attributes, c->attributes, c->count * sizeof(Attribute));
  unsigned cluster = 1;
  for (unsigned i = 0; i < c->count; i++)
    if (c->attributes[i].id == 4) cluster = c->attributes[i].value[0];
  if (extra || !legal(f, c->dims, c->shared, cluster)) return INVALID_VALUE;
  return launch(f, c->stream, params);
}
#endif
int cuMemsetD8Async(u64 at, unsigned char value, u64 bytes, Stream *stream) {
  ENTER;
  Node *node = calloc(1, sizeof *node);
  node->at = at, node->bytes = bytes, node->value = value;
  return mock_submit(stream, node);
}

int cuStreamCreate(Stream **to, unsigned flags) { ENTER; *to = calloc(1, sizeof **to); mock_live++; return flags == 1 ? 0 : INVALID_VALUE; }
int cuStreamDestroy_v2(Stream *s) { ENTER; free(s); mock_live--; return 0; }
int cuStreamSynchronize(Stream *s) {
  ENTER;
  if (!s->capturing) return 0;
  s->invalidated = 1;
  return CAPTURE_UNSUPPORTED;
}
int cuStreamBeginCapture_v2(Stream *s, int mode) {
  ENTER;
  if (mode != 1 || s->capturing) return INVALID_VALUE;
  s->capturing = 1;
  return 0;
}
static void drop_all(Node *node) {
  while (node) {
    Node *next = node->next;
    drop(node);
    node = next;
  }
}
int cuStreamEndCapture(Stream *s, Node ***to) {
  ENTER;
  if (!s->capturing) return INVALID_VALUE;
  int invalidated = s->invalidated;
  Node *nodes = s->first;
  *s = (Stream){0};
  if (invalidated) return drop_all(nodes), CAPTURE_INVALIDATED;
  *to = malloc(sizeof **to);
  **to = nodes;
  mock_live++;
  return 0;
}
// An executable graph takes the nodes over, so that destroying the graph leaves it whole.
int cuGraphInstantiateWithFlags(Node ***to, Node **graph, u64 flags) {
  ENTER;
  *to = malloc(sizeof **to);
  **to = *graph;
  *graph = NULL;
  mock_live++;
  return flags ? INVALID_VALUE : 0;
}
int cuGraphDestroy(Node **graph) { ENTER; drop_all(*graph); free(graph); mock_live--; return 0; }
int cuGraphExecDestroy(Node **exec) { ENTER; drop_all(*exec); free(exec); mock_live--; return 0; }
int cuGraphLaunch(Node **exec, Stream *s) {
  ENTER;
  mock_clock_ms += 0.25;
  for (Node *node = *exec; node; node = node->next) run(node);
  return s ? 0 : INVALID_HANDLE;
}
