/* Keeps GEMMs, each once. Reading takes no lock. */
#include <pthread.h>
#include <string.h>

#include "recorder.h"

enum { SLOTS = ENTRIES * 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry entries[ENTRIES];
static atomic_int slots[SLOTS];       /* Index + 1. */
static atomic_int count;

static uint64_t hash_of(const struct gemm *gemm) {
  uint64_t words[sizeof *gemm / 8];
  memcpy(words, gemm, sizeof words);
  uint64_t hash = 0;
  for (size_t i = 0; i < sizeof words / 8; i++) {
    hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

static int find(const struct gemm *gemm, uint64_t hash, uint64_t *slot) {
  for (*slot = hash % SLOTS;; *slot = (*slot + 1) % SLOTS) {
    int index = atomic_load_explicit(&slots[*slot], memory_order_acquire) - 1;
    if (index < 0) return NO_ENTRY;
    const struct entry *entry = &entries[index];
    if (entry->hash == hash && memcmp(&entry->gemm, gemm, sizeof *gemm) == 0) return index;
  }
}

_Static_assert(sizeof(struct gemm) % 8 == 0, "GEMMs are compared and hashed as words");

int entry_of(const struct gemm *gemm) {
  uint64_t slot, hash = hash_of(gemm);
  int index = find(gemm, hash, &slot);
  if (index != NO_ENTRY) return index;
  pthread_mutex_lock(&lock);
  index = find(gemm, hash, &slot);
  int size = atomic_load(&count);
  if (index == NO_ENTRY && size < ENTRIES) {
    index = size;
    entries[index].gemm = *gemm;
    entries[index].hash = hash;
    atomic_store(&count, size + 1);
    atomic_store_explicit(&slots[slot], index + 1, memory_order_release);
  }
  pthread_mutex_unlock(&lock);
  return index;
}

struct entry *entry_at(int index) { return &entries[index]; }

int entry_count(void) { return atomic_load(&count); }

void entries_reset(void) {
  pthread_mutex_init(&lock, NULL);
  int size = atomic_load(&count);
  memset(slots, 0, sizeof slots);
  memset(entries, 0, sizeof *entries * size);
  atomic_store(&count, 0);
}
