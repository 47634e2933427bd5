/* A driver whose device does nothing: kernels take the time that they are given. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda.h"

struct mock_hooks mock_hooks;

struct node {
  char name[64];
  uint64_t ns, id;
  struct node *next;
};
struct graph {
  struct node *first, **last;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t correlation;
static uint64_t node_ids;
static __thread struct graph *captured;

uint64_t mock_clock(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

int cuInit(unsigned flags) {
  static int is_done;
  (void)flags;
  if (is_done) return 0;
  is_done = 1;
  const char *path = getenv("CUDA_INJECTION64_PATH");
  void *library = path == NULL ? NULL : dlopen(path, RTLD_NOW);
  int (*inject)(void) = library == NULL ? NULL : (int (*)(void))dlsym(library, "InitializeInjection");
  if (inject != NULL) inject();
  return 0;
}

int cuCtxGetDevice(int *device) { return *device = 0; }

int cuDeviceGetName(char *name, int size, int device) {
  snprintf(name, (size_t)size, "Mock GPU %d", device);
  return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? 9 : 0;
  return 0;
}

static void run(const char *name, uint64_t ns, uint64_t node, uint32_t id, uint64_t external) {
  struct mock_kernel kernel = {name, mock_clock(), 0, node, id};
  kernel.end = kernel.start + ns;
  if (mock_hooks.ran != NULL) mock_hooks.ran(&kernel, external);
}

static uint32_t next_correlation(void) {
  pthread_mutex_lock(&lock);
  uint32_t id = ++correlation;
  pthread_mutex_unlock(&lock);
  return id;
}

/* The mocked time of a thread's last launches, which events measure. */
static __thread uint64_t elapsed;

void mock_launch(const char *name, uint64_t ns) {
  cuInit(0);
  if (captured == NULL) {
    elapsed += ns;
    run(name, ns, 0, next_correlation(), mock_hooks.external ? mock_hooks.external() : 0);
    return;
  }
  struct node *node = calloc(1, sizeof *node);
  snprintf(node->name, sizeof node->name, "%s", name);
  node->ns = ns;
  pthread_mutex_lock(&lock);
  node->id = ++node_ids;
  pthread_mutex_unlock(&lock);
  *captured->last = node;
  captured->last = &node->next;
  if (mock_hooks.node != NULL) mock_hooks.node(0, node, NULL);
}

void mock_capture_begin(void) {
  captured = calloc(1, sizeof *captured);
  captured->last = &captured->first;
}

void *mock_capture_end(void) {
  struct graph *graph = captured;
  captured = NULL;
  return graph;
}

void *mock_instantiate(void *of) {
  struct graph *graph = calloc(1, sizeof *graph);
  graph->last = &graph->first;
  for (struct node *node = ((struct graph *)of)->first; node != NULL; node = node->next) {
    struct node *clone = calloc(1, sizeof *clone);
    *clone = *node;
    clone->next = NULL;
    clone->id = ++node_ids;
    *graph->last = clone;
    graph->last = &clone->next;
    if (mock_hooks.node != NULL) mock_hooks.node(1, clone, node);
  }
  return graph;
}

void mock_graph_launch(void *graph) {
  uint32_t id = next_correlation();
  uint64_t external = mock_hooks.external ? mock_hooks.external() : 0;
  for (struct node *node = ((struct graph *)graph)->first; node != NULL; node = node->next) {
    run(node->name, node->ns, node->id, id, external);
  }
}

uint64_t mock_node_id(void *node) { return ((struct node *)node)->id; }

struct event {
  uint64_t at;
};
int cuEventCreate(void **event, unsigned flags) {
  (void)flags;
  *event = calloc(1, sizeof(struct event));
  return 0;
}
int cuEventRecord(void *event, void *stream) {
  (void)stream;
  ((struct event *)event)->at = elapsed;
  return 0;
}
int cuEventQuery(void *event) { return event == NULL; }
int cuEventElapsedTime_v2(float *ms, void *start, void *end) {
  *ms = (float)(((struct event *)end)->at - ((struct event *)start)->at) / 1e6f;
  return 0;
}
int cuStreamIsCapturing(void *stream, int *state) {
  (void)stream;
  *state = captured != NULL;
  return 0;
}
