// The driver's modules, launches, streams and graphs. A module is a shared library.
#define _GNU_SOURCE
#include <elf.h>
#include <stdio.h>
#include "driver.h"

#define MAX_PARAMS 24

typedef struct {
  const void *kernel;
  const unsigned *sizes;
  unsigned shared_limit;
  int non_portable;
} Function;

struct Node {
  const void *kernel;  // or a memset or copy, where there is none
  Launch launch;
  void *params[MAX_PARAMS];
  u64 at, from, bytes;  // a copy, where there is a source
  unsigned char value;
  Node *next;
};

// A driver is given the bytes alone: their number is in the ELF header.
// A text of PTX, which the driver compiles: of it there are functions that nothing can run.
static const char ptx[] = ".version";
int cuModuleLoadData(u64 *to, const void *image) {
  ENTER;
#if !defined(OLD_DRIVER) && !defined(HIP)
  if (!memcmp(image, ptx, sizeof ptx - 1)) return *to = (u64)ptx, driver_live++, 0;
#endif
  const Elf64_Ehdr *header = image;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG)) return INVALID_IMAGE;
  u64 bytes = header->e_shoff + (u64)header->e_shentsize * header->e_shnum;
  if (header->e_machine == REAL_BINARY) return NO_BINARY;  // nothing here runs it
  *to = (u64)driver_load(image, bytes);
  if (!*to) return fprintf(stderr, "emulated driver: %s\n", dlerror()), INVALID_IMAGE;
  if (!driver_adopt((void *)*to, image, bytes)) return dlclose((void *)*to), INVALID_IMAGE;
  driver_live++;
  return 0;
}
int cuModuleUnload(u64 module) {
  driver_count(__func__);
  driver_live--;
  if (module == (u64)ptx) return 0;
  driver_drop((void *)module);
  return dlclose((void *)module) ? INVALID_HANDLE : 0;
}
int cuModuleGetFunction(Function **to, u64 module, const char *name) {
  ENTER;
  Function f = {NULL, NULL, FREE_SHARED, 0};
  if (module != (u64)ptx) {
    f.kernel = driver_kernel((void *)module, name, &f.sizes);
    if (!f.kernel) return NOT_FOUND;
  }
  *to = malloc(sizeof f);
  **to = f;
  return 0;
}
int cuFuncSetAttribute(Function *f, int attribute, int value) {
  ENTER;
#ifdef HIP
  // It takes an address in the program, not a function of a module: calling it is a mistake.
  return INVALID_VALUE;
#endif
  if (attribute == 8 && value <= MOST_SHARED) f->shared_limit = value;
  else if (attribute == 14) f->non_portable = value;
  else return INVALID_VALUE;
  return 0;
}

// Launches that are held back.
static struct {
  int wanted, count;
  Task tasks[TOGETHER];
  Node *dropped[TOGETHER];  // nodes of no graph
} held;
static void drop(Node *node) {
  if (!node) return;
  for (int i = 0; i < MAX_PARAMS; i++) free(node->params[i]);
  free(node);
}
void driver_together(int launches) {
  for (int i = 0; i < held.count; i++) drop(held.dropped[i]), held.dropped[i] = NULL;
  held.wanted = launches, held.count = 0;
}
static void release(void) {
  if (!held.count) return;
  const char *fault = driver_run(held.tasks, held.count);
  driver_together(1);
  if (fault) driver_ruin(LAUNCH_FAILED, fault);
}

// True after a kernel: only a kernel that follows a kernel can overlap with it.
static int after_kernel;
// Whether it is held back.
static int run(const Node *node) {
  driver_clock_ms += node->kernel ? LAUNCH_MS : FILL_MS;
  Launch launch = node->launch;
  launch.overlap &= after_kernel;
  after_kernel = node->kernel != NULL;
  if (!node->kernel) release();
  if (node->from) return memmove((void *)node->at, (void *)node->from, node->bytes), 0;
  if (!node->kernel) return driver_fill(node->at, node->value, node->bytes), 0;
  const Task task = {node->kernel, launch, (void **)node->params};
  if (held.wanted > 1) {
    held.tasks[held.count++] = task;
    return 1;
  }
  const char *fault = driver_run(&task, 1);
  if (fault) driver_ruin(LAUNCH_FAILED, fault);
  return 0;
}
// Runs a node that is `graph`'s, or else nobody's.
static void submit(Node *node, int graph) {
  if (!run(node)) {
    if (!graph) drop(node);
    return;
  }
  held.dropped[held.count - 1] = graph ? NULL : node;
  if (held.count >= held.wanted || held.count == TOGETHER) release();
}
int driver_submit(Stream *stream, Node *node) {
  if (!stream) return drop(node), INVALID_HANDLE;
  if (!stream->capturing) return submit(node, 0), 0;
  Node **end = &stream->first;
  while (*end) end = &(*end)->next;
  *end = node;
  return 0;
}

enum { UNIT_THREADS = 2048, UNIT_BLOCKS = 32, RESERVED = 1024 };
static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }
// Blocks that a unit holds; registers are not known.
static unsigned of_unit(unsigned threads, unsigned shared) {
  return least(least(UNIT_BLOCKS, UNIT_THREADS / threads), ((MOST_SHARED) + RESERVED) / (shared + RESERVED));
}
// Blocks that an idle device holds, in clusters that do not leave half of it, but that one fits.
static unsigned room(const Launch *l) {
  unsigned clusters = l->cluster == 1 ? driver_machine.units : driver_machine.units / 2 / l->cluster * 2;
  return (clusters ? clusters : 1) * l->cluster * of_unit(l->block[0] * l->block[1] * l->block[2], l->shared);
}

