/* Times of kernels, by the activity API of CUPTI, and the calls that they belong to.
 *
 * A kernel that a call starts has the correlation id of an API record, which CUPTI ties to the
 * number of the call's entry. A kernel that a CUDA graph starts has the id of its node, which was
 * created in a call or is a clone of one that was. Declarations follow cupti_activity.h and
 * cupti_callbacks.h of CUDA 11.1 to 13. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder.h"

enum { ACTIVITY_DRIVER = 4, ACTIVITY_RUNTIME = 5, ACTIVITY_KERNEL = 10, ACTIVITY_EXTERNAL = 39 };
enum { EXTERNAL_CUSTOM0 = 3 };
enum { DOMAIN_RESOURCE = 3, NODE_CREATED = 13, NODE_CLONED = 20 };
enum { FLUSH_FORCED = 1 };
enum { BUFFER_BYTES = 4 << 20, BUFFER_ALIGNMENT = 8 };

struct kernel_record {
  uint32_t kind;
  uint8_t cache, shared;
  uint16_t registers;
  uint32_t partition_requested, partition_executed;
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3];
  int32_t static_shared, dynamic_shared;
  uint32_t local, local_total;
  uint32_t correlation;
  int64_t grid_id;
  const char *name;
  void *reserved;
  uint64_t queued, submitted;
  uint8_t launch[4];
  uint32_t shared_executed;
  uint64_t graph_node;
} __attribute__((packed, aligned(8)));

struct external_record {
  uint32_t kind, external_kind;
  uint64_t id;
  uint32_t correlation, reserved;
} __attribute__((packed, aligned(8)));

_Static_assert(offsetof(struct kernel_record, correlation) == 92, "as in cupti_activity.h");
_Static_assert(offsetof(struct kernel_record, graph_node) == 144, "as in cupti_activity.h");

struct resource_data {
  void *context, *stream;
  void *descriptor;
};

struct graph_data {
  void *graph, *original_graph, *node, *original_node;
};

static struct {
  int (*subscribe)(void **, void (*)(void *, int, uint32_t, const void *), void *);
  int (*enable_callback)(uint32_t, void *, int, uint32_t);
  int (*register_callbacks)(void (*)(uint8_t **, size_t *, size_t *),
                            void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
  int (*enable)(int);
  int (*disable)(int);
  int (*next)(uint8_t *, size_t, void **);
  int (*flush)(uint32_t);
  int (*dropped)(void *, uint32_t, size_t *);
  int (*timestamp)(uint64_t *);
  int (*node_id)(void *, uint64_t *);
  int (*push)(int, uint64_t);
  int (*pop)(int, uint64_t *);
  int (*error_text)(int, const char **);
} cupti;

static const char *const FUNCTIONS[] = {
    "cuptiSubscribe",
    "cuptiEnableCallback",
    "cuptiActivityRegisterCallbacks",
    "cuptiActivityEnable",
    "cuptiActivityDisable",
    "cuptiActivityGetNextRecord",
    "cuptiActivityFlushAll",
    "cuptiActivityGetNumDroppedRecords",
    "cuptiGetTimestamp",
    "cuptiGetGraphNodeId",
    "cuptiActivityPushExternalCorrelationId",
    "cuptiActivityPopExternalCorrelationId",
    "cuptiGetResultString",
};
_Static_assert(sizeof cupti == sizeof FUNCTIONS, "a name for each function");

static const char *problem = "CUDA was not started";
static char problem_text[256];
static atomic_bool works, is_open;
static void *subscriber;

/* A map from a number that is not 0 to another, with open addressing. */
struct map {
  uint64_t *keys;
  uint32_t *values;
  size_t slots, count;
};

/* Callbacks of resources run within the driver, so they take no lock that is held while CUPTI is
 * called. `node_lock` is taken last. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, node_lock = PTHREAD_MUTEX_INITIALIZER;
static struct map calls_of, nodes, totals_of;
static struct kernel_total *totals;
static size_t total_count, total_room;

struct recent {
  uint64_t start, end, node;
  uint32_t correlation;
  int32_t name;
};
static struct recent *recents;
static size_t recent_count, recent_room;
static uint64_t opened, closed, busy, busy_until;
static atomic_ulong dropped;
static uint32_t last_correlation;

enum { FIRST = 1u << 31 };            /* In `nodes`: the first kernel of its call. */

