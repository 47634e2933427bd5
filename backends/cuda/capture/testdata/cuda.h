/* What the mock libraries share: a driver that only counts time, and what CUPTI hooks into. */
#ifndef MOCK_CUDA_H
#define MOCK_CUDA_H
#include <stdint.h>

struct mock_kernel {
  const char *name;
  uint64_t start, end, node;
  uint32_t correlation;
};

struct mock_hooks {
  /* The number that the calling thread was given by CUPTI, or 0. */
  uint64_t (*external)(void);
  void (*ran)(const struct mock_kernel *, uint64_t external);
  void (*node)(int is_clone, void *node, void *original);
};

extern struct mock_hooks mock_hooks;

int cuInit(unsigned flags);
/* Runs a kernel of `ns`, or puts a node into the graph that this thread captures. */
void mock_launch(const char *name, uint64_t ns);
void mock_capture_begin(void);
void *mock_capture_end(void);
void *mock_instantiate(void *graph);
void mock_graph_launch(void *graph);
uint64_t mock_node_id(void *node);
uint64_t mock_clock(void);
#endif
