/* A pool of threads for the C kernels of the CPU, and for the harness's own.
 *
 * run_tasks(threads, tasks, task, job) calls task(job, i) once for each i in [0, tasks) on
 * at most `threads` threads, the caller among them, and returns when all are done. Threads
 * are made on first use and joined when the library is unloaded.
 *
 * A kernel of 20 us cannot pay for waking a sleeping thread (some 50 us), so workers spin
 * for SPIN_MS after a job, longer than a flush of the caches takes, and then sleep. They do
 * not yield: a Linux that makes a yielding thread forfeit its turn (6.18) would have it
 * sit out milliseconds. Tasks are claimed one by one, so that a worker that gets no core
 * in time delays nothing: the caller does its tasks.
 */
#ifndef THREADS_H
#define THREADS_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define MAX_THREADS 256
#define MAX_TASKS 4096
#define SPIN_MS 10

typedef void (*Task)(const void *job, int index);

/* One word, so that no claim can mix two jobs up: from the top the job's number, the
 * threads that take part, its tasks, and those claimed so far; 16 bits each. */
typedef uint64_t Ticket;
#define THREADS_OF(ticket) ((int)((ticket) >> 32 & 0xffff))
#define TASKS_OF(ticket) ((int)((ticket) >> 16 & 0xffff))
#define CLAIMED_OF(ticket) ((int)((ticket) & 0xffff))

static struct {
  Task task;
  const void *job; /* these two change only when all tasks are done */
  pthread_t threads[MAX_THREADS];
  int workers; /* besides the caller */
} pool;

static _Alignas(64) _Atomic Ticket ticket;
static _Alignas(64) atomic_int done; /* tasks of the job */
static _Alignas(64) atomic_int asleep;
static atomic_int stopping;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;

static inline void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Does tasks until none is left to claim; returns the ticket that said so. */
static Ticket help(int self) {
  Ticket seen = atomic_load(&ticket);
  while (self < THREADS_OF(seen) && CLAIMED_OF(seen) < TASKS_OF(seen)) {
    if (!atomic_compare_exchange_weak(&ticket, &seen, seen + 1)) continue;
    pool.task(pool.job, CLAIMED_OF(seen));
    atomic_fetch_add(&done, 1);
    seen = atomic_load(&ticket);
  }
  return seen;
}

/* Returns when there is another ticket than `seen`, or an end. */
static void await_ticket(Ticket seen) {
  double start = now_ms();
  for (int spins = 1; atomic_load(&ticket) == seen && !atomic_load(&stopping); spins++) {
    relax();
    if (spins % 256 || now_ms() - start < SPIN_MS) continue;
    pthread_mutex_lock(&lock);
    atomic_fetch_add(&asleep, 1);
    while (atomic_load(&ticket) == seen && !atomic_load(&stopping))
      pthread_cond_wait(&wake, &lock);
    atomic_fetch_sub(&asleep, 1);
    pthread_mutex_unlock(&lock);
  }
}

/* `arg`: the thread's position; the caller of run_tasks has position 0. */
static void *work(void *arg) {
  while (!atomic_load(&stopping)) await_ticket(help((int)(intptr_t)arg));
  return NULL;
}

static void wake_sleepers(void) {
  if (!atomic_load(&asleep) && !atomic_load(&stopping)) return;
  pthread_mutex_lock(&lock);
  pthread_cond_broadcast(&wake);
  pthread_mutex_unlock(&lock);
}

static void run_tasks(int threads, int tasks, Task task, const void *job) {
  if (tasks > MAX_TASKS) abort(); /* a mistake of the kernel's author */
  if (threads > tasks) threads = tasks;
  if (threads > MAX_THREADS) threads = MAX_THREADS;
  while (pool.workers < threads - 1) {
    void *position = (void *)(intptr_t)(pool.workers + 1);
    /* Fewer threads than wanted still do all tasks. */
    if (pthread_create(&pool.threads[pool.workers], NULL, work, position)) break;
    pool.workers++;
  }
  pool.task = task;
  pool.job = job;
  atomic_store(&done, 0);
  Ticket number = (atomic_load(&ticket) >> 48) + 1;
  atomic_store(&ticket, number << 48 | (Ticket)threads << 32 | (Ticket)tasks << 16);
  if (threads > 1) wake_sleepers();
  help(0);
  for (int spins = 1; atomic_load(&done) < tasks; spins++) {
    relax();
    if (spins % 1024 == 0) sched_yield();
  }
}

/* Threads must not outlive the code that they run. */
__attribute__((destructor)) static void join_workers(void) {
  atomic_store(&stopping, 1);
  wake_sleepers();
  for (int i = 0; i < pool.workers; i++) pthread_join(pool.threads[i], NULL);
}

#endif
