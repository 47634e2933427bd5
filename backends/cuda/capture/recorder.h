/* What the files of the recorder share. It is loaded into programs by LD_PRELOAD, so all of its
 * names but those that it replaces are hidden, and it needs no header of CUDA. */
#ifndef RECORDER_H
#define RECORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

enum { LIBRARY_CUBLAS, LIBRARY_CUBLASLT, LIBRARY_TORCH, LIBRARY_TRITON };

/* A GEMM as it was called, row-major: C[m,n] = A[m,k] B[k,n]. Types and modes are cuBLAS's numbers.
 * Two calls with the same bytes are the same GEMM; there is no padding between the members. */
struct gemm {
  int64_t m, n, k, batch, lda, ldb, ldc;
  int32_t library, function;          /* `function` is an index of names, see names.c. */
  int32_t type_a, type_b, type_c, compute;
  int32_t column_a, column_b;         /* Whether A and B are stored by columns. */
  int32_t epilogue;
  int32_t scale_a, scale_b;           /* -1 without a scale. */
  int32_t beta;                       /* 0, 1, or -1 where it is in device memory. */
  int32_t groups;                     /* Shapes of one call, of which this is the largest. */
  int32_t phase;                      /* An index of names. */
};

enum { KERNELS_OF_ENTRY = 8 };

/* A GEMM and what was counted of it. */
struct entry {
  struct gemm gemm;
  uint64_t hash;
  atomic_ulong calls, graph_calls, time_ns;
  /* Names of its kernels, + 1; under the lock of activities. */
  int32_t kernels[KERNELS_OF_ENTRY];
};

/* table.c: GEMMs, each once. */
enum { NO_ENTRY = -1, ENTRIES = 1 << 16 };
int entry_of(const struct gemm *gemm); /* NO_ENTRY where the table is full. */
struct entry *entry_at(int index);
int entry_count(void);
void entries_reset(void);

/* names.c: texts, each once. The text of 0 is empty. */
int name_of(const char *text);
const char *name_at(int index);

/* lookup.c: the functions that are replaced. */
void *real_function(const char *name, _Atomic(void *) *known);
void *real_symbol(void *handle, const char *name);
/* blas.c: the replacement of the function `name`, and where its real one is kept; or NULL. */
void *replacement_of(const char *name, _Atomic(void *) **known);

/* calls.c: the call that this thread is in. */
struct call {
  const struct gemm *gemm;            /* NULL outside of calls, and in calls of replaced functions. */
  void (*fill)(struct gemm *, const void *); /* Fills `lazy` when it is needed. */
  const void *arguments;
  struct gemm lazy;
  int entry;                          /* NO_ENTRY until it is needed. */
  int phase;                          /* Where it began: libraries have ranges too. */
  bool is_counted, is_pushed, is_captured, has_inner;
  uint64_t event;
  struct call *outer;
};
void call_begin(struct call *call, void (*fill)(struct gemm *, const void *), const void *arguments,
                void *stream);
void call_end(struct call *call, int status, void *stream);
struct call *call_now(void);
int call_entry(struct call *call);

/* nvtx.c: the outermost range of this thread, an index of names; 0 outside of ranges. */
int nvtx_phase(void);

/* window.c: when is recorded, and the file. */
enum { WINDOW_BEFORE, WINDOW_OPEN, WINDOW_CLOSED };
extern atomic_int window_state;
void window_first_call(void);
/* A range of the program begins: returns whether it is the window, which then ends with it. */
bool window_begins(const char *range);
void window_ends(void);
void window_call(void);               /* A call in the window, on a thread that uses the device. */
uint64_t now_ns(void);

/* cupti.c: times of kernels. */
struct kernel_total {
  int32_t name;
  uint64_t calls, time_ns;
};
bool cupti_start(void);               /* Once, at the start of CUDA. */
const char *cupti_problem(void);      /* Why it does not work; NULL where it does. */
bool cupti_works(void);
void cupti_open(void);
void cupti_close(void);
void cupti_drain(bool last);
void cupti_push(uint64_t id);
void cupti_pop(void);
void cupti_reset(void);
uint64_t cupti_busy_ns(void);
uint64_t cupti_dropped(void);
/* Visits the kernels of no call, under the lock of activities. */
void cupti_others(void (*visit)(const struct kernel_total *, void *), void *data);
void kernels_lock(void);
void kernels_unlock(void);

/* events.c: times of calls where CUPTI is not there. */
bool events_open(void);
uint64_t events_begin(void *stream);
void events_end(uint64_t event, int entry, void *stream);
void events_drain(bool last);
bool events_work(void);
void events_reset(void);
bool stream_captures(void *stream);

/* driver.c: functions of the CUDA driver that is loaded. */
void *driver_function(const char *name);
bool device_of_thread(char *name, int size, int *major, int *minor);

#endif
