/* The activity API of CUPTI over the mock driver, with real headers' layouts. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

static void (*callback)(void *, int, uint32_t, const void *);
static void (*request)(uint8_t **, size_t *, size_t *);
static void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);
static int enabled[64], nodes_created, nodes_cloned;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* One buffer of API records and one of kernels, as the real one: their order is lost. */
static struct buffer {
  uint8_t *bytes;
  size_t size, used;
} buffers[2];
enum { KERNEL_BYTES = 208, EXTERNAL_BYTES = 24 };

static __thread uint64_t stack[16];
static __thread int depth;

static uint64_t external(void) { return depth > 0 ? stack[depth - 1] : 0; }

static void flush(struct buffer *buffer) {
  if (buffer->bytes == NULL) return;
  uint8_t *bytes = buffer->bytes;
  size_t size = buffer->size, used = buffer->used;
  buffer->bytes = NULL;
  complete(NULL, 0, bytes, size, used);
}

static uint8_t *room(struct buffer *buffer, size_t bytes) {
  if (buffer->bytes != NULL && buffer->used + bytes > buffer->size) flush(buffer);
  if (buffer->bytes == NULL) {
    size_t records;
    request(&buffer->bytes, &buffer->size, &records);
    buffer->used = 0;
  }
  uint8_t *at = buffer->bytes + buffer->used;
  memset(at, 0, bytes);
  buffer->used += bytes;
  return at;
}

static void put(uint8_t *record, size_t at, const void *value, size_t size) {
  memcpy(record + at, value, size);
}

static void ran(const struct mock_kernel *kernel, uint64_t id) {
  pthread_mutex_lock(&lock);
  if (enabled[10]) {
    uint8_t *record = room(&buffers[1], KERNEL_BYTES);
    uint32_t kind = 10;
    put(record, 0, &kind, 4);
    put(record, 16, &kernel->start, 8);
    put(record, 24, &kernel->end, 8);
    put(record, 92, &kernel->correlation, 4);
    put(record, 104, &kernel->name, 8);
    put(record, 144, &kernel->node, 8);
  }
  if (enabled[39] && enabled[4] && id != 0) {
    uint8_t *record = room(&buffers[0], EXTERNAL_BYTES);
    uint32_t kinds[2] = {39, 3};
    put(record, 0, kinds, 8);
    put(record, 8, &id, 8);
    put(record, 16, &kernel->correlation, 4);
  }
  pthread_mutex_unlock(&lock);
}

static void on_node(int is_clone, void *node, void *original) {
  if (callback == NULL || !(is_clone ? nodes_cloned : nodes_created)) return;
  void *graph[7] = {NULL, NULL, node, original};
  void *resource[3] = {NULL, NULL, graph};
  callback(NULL, 3, is_clone ? 20 : 13, resource);
}

int cuptiSubscribe(void **subscriber, void (*own)(void *, int, uint32_t, const void *),
                   void *data) {
  (void)data;
  if (getenv("MOCK_CUPTI_BUSY") != NULL) return 39;
  *subscriber = &callback;
  callback = own;
  mock_hooks.node = on_node;
  return 0;
}

int cuptiEnableCallback(uint32_t on, void *subscriber, int domain, uint32_t id) {
  (void)subscriber;
  if (domain != 3) return 1;
  if (id == 13) nodes_created = (int)on;
  if (id == 20) nodes_cloned = (int)on;
  return 0;
}

int cuptiActivityRegisterCallbacks(void (*own_request)(uint8_t **, size_t *, size_t *),
                                   void (*own_complete)(void *, uint32_t, uint8_t *, size_t,
                                                        size_t)) {
  request = own_request;
  complete = own_complete;
  mock_hooks.ran = ran;
  mock_hooks.external = external;
  return 0;
}

int cuptiActivityEnable(int kind) { return !(enabled[kind] = 1); }
int cuptiActivityDisable(int kind) { return enabled[kind] = 0; }

int cuptiActivityFlushAll(uint32_t flags) {
  pthread_mutex_lock(&lock);
  flush(&buffers[1]);
  /* Records of calls may come later than their kernels. */
  if (flags == 1 || getenv("MOCK_CUPTI_LATE") == NULL) flush(&buffers[0]);
  pthread_mutex_unlock(&lock);
  return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record) {
  uint8_t *next = *record;
  if (next == NULL) next = buffer;
  else next += *(uint32_t *)next == 10 ? KERNEL_BYTES : EXTERNAL_BYTES;
  if (next >= buffer + valid) return 12;
  *record = next;
  return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped) {
  (void)context, (void)stream;
  *dropped = 0;
  return 0;
}

int cuptiGetTimestamp(uint64_t *time) {
  *time = mock_clock();
  return 0;
}

int cuptiGetGraphNodeId(void *node, uint64_t *id) {
  *id = mock_node_id(node);
  return 0;
}

int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id) {
  if (kind != 3) return 1;
  stack[depth++] = id;
  return 0;
}

int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *last) {
  if (kind != 3 || depth == 0) return 1;
  *last = stack[--depth];
  return 0;
}

int cuptiGetResultString(int code, const char **text) {
  *text = code == 39 ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" : "CUPTI_ERROR_UNKNOWN";
  return 0;
}