static size_t slot_of(const struct map *map, uint64_t key) {
  size_t slot = (key * 0x9e3779b97f4a7c15u >> 20) & (map->slots - 1);
  while (map->keys[slot] != 0 && map->keys[slot] != key) slot = (slot + 1) & (map->slots - 1);
  return slot;
}

static void map_put(struct map *map, uint64_t key, uint32_t value);

static void map_grow(struct map *map, uint64_t least_key) {
  struct map old = *map;
  map->slots = old.slots == 0 ? 1024 : least_key == 0 ? old.slots * 2 : old.slots;
  map->keys = calloc(map->slots, sizeof *map->keys);
  map->values = calloc(map->slots, sizeof *map->values);
  map->count = 0;
  if (map->keys == NULL || map->values == NULL) abort();
  for (size_t i = 0; i < old.slots; i++) {
    if (old.keys[i] != 0 && old.keys[i] >= least_key) map_put(map, old.keys[i], old.values[i]);
  }
  free(old.keys);
  free(old.values);
}

static void map_put(struct map *map, uint64_t key, uint32_t value) {
  if (map->count * 2 >= map->slots) map_grow(map, 0);
  size_t slot = slot_of(map, key);
  if (map->keys[slot] == 0) map->count++;
  map->keys[slot] = key;
  map->values[slot] = value;
}

static bool map_get(const struct map *map, uint64_t key, uint32_t *value) {
  if (map->slots == 0 || key == 0) return false;
  size_t slot = slot_of(map, key);
  *value = map->values[slot];
  return map->keys[slot] != 0;
}

static void requested(uint8_t **buffer, size_t *size, size_t *records) {
  *buffer = aligned_alloc(BUFFER_ALIGNMENT, BUFFER_BYTES);
  *size = *buffer == NULL ? 0 : BUFFER_BYTES;
  *records = 0;
}

static void record_kernel(const struct kernel_record *record) {
  if (record->end == 0) return;
  if (recent_count == recent_room) {
    recent_room = recent_room == 0 ? 4096 : recent_room * 2;
    struct recent *more = realloc(recents, recent_room * sizeof *more);
    if (more == NULL) abort();
    recents = more;
  }
  recents[recent_count++] = (struct recent){record->start, record->end, record->graph_node,
                                            record->correlation, name_of(record->name)};
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                      size_t valid) {
  (void)size;
  pthread_mutex_lock(&lock);
  for (void *record = NULL; valid > 0 && cupti.next(buffer, valid, &record) == 0;) {
    uint32_t kind = *(const uint32_t *)record;
    if (kind == ACTIVITY_KERNEL) record_kernel(record);
    if (kind == ACTIVITY_EXTERNAL) {
      const struct external_record *external = record;
      if (external->external_kind == EXTERNAL_CUSTOM0 && external->correlation != 0) {
        map_put(&calls_of, external->correlation, (uint32_t)external->id);
      }
    }
  }
  pthread_mutex_unlock(&lock);
  free(buffer);
  size_t lost = 0;
  if (cupti.dropped(context, stream, &lost) == 0) atomic_fetch_add(&dropped, lost);
}

static void on_resource(void *data, int domain, uint32_t id, const void *info) {
  (void)data;
  if (domain != DOMAIN_RESOURCE || (id != NODE_CREATED && id != NODE_CLONED)) return;
  const struct graph_data *graph = ((const struct resource_data *)info)->descriptor;
  uint64_t node, original;
  if (graph == NULL || cupti.node_id(graph->node, &node) != 0) return;
  if (id == NODE_CREATED) {
    struct call *call = call_now();
    if (call == NULL) return;
    int entry = call_entry(call);
    if (entry == NO_ENTRY) return;
    pthread_mutex_lock(&node_lock);
    map_put(&nodes, node, (uint32_t)entry | (call->is_captured ? 0 : FIRST));
    pthread_mutex_unlock(&node_lock);
    call->is_captured = true;
    return;
  }
  if (cupti.node_id(graph->original_node, &original) != 0) return;
  uint32_t value;
  pthread_mutex_lock(&node_lock);
  if (map_get(&nodes, original, &value)) map_put(&nodes, node, value);
  pthread_mutex_unlock(&node_lock);
}

