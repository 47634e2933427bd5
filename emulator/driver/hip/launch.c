// The emulated HIP runtime's modules, launches, streams and graphs. A module is a shared library
// for the lane emulator. A launch takes 10 us, a memset 5 us, a graph 2 us and what is in it.
#define _GNU_SOURCE
#include <elf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime.h"
#include "../load.h"

#define MAX_PARAMS 24
#define MAX_LDS (64 << 10)

struct Node {
  const EmuKernel *kernel;  // or a memset, where there is none
  EmuLaunch launch;
  void *params[MAX_PARAMS];
  u64 at, bytes;
  unsigned char value;
  Node *next;
};

// A driver is given the bytes alone: their number is in the ELF header.
int hipModuleLoadData(u64 *to, const void *image) {
  ENTER;
  const Elf64_Ehdr *header = image;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG)) return INVALID_IMAGE;
  if (header->e_machine == 0xe0) return NO_BINARY;  // a real code object: nothing here runs it
  u64 bytes = header->e_shoff + (u64)header->e_shentsize * header->e_shnum;
  *to = (u64)driver_load(image, bytes);
  if (!*to) return fprintf(stderr, "emulated HIP runtime: %s\n", dlerror()), INVALID_IMAGE;
  const EmuApi **api = dlsym((void *)*to, "emu_api");
  if (!api) return INVALID_IMAGE;
  *api = emu_table();
  driver_live++;
  return 0;
}
int hipModuleUnload(u64 module) { driver_count(__func__); driver_live--; return dlclose((void *)module) ? INVALID_HANDLE : 0; }
int hipModuleGetFunction(const EmuKernel **to, u64 module, const char *name) {
  ENTER;
  char symbol[200];
  snprintf(symbol, sizeof symbol, "emu_kernel_%s", name);
  *to = dlsym((void *)module, symbol);
  return *to ? 0 : NOT_FOUND;
}
// It takes an address in the program, not a function of a module: calling it is a mistake.
int hipFuncSetAttribute(const void *f, int attribute, int value) {
  ENTER;
  (void)f, (void)attribute, (void)value;
  return INVALID_VALUE;
}

static void zero(u64 at, u64 bytes) {
  u64 first = (at + 4095) & ~4095ull, end = (at + bytes) & ~4095ull;
  if (first < end && !madvise((void *)first, end - first, MADV_DONTNEED)) {
    memset((void *)at, 0, first - at);
    memset((void *)end, 0, at + bytes - end);
  } else {
    memset((void *)at, 0, bytes);
  }
}
static void run(const Node *n) {
  driver_clock_ms += n->kernel ? 0.010 : 0.005;
  if (n->kernel) {
    const char *fault = emu_launch(n->kernel, &n->launch, (void **)n->params);
    if (fault) driver_ruin(LAUNCH_FAILED, fault);
  } else if (n->value) {
    memset((void *)n->at, n->value, n->bytes);
  } else {
    zero(n->at, n->bytes);
  }
}
static void drop(Node *node) {
  for (int i = 0; i < MAX_PARAMS; i++) free(node->params[i]);
  free(node);
}
int driver_submit(Stream *stream, Node *node) {
  if (!stream) return drop(node), INVALID_HANDLE;
  if (!stream->capturing) return run(node), drop(node), 0;
  Node **end = &stream->first;
  while (*end) end = &(*end)->next;
  *end = node;
  return 0;
}

int hipModuleLaunchKernel(const EmuKernel *k, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared, Stream *stream, void **params, void **extra) {
  ENTER;
  u64 threads = (u64)bx * by * bz, blocks = (u64)gx * gy * gz;
  if (extra || !blocks || !threads || threads > 1024 || shared > MAX_LDS || gy > 65535 || gz > 65535) return INVALID_VALUE;
  Node *node = calloc(1, sizeof *node);
  *node = (Node){.kernel = k, .launch = {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared = shared}};
  // Values are copied at the launch, as a driver does.
  for (int i = 0; k->sizes[i]; i++)
    node->params[i] = memcpy(aligned_alloc(128, (k->sizes[i] + 127) / 128 * 128), params[i], k->sizes[i]);
  return driver_submit(stream, node);
}
int hipMemsetD8Async(u64 at, unsigned char value, u64 bytes, Stream *stream) {
  ENTER;
  Node *node = calloc(1, sizeof *node);
  node->at = at, node->value = value, node->bytes = bytes;
  return driver_submit(stream, node);
}

int hipStreamCreateWithFlags(Stream **to, unsigned flags) {
  ENTER;
  *to = calloc(1, sizeof **to);
  driver_live++;
  return flags == 1 ? 0 : INVALID_VALUE;
}
int hipStreamDestroy(Stream *s) { driver_count(__func__); free(s); driver_live--; return 0; }
int hipStreamSynchronize(Stream *s) {
  ENTER;
  if (!s->capturing) return driver_late();
  s->invalidated = 1;
  return CAPTURE_UNSUPPORTED;
}
int hipStreamBeginCapture(Stream *s, int mode) {
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
int hipStreamEndCapture(Stream *s, Node ***to) {
  ENTER;
  if (!s->capturing) return INVALID_VALUE;
  int invalidated = s->invalidated;
  Node *nodes = s->first;
  *s = (Stream){0};
  if (invalidated) return drop_all(nodes), CAPTURE_INVALIDATED;
  *to = malloc(sizeof **to);
  **to = nodes;
  driver_live++;
  return 0;
}
// An executable graph takes the nodes over, so that destroying the graph leaves it whole.
int hipGraphInstantiateWithFlags(Node ***to, Node **graph, u64 flags) {
  ENTER;
  *to = malloc(sizeof **to);
  **to = *graph;
  *graph = NULL;
  driver_live++;
  return flags ? INVALID_VALUE : 0;
}
int hipGraphDestroy(Node **graph) { driver_count(__func__); drop_all(*graph); free(graph); driver_live--; return 0; }
int hipGraphExecDestroy(Node **exec) { driver_count(__func__); drop_all(*exec); free(exec); driver_live--; return 0; }
int hipGraphLaunch(Node **exec, Stream *s) {
  ENTER;
  driver_clock_ms += 0.002;
  for (Node *node = *exec; node; node = node->next) run(node);
  return s ? 0 : INVALID_HANDLE;
}