static int legal(const Function *f, const Launch *l) {
  const unsigned *g = l->grid, *b = l->block;
  u64 threads = (u64)b[0] * b[1] * b[2], blocks = (u64)g[0] * g[1] * g[2];
  return blocks && g[0] < 1u << 31 && g[1] < 65536 && g[2] < 65536 && threads && threads <= 1024 && b[2] <= 64 &&
         l->shared <= f->shared_limit && l->cluster && g[0] % l->cluster == 0 && l->cluster <= (f->non_portable ? 16 : 8);
}
static int launch(const Function *f, const Launch *l, Stream *stream, void **params) {
  if (!f->kernel || !legal(f, l)) return INVALID_VALUE;
  if (l->cooperative && (u64)l->grid[0] * l->grid[1] * l->grid[2] > room(l)) return TOO_LARGE;
  Node *node = calloc(1, sizeof *node);
  node->kernel = f->kernel, node->launch = *l, node->launch.room = room(l);
  // Values are copied at the launch, as a driver does.
  for (int i = 0; f->sizes[i]; i++) {
    if (i == MAX_PARAMS) abort();
    node->params[i] = memcpy(aligned_alloc(128, (f->sizes[i] + 127) / 128 * 128), params[i], f->sizes[i]);
  }
  return driver_submit(stream, node);
}
int cuLaunchKernel(const Function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, Stream *stream, void **params, void **extra) {
  ENTER;
  Launch l = {{gx, gy, gz}, {bx, by, bz}, shared, .cluster = 1};
  return extra ? INVALID_VALUE : launch(f, &l, stream, params);
}
#if !defined(OLD_DRIVER) && !defined(HIP)
typedef struct { unsigned id, pad, value[16]; } Attribute;
typedef struct { unsigned grid[3], block[3], shared; Stream *stream; Attribute *attributes; unsigned count; } Config;
enum { COOPERATIVE = 2, CLUSTER_DIMENSION = 4, PROGRAMMATIC_STREAM_SERIALIZATION = 6 };
// What `c` asks for. Returns whether all of it is known.
static int asked(const Config *c, Launch *l) {
  *l = (Launch){.shared = c->shared, .cluster = 1};
  memcpy(l->grid, c->grid, sizeof l->grid), memcpy(l->block, c->block, sizeof l->block);
  for (unsigned i = 0; i < c->count; i++) {
    const Attribute *a = &c->attributes[i];
    if (a->id == CLUSTER_DIMENSION && a->value[1] == 1 && a->value[2] == 1) l->cluster = a->value[0];
    else if (a->id == PROGRAMMATIC_STREAM_SERIALIZATION) l->overlap = a->value[0];
    else if (a->id == COOPERATIVE) l->cooperative = a->value[0];
    else return 0;
  }
  return 1;
}
int cuLaunchKernelEx(const Config *c, const Function *f, void **params, void **extra) {
  ENTER;
  _Static_assert(sizeof(Config) == 56 && sizeof(Attribute) == 72, "layout of cuda.h");
  if (driver_configured) driver_configured(c, c->attributes, c->count);
  Launch l;
  return extra || !asked(c, &l) ? INVALID_VALUE : launch(f, &l, c->stream, params);
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *to, const Function *f, int threads, u64 shared) {
  ENTER;
  if (threads < 1 || threads > 1024 || shared > f->shared_limit) return INVALID_VALUE;
  *to = of_unit(threads, shared);
  return 0;
}
int cuOccupancyMaxActiveClusters(int *to, const Function *f, const Config *c) {
  ENTER;
  Launch l;
  if (!asked(c, &l) || !legal(f, &l)) return INVALID_VALUE;
  *to = room(&l) / l.cluster;
  return 0;
}
#endif
int cuMemsetD8Async(u64 at, unsigned char value, u64 bytes, Stream *stream) {
  ENTER;
  Node *node = calloc(1, sizeof *node);
  node->at = at, node->bytes = bytes, node->value = value;
  return driver_submit(stream, node);
}
int cuMemcpyDtoDAsync_v2(u64 at, u64 from, u64 bytes, Stream *stream) {
  ENTER;
  Node *node = calloc(1, sizeof *node);
  node->at = at, node->from = from, node->bytes = bytes;
  return driver_submit(stream, node);
}

int cuStreamCreate(Stream **to, unsigned flags) { ENTER; *to = calloc(1, sizeof **to); driver_live++; return flags == 1 ? 0 : INVALID_VALUE; }
int cuStreamDestroy_v2(Stream *s) { driver_count(__func__); free(s); driver_live--; return 0; }
int cuStreamSynchronize(Stream *s) {
  ENTER;
  if (!s->capturing) return release(), after_kernel = 0, driver_late();
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
  driver_live++;
  return 0;
}
// An executable graph takes the nodes over, so that destroying the graph leaves it whole.
int cuGraphInstantiateWithFlags(Node ***to, Node **graph, u64 flags) {
  ENTER;
  *to = malloc(sizeof **to);
  **to = *graph;
  *graph = NULL;
  driver_live++;
  return flags ? INVALID_VALUE : 0;
}
int cuGraphDestroy(Node **graph) { driver_count(__func__); drop_all(*graph); free(graph); driver_live--; return 0; }
int cuGraphExecDestroy(Node **exec) { driver_count(__func__); drop_all(*exec); free(exec); driver_live--; return 0; }
int cuGraphLaunch(Node **exec, Stream *s) {
  ENTER;
  driver_clock_ms += GRAPH_MS;
  after_kernel = 0;
  for (Node *node = *exec; node; node = node->next) submit(node, 1);
  return s ? 0 : INVALID_HANDLE;
}