/* The library that the program has loaded comes first: a process can have only one. */
static void *open_library(void) {
  static const char *const versions[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
                                         "libcupti.so"};
  enum { VERSIONS = sizeof versions / sizeof *versions };
  for (int i = 0; i < VERSIONS; i++) {
    void *handle = dlopen(versions[i], RTLD_LAZY | RTLD_NOLOAD);
    if (handle != NULL) return handle;
  }
  for (int i = 0; i < VERSIONS; i++) {
    void *handle = dlopen(versions[i], RTLD_LAZY);
    if (handle != NULL) return handle;
  }
  const char *given = getenv("MNKBENCH_CAPTURE_CUPTI");
  return given == NULL || *given == 0 ? NULL : dlopen(given, RTLD_LAZY);
}

static bool fails(const char *what, int code) {
  if (code == 0) return false;
  const char *text = NULL;
  if (cupti.error_text == NULL || cupti.error_text(code, &text) != 0) text = "unknown error";
  snprintf(problem_text, sizeof problem_text, "%s failed: %s", what, text);
  problem = problem_text;
  return true;
}

bool cupti_start(void) {
  void *library = open_library();
  if (library == NULL) {
    problem = "libcupti is not there";
    return false;
  }
  void **functions = (void **)&cupti;
  for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++) {
    functions[i] = real_symbol(library, FUNCTIONS[i]);
    if (functions[i] != NULL) continue;
    snprintf(problem_text, sizeof problem_text, "libcupti has no %s", FUNCTIONS[i]);
    problem = problem_text;
    return false;
  }
  if (fails("cuptiSubscribe", cupti.subscribe(&subscriber, on_resource, NULL))) return false;
  /* A graph may be captured before the window and run in it. */
  if (fails("cuptiEnableCallback",
            cupti.enable_callback(1, subscriber, DOMAIN_RESOURCE, NODE_CREATED)) ||
      fails("cuptiEnableCallback",
            cupti.enable_callback(1, subscriber, DOMAIN_RESOURCE, NODE_CLONED)) ||
      fails("cuptiActivityRegisterCallbacks", cupti.register_callbacks(requested, completed))) {
    return false;
  }
  problem = NULL;
  atomic_store(&works, true);
  return true;
}

bool cupti_works(void) { return atomic_load_explicit(&works, memory_order_relaxed); }

const char *cupti_problem(void) { return problem; }

static const int KINDS[] = {ACTIVITY_EXTERNAL, ACTIVITY_DRIVER, ACTIVITY_RUNTIME, ACTIVITY_KERNEL};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

void cupti_open(void) {
  if (!cupti_works() || atomic_exchange(&is_open, true)) return;
  cupti.timestamp(&opened);
  closed = UINT64_MAX;
  for (int i = 0; i < KIND_COUNT; i++) {
    if (!fails("cuptiActivityEnable", cupti.enable(KINDS[i]))) continue;
    for (int j = 0; j < i; j++) cupti.disable(KINDS[j]);
    atomic_store(&works, false);
    atomic_store(&is_open, false);
    return;
  }
}

void cupti_close(void) {
  if (!atomic_load(&is_open)) return;
  cupti.timestamp(&closed);
}

void cupti_push(uint64_t id) { cupti.push(EXTERNAL_CUSTOM0, id); }

void cupti_pop(void) {
  uint64_t last;
  cupti.pop(EXTERNAL_CUSTOM0, &last);
}

static int by_start(const void *left, const void *right) {
  uint64_t a = ((const struct recent *)left)->start, b = ((const struct recent *)right)->start;
  return (a > b) - (a < b);
}

static void add_name(struct entry *entry, int32_t name) {
  for (int i = 0; i < KERNELS_OF_ENTRY; i++) {
    if (entry->kernels[i] == name + 1) return;
    if (entry->kernels[i] != 0) continue;
    entry->kernels[i] = name + 1;
    return;
  }
}

static bool node_entry(uint64_t node, uint32_t *value) {
  if (node == 0) return false;
  pthread_mutex_lock(&node_lock);
  bool is_known = map_get(&nodes, node, value);
  pthread_mutex_unlock(&node_lock);
  return is_known;
}

