/* When is recorded, and the file of what was: one of each process, in a folder that the variable
 * MNKBENCH_CAPTURE_DIR names. Without the variable nothing is recorded. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "recorder.h"

void names_after_fork(void);
void cupti_settle(void (*wait)(void));
void cupti_stop(void);

atomic_int window_state = WINDOW_CLOSED;

static char folder[4096];
/* The NVTX range that is the window; empty without one. */
static char window_range[256];
static double warmup_s, seconds;
static pid_t own_pid;
static uint64_t process_start, opened, closed;
static atomic_bool is_started, has_cuda, is_finished;
static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;
static char device[256];
static atomic_bool has_device;
static atomic_ulong steps;
static int device_major, device_minor;

uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void sleep_ns(uint64_t ns) {
  struct timespec left = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}

static void short_wait(void) { sleep_ns(50000000); }

/* Leaves an empty file that says how far this process came. */
static void mark(const char *name) {
  char path[sizeof folder + 64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
}

static void put_text(FILE *file, const char *text) {
  fputc('"', file);
  for (; *text != 0; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') fprintf(file, "\\%c", c);
    else if (c < 0x20 || c >= 0x7f) fprintf(file, "\\u%04x", c);
    else fputc(c, file);
  }
  fputc('"', file);
}

/* Writes the name of a kernel as it is in the source, where the program has C++ loaded. */
static void put_kernel(FILE *file, const char *name) {
  static _Atomic(void *) known;
  char *(*demangle)(const char *, char *, size_t *, int *) = NULL;
  if (strncmp(name, "_Z", 2) == 0) {
    demangle = (char *(*)(const char *, char *, size_t *, int *))real_function("__cxa_demangle",
                                                                              &known);
  }
  int status = -1;
  char *text = demangle == NULL ? NULL : demangle(name, NULL, NULL, &status);
  put_text(file, text != NULL && status == 0 ? text : name);
  free(text);
}

static void put_entry(FILE *file, const struct entry *entry, const char *comma) {
  const struct gemm *gemm = &entry->gemm;
  static const char *const libraries[] = {"cublas", "cublaslt", "torch", "triton"};
  fprintf(file, "%s\n{\"source\":\"%s\",\"name\":", comma, libraries[gemm->library]);
  put_text(file, name_at(gemm->function));
  fprintf(file, ",\"m\":%lld,\"n\":%lld,\"k\":%lld,\"batch\":%lld", (long long)gemm->m,
          (long long)gemm->n, (long long)gemm->k, (long long)gemm->batch);
  fprintf(file, ",\"lda\":%lld,\"ldb\":%lld,\"ldc\":%lld", (long long)gemm->lda,
          (long long)gemm->ldb, (long long)gemm->ldc);
  fprintf(file, ",\"a\":%d,\"b\":%d,\"c\":%d,\"compute\":%d", gemm->type_a, gemm->type_b,
          gemm->type_c, gemm->compute);
  fprintf(file, ",\"layout\":\"%c%c\",\"epilogue\":%d", gemm->column_a ? 't' : 'n',
          gemm->column_b ? 't' : 'n', gemm->epilogue);
  fprintf(file, ",\"scale_a\":%d,\"scale_b\":%d,\"beta\":%d,\"groups\":%d", gemm->scale_a,
          gemm->scale_b, gemm->beta, gemm->groups);
  fprintf(file, ",\"phase\":");
  put_text(file, gemm->phase == 0 ? "all" : name_at(gemm->phase));
  fprintf(file, ",\"calls\":%lu,\"graph_calls\":%lu,\"time_ns\":%lu,\"kernels\":[",
          atomic_load(&entry->calls), atomic_load(&entry->graph_calls),
          atomic_load(&entry->time_ns));
  for (int i = 0; i < KERNELS_OF_ENTRY && entry->kernels[i] != 0; i++) {
    if (i > 0) fputc(',', file);
    put_kernel(file, name_at(entry->kernels[i] - 1));
  }
  fprintf(file, "]}");
}

struct output {
  FILE *file;
  const char *comma;
};

static void put_other(const struct kernel_total *total, void *data) {
  struct output *output = data;
  fprintf(output->file, "%s\n{\"name\":", output->comma);
  put_kernel(output->file, name_at(total->name));
  fprintf(output->file, ",\"calls\":%llu,\"time_ns\":%llu}", (unsigned long long)total->calls,
          (unsigned long long)total->time_ns);
  output->comma = ",";
}

static void put_all(FILE *file, bool is_done) {
  uint64_t end = closed != 0 ? closed : now_ns();
  const char *clock = cupti_works() ? "cupti" : events_work() ? "events" : "none";
  fprintf(file, "{\"pid\":%d,\"done\":%s,\"clock\":\"%s\",\"cupti\":", (int)own_pid,
          is_done ? "true" : "false", clock);
  put_text(file, cupti_problem() == NULL ? "" : cupti_problem());
  fprintf(file, ",\"device\":");
  put_text(file, device);
  fprintf(file, ",\"major\":%d,\"minor\":%d,\"steps\":%lu", device_major, device_minor,
          atomic_load(&steps));
  fprintf(file, ",\"window_ns\":%llu,\"wall_ns\":%llu", (unsigned long long)(end - opened),
          (unsigned long long)(now_ns() - process_start));
  kernels_lock();
  fprintf(file, ",\"busy_ns\":%llu,\"dropped\":%llu,\"full\":%s",
          (unsigned long long)cupti_busy_ns(), (unsigned long long)cupti_dropped(),
          entry_count() == ENTRIES ? "true" : "false");
  fprintf(file, ",\"gemms\":[");
  struct output output = {file, ""};
  for (int i = 0; i < entry_count(); i++) {
    const struct entry *entry = entry_at(i);
    if (atomic_load(&entry->calls) == 0 && atomic_load(&entry->time_ns) == 0) continue;
    put_entry(file, entry, output.comma);
    output.comma = ",";
  }
  output.comma = "";
  fprintf(file, "],\"other\":[");
  cupti_others(put_other, &output);
  kernels_unlock();
  fprintf(file, "]}\n");
}

/* Replaces the file of this process: a reader finds a whole one at any time. */
static void write_file(bool is_done) {
  char path[sizeof folder + 64], next[sizeof folder + 80];
  snprintf(path, sizeof path, "%s/%d-%llu.json", folder, (int)own_pid,
           (unsigned long long)process_start);
  snprintf(next, sizeof next, "%s.next", path);
  FILE *file = fopen(next, "we");
  if (file == NULL) return;
  put_all(file, is_done);
  bool is_whole = ferror(file) == 0;
  if (fclose(file) == 0 && is_whole) rename(next, path);
  else unlink(next);
}

static void open_window(void) {
  if (!cupti_works()) events_open();
  cupti_open();
  opened = now_ns();
  atomic_store_explicit(&window_state, WINDOW_OPEN, memory_order_release);
}

static void close_window(bool is_exit) {
  int open = WINDOW_OPEN;
  if (!atomic_compare_exchange_strong(&window_state, &open, WINDOW_CLOSED)) return;
  closed = now_ns();
  cupti_close();
  /* At the end of the program all that it waited for is over. */
  if (!is_exit) cupti_settle(short_wait);
  cupti_stop();
  if (!is_exit) short_wait();
  events_drain(true);
}

enum { MOST_PAUSE_NS = 800000000 };

static void *run(void *is_open) {
  if (is_open == NULL) {
    sleep_ns((uint64_t)(warmup_s * 1e9));
    pthread_mutex_lock(&file_lock);
    if (!atomic_load(&is_finished)) open_window();
    pthread_mutex_unlock(&file_lock);
  }
  uint64_t end = seconds > 0 ? opened + (uint64_t)(seconds * 1e9) : UINT64_MAX;
  /* A program that a signal ends leaves what was written last. */
  for (uint64_t pause = 50000000; !atomic_load(&is_finished); pause *= pause < MOST_PAUSE_NS ? 2 : 1) {
    uint64_t now = now_ns(), left = end > now ? end - now : 0;
    sleep_ns(left < pause ? left : pause);
    pthread_mutex_lock(&file_lock);
    bool is_last = now_ns() >= end;
    if (!atomic_load(&is_finished)) {
      if (is_last) close_window(false);
      cupti_drain(is_last);
      events_drain(is_last);
      write_file(is_last);
      if (is_last) atomic_store(&is_finished, true);
    }
    pthread_mutex_unlock(&file_lock);
    if (is_last) break;
  }
  return NULL;
}

/* Opens the window, now or after the warm-up; once. Returns whether it did. */
static bool start(bool is_now) {
  if (atomic_load(&is_started) || atomic_exchange(&is_started, true)) return false;
  if (is_now) open_window();
  /* The program's signals are not for this thread. */
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (pthread_create(&thread, &attributes, run, is_now ? &window_state : NULL) != 0) {
    mark("no-thread");
  }
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return true;
}

void window_first_call(void) {
  if (window_range[0] == 0) start(warmup_s <= 0);
}

bool window_begins(const char *name) {
  if (window_range[0] == 0 || strncmp(name, window_range, sizeof window_range - 1) != 0) return false;
  return start(true);
}

void window_ends(void) {
  pthread_mutex_lock(&file_lock);
  if (atomic_load(&window_state) == WINDOW_OPEN && !atomic_load(&is_finished)) {
    close_window(false);
    write_file(true);
    atomic_store(&is_finished, true);
  }
  pthread_mutex_unlock(&file_lock);
}

/* The window may be opened within cuInit(), where the driver cannot be asked. */
void window_call(void) {
  if (atomic_load_explicit(&has_device, memory_order_relaxed) ||
      atomic_exchange(&has_device, true)) {
    return;
  }
  device_of_thread(device, sizeof device, &device_major, &device_minor);
}

/* For the Python module: a step of the program has ended. */
EXPORT void mnkbench_capture_step(void) {
  if (atomic_load(&window_state) == WINDOW_OPEN) atomic_fetch_add(&steps, 1);
}

/* At the end of the program. */
static void finish(void) {
  /* After vfork() the memory is the parent's. */
  if (own_pid != getpid() || folder[0] == 0) return;
  pthread_mutex_lock(&file_lock);
  bool is_recorded = atomic_load(&is_started) && !atomic_exchange(&is_finished, true) &&
                     atomic_load(&window_state) == WINDOW_OPEN;
  if (is_recorded) {
    close_window(true);
    write_file(true);
  }
  pthread_mutex_unlock(&file_lock);
}

/* Before another program takes the place of this one, or might. */
static void save(void) {
  if (own_pid != getpid() || atomic_load(&window_state) != WINDOW_OPEN) return;
  pthread_mutex_lock(&file_lock);
  cupti_drain(true);
  events_drain(true);
  write_file(true);
  pthread_mutex_unlock(&file_lock);
}

static double number_in(const char *name) {
  const char *text = getenv(name);
  return text == NULL ? 0 : strtod(text, NULL);
}

static void after_fork(void) {
  own_pid = getpid();
  process_start = now_ns();
  pthread_mutex_init(&file_lock, NULL);
  names_after_fork();
  entries_reset();
  cupti_reset();
  events_reset();
  atomic_store(&is_started, false);
  atomic_store(&is_finished, false);
  atomic_store(&has_device, false);
  atomic_store(&steps, 0);
  opened = closed = 0;
  if (folder[0] != 0) atomic_store(&window_state, WINDOW_BEFORE);
}

__attribute__((constructor)) static void load(void) {
  const char *given = getenv("MNKBENCH_CAPTURE_DIR");
  if (given == NULL || *given == 0 || strlen(given) >= sizeof folder) return;
  strcpy(folder, given);
  own_pid = getpid();
  process_start = now_ns();
  warmup_s = number_in("MNKBENCH_CAPTURE_WARMUP");
  seconds = number_in("MNKBENCH_CAPTURE_SECONDS");
  const char *range = getenv("MNKBENCH_CAPTURE_RANGE");
  if (range != NULL) snprintf(window_range, sizeof window_range, "%s", range);
  pthread_atfork(NULL, NULL, after_fork);
  atexit(finish);
  atomic_store(&window_state, WINDOW_BEFORE);
  mark("loaded");
}

/* The driver calls it in cuInit(), as CUDA_INJECTION64_PATH says. */
EXPORT int InitializeInjection(void) {
  if (folder[0] == 0 || atomic_exchange(&has_cuda, true)) return 1;
  mark("cuda");
  cupti_start();
  /* Handlers run in reverse: this one comes before the driver's own. */
  atexit(finish);
  if (warmup_s <= 0) window_first_call();
  /* A call came before CUDA. */
  if (atomic_load(&window_state) == WINDOW_OPEN) cupti_open();
  return 1;
}

/* Programs that end without handlers, as forked ones do, and that become others. */
EXPORT __attribute__((noreturn)) void _exit(int code) {
  finish();
  for (;;) syscall(SYS_exit_group, code);
}

EXPORT __attribute__((noreturn)) void _Exit(int code) { _exit(code); }

#define REPLACED_EXEC(NAME, PARAMETERS, ...)                                                      \
  EXPORT int NAME PARAMETERS {                                                                    \
    static _Atomic(void *) known;                                                                 \
    int(*real) PARAMETERS = (int(*) PARAMETERS)real_function(#NAME, &known);                      \
    save();                                                                                       \
    return real(__VA_ARGS__);                                                                     \
  }

REPLACED_EXEC(execv, (const char *path, char *const argv[]), path, argv)
REPLACED_EXEC(execvp, (const char *file, char *const argv[]), file, argv)
REPLACED_EXEC(execve, (const char *path, char *const argv[], char *const envp[]), path, argv, envp)
REPLACED_EXEC(execvpe, (const char *file, char *const argv[], char *const envp[]), file, argv, envp)
