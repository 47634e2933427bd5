/* The harness's own kernels on the CPU. instruments.cu has the same entries with the same
 * parameters. */
#define _GNU_SOURCE
#include "../../kernels/common/threads.h"
#include "fence.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Call overhead: the timer's floor. */
void empty(void) {}

/* Keeps the core at its clock. Eight chains of dependent multiply-adds hide each other's
 * latency. They converge to 1, so the store never happens, which the compiler cannot know. */
void filler(float *sink, int iterations) {
  float x[8];
  for (int i = 0; i < 8; i++) x[i] = 1.0f + (float)i;
  for (int n = 0; n < iterations; n++)
    for (int i = 0; i < 8; i++) x[i] = x[i] * 0.5f + 0.5f;
  float sum = 0;
  for (int i = 0; i < 8; i++) sum += x[i];
  if (sum < 0) *sink = sum;
}

/* Makes the loads count: one fold in 2^64 is stored, so the compiler cannot drop any. */
static void keep(uint64_t folded, float *sink) {
  if (folded == 0x9e3779b97f4a7c15u) *sink = (float)folded;
}

static uint64_t fold(const char *p, long long bytes) {
  uint64_t lanes[32] = {0}, folded = 0;
  long long at = 0;
  for (; at + (long long)sizeof lanes <= bytes; at += sizeof lanes) {
    uint64_t v[32];
    memcpy(v, p + at, sizeof v);
    __builtin_prefetch(p + at + 2048);
    __builtin_prefetch(p + at + 2112);
    __builtin_prefetch(p + at + 2176);
    __builtin_prefetch(p + at + 2240);
    for (int i = 0; i < 32; i++) lanes[i] ^= v[i];
  }
  for (; at < bytes; at++) folded ^= (uint8_t)p[at];
  for (int i = 0; i < 32; i++) folded ^= lanes[i];
  return folded;
}

/* Reads `bytes` from `p` and writes nothing: evicts clean lines only. */
void read_flush(const void *p, long long bytes, float *sink) { keep(fold(p, bytes), sink); }

typedef struct {
  const char *p;
  long long bytes;
  long long share;
  uint64_t *folded;
} Load;

static void load_share(const void *arg, int index) {
  const Load *load = arg;
  long long start = index * load->share;
  long long rest = load->bytes - start;
  if (rest > load->share) rest = load->share;
  load->folded[index * 8] = rest > 0 ? fold(load->p + start, rest) : 0;
}

/* The least time that a kernel which needs `bytes` can take: every core reads its share. */
void load_only(const void *p, long long bytes, float *sink) {
  static uint64_t folded[MAX_THREADS * 8]; /* a cache line each */
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int threads = cores < 1 ? 1 : cores < MAX_THREADS ? (int)cores : MAX_THREADS;
  Load load = {p, bytes, (bytes / threads + 63) / 64 * 64, folded};
  run_tasks(threads, threads, load_share, &load);
  uint64_t all = 0;
  for (int i = 0; i < threads; i++) all ^= folded[i * 8];
  keep(all, sink);
}
