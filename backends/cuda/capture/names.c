/* Keeps texts, each once, and numbers them. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "recorder.h"

enum { NAMES = 1 << 15, SLOTS = NAMES * 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(char *) texts[NAMES] = {(char *)""};
static int32_t slots[SLOTS];
static int count = 1;

static uint64_t hash_of(const char *text) {
  uint64_t hash = 14695981039346656037u;
  for (; *text != 0; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211u;
  return hash;
}

int name_of(const char *text) {
  if (text == NULL || *text == 0) return 0;
  pthread_mutex_lock(&lock);
  uint64_t slot = hash_of(text) % SLOTS;
  while (slots[slot] != 0 && strcmp(texts[slots[slot]], text) != 0) slot = (slot + 1) % SLOTS;
  int index = slots[slot];
  if (index == 0 && count < NAMES) {
    char *copy = strdup(text);
    if (copy != NULL) {
      index = count++;
      atomic_store_explicit(&texts[index], copy, memory_order_release);
      slots[slot] = index;
    }
  }
  pthread_mutex_unlock(&lock);
  return index;
}

const char *name_at(int index) {
  return atomic_load_explicit(&texts[index], memory_order_acquire);
}

void names_after_fork(void) {
  /* Another thread of the parent may have held it: its last text is then lost, no more. */
  pthread_mutex_init(&lock, NULL);
}