static void resolve(const struct recent *kernel) {
  uint64_t time = kernel->end - kernel->start;
  bool is_inside = kernel->start >= opened && kernel->start <= closed;
  uint32_t value;
  if (node_entry(kernel->node, &value)) {
    if (!is_inside) return;
    struct entry *entry = entry_at((int)(value & ~FIRST));
    if (value & FIRST) {
      atomic_fetch_add(&entry->calls, 1);
      atomic_fetch_add(&entry->graph_calls, 1);
    }
    atomic_fetch_add(&entry->time_ns, time);
    add_name(entry, kernel->name);
  } else if (kernel->node == 0 && map_get(&calls_of, kernel->correlation, &value)) {
    struct entry *entry = entry_at((int)value - 1);
    atomic_fetch_add(&entry->time_ns, time);
    add_name(entry, kernel->name);
  } else {
    if (!is_inside) return;
    if (!map_get(&totals_of, (uint64_t)kernel->name + 1, &value)) {
      if (total_count == total_room) {
        total_room = total_room == 0 ? 64 : total_room * 2;
        totals = realloc(totals, total_room * sizeof *totals);
        if (totals == NULL) abort();
      }
      value = (uint32_t)total_count++;
      totals[value] = (struct kernel_total){kernel->name, 0, 0};
      map_put(&totals_of, (uint64_t)kernel->name + 1, value);
    }
    totals[value].calls++;
    totals[value].time_ns += time;
  }
  uint64_t from = kernel->start > busy_until ? kernel->start : busy_until;
  if (kernel->end > from) {
    busy += kernel->end - from;
    busy_until = kernel->end;
  }
  if (kernel->correlation > last_correlation) last_correlation = kernel->correlation;
}

/* Records of a kernel and of its call may come in any order, but not seconds apart. */
static const uint64_t PATIENCE_NS = 2000000000;
enum { MOST_CALLS = 1 << 20 };

void cupti_drain(bool last) {
  if (!atomic_load(&is_open)) return;
  cupti.flush(last ? FLUSH_FORCED : 0);
  uint64_t now = 0;
  cupti.timestamp(&now);
  pthread_mutex_lock(&lock);
  qsort(recents, recent_count, sizeof *recents, by_start);
  size_t done = 0;
  while (done < recent_count && (last || recents[done].end + PATIENCE_NS < now)) {
    resolve(&recents[done++]);
  }
  recent_count -= done;
  memmove(recents, recents + done, recent_count * sizeof *recents);
  /* Most API calls start no kernel. */
  if (calls_of.count > MOST_CALLS && last_correlation > MOST_CALLS / 2) {
    map_grow(&calls_of, last_correlation - MOST_CALLS / 2);
  }
  pthread_mutex_unlock(&lock);
}

/* Ends the recording once the kernels of the window have ended. */
static bool has_ended(size_t *before) {
  cupti.flush(0);
  pthread_mutex_lock(&lock);
  size_t now = recent_count;
  bool is_past = false;
  for (size_t i = 0; i < now && !is_past; i++) is_past = recents[i].start > closed;
  pthread_mutex_unlock(&lock);
  bool ended = is_past || now == *before;
  *before = now;
  return ended;
}

void cupti_settle(void (*wait)(void)) {
  if (!atomic_load(&is_open)) return;
  size_t before = SIZE_MAX;
  for (int i = 0; i < 40 && !has_ended(&before); i++) wait();
}

void cupti_stop(void) {
  if (!atomic_load(&is_open)) return;
  for (int i = KIND_COUNT - 1; i >= 0; i--) cupti.disable(KINDS[i]);
  cupti_drain(true);
  atomic_store(&is_open, false);
}

uint64_t cupti_busy_ns(void) { return busy; }
uint64_t cupti_dropped(void) { return atomic_load(&dropped); }

void kernels_lock(void) { pthread_mutex_lock(&lock); }
void kernels_unlock(void) { pthread_mutex_unlock(&lock); }

void cupti_others(void (*visit)(const struct kernel_total *, void *), void *data) {
  for (size_t i = 0; i < total_count; i++) visit(&totals[i], data);
}

static void map_clear(struct map *map) {
  if (map->slots > 0) memset(map->keys, 0, map->slots * sizeof *map->keys);
  map->count = 0;
}

void cupti_reset(void) {
  pthread_mutex_init(&lock, NULL);
  pthread_mutex_init(&node_lock, NULL);
  /* CUDA does not outlive a fork. */
  if (atomic_load(&works)) problem = "CUDA was started before the fork";
  atomic_store(&works, false);
  atomic_store(&is_open, false);
  map_clear(&calls_of);
  map_clear(&nodes);
  map_clear(&totals_of);
  total_count = recent_count = 0;
  busy = busy_until = 0;
  atomic_store(&dropped, 0);
}
