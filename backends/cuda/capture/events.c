/* Times of calls by pairs of CUDA events, where CUPTI is not there. */
#include <pthread.h>
#include <string.h>

#include "recorder.h"

enum { PAIRS = 4096 };

static struct {
  int (*create)(void **, unsigned);
  int (*record)(void *, void *);
  int (*query)(void *);
  int (*elapsed)(float *, void *, void *);
  int (*capturing)(void *, int *);
} driver;

struct pair {
  void *start, *end;
  int entry;
  atomic_int state;
};
enum { FREE, STARTED, ENDED };

static struct pair pairs[PAIRS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool works;
static atomic_uint next;

bool events_open(void) {
  driver.create = (int (*)(void **, unsigned))driver_function("cuEventCreate");
  driver.record = (int (*)(void *, void *))driver_function("cuEventRecord");
  driver.query = (int (*)(void *))driver_function("cuEventQuery");
  driver.elapsed = (int (*)(float *, void *, void *))driver_function("cuEventElapsedTime_v2");
  if (driver.elapsed == NULL) {
    driver.elapsed = (int (*)(float *, void *, void *))driver_function("cuEventElapsedTime");
  }
  driver.capturing = (int (*)(void *, int *))driver_function("cuStreamIsCapturing");
  atomic_store(&works, driver.create && driver.record && driver.query && driver.elapsed &&
                           driver.capturing);
  return atomic_load(&works);
}

bool events_work(void) { return atomic_load(&works); }

bool stream_captures(void *stream) {
  int state = 0;
  return atomic_load(&works) && driver.capturing(stream, &state) == 0 && state != 0;
}

/* Adds the time of a pair whose events are over, and frees it. */
static bool take(struct pair *pair) {
  int ended = ENDED;
  if (driver.query(pair->end) != 0) return false;
  if (!atomic_compare_exchange_strong(&pair->state, &ended, STARTED)) return false;
  float ms = 0;
  if (driver.elapsed(&ms, pair->start, pair->end) == 0 && ms > 0) {
    atomic_fetch_add(&entry_at(pair->entry)->time_ns, (uint64_t)(ms * 1e6));
  }
  atomic_store(&pair->state, FREE);
  return true;
}

uint64_t events_begin(void *stream) {
  if (!atomic_load(&works)) return 0;
  /* The oldest pairs come first, and their events are over. */
  for (int tried = 0; tried < 64; tried++) {
    unsigned at = atomic_fetch_add(&next, 1) % PAIRS;
    struct pair *pair = &pairs[at];
    if (atomic_load(&pair->state) == ENDED) take(pair);
    int is_free = FREE;
    if (!atomic_compare_exchange_strong(&pair->state, &is_free, STARTED)) continue;
    bool is_made = pair->start != NULL ||
                   (driver.create(&pair->start, 0) == 0 && driver.create(&pair->end, 0) == 0);
    if (is_made && driver.record(pair->start, stream) == 0) return at + 1;
    atomic_store(&pair->state, FREE);
    return 0;
  }
  return 0;
}

void events_end(uint64_t event, int entry, void *stream) {
  struct pair *pair = &pairs[event - 1];
  pair->entry = entry;
  bool is_recorded = driver.record(pair->end, stream) == 0;
  atomic_store(&pair->state, is_recorded ? ENDED : FREE);
}

void events_drain(bool last) {
  (void)last;
  if (!atomic_load(&works)) return;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < PAIRS; i++) {
    if (atomic_load(&pairs[i].state) == ENDED) take(&pairs[i]);
  }
  pthread_mutex_unlock(&lock);
}

void events_reset(void) {
  pthread_mutex_init(&lock, NULL);
  memset(pairs, 0, sizeof pairs);
  atomic_store(&works, false);
}
