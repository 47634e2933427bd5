/* Follows the calls of each thread. */
#include <string.h>

#include "recorder.h"

static __thread struct call *current;
static __thread int phase;

struct call *call_now(void) { return current; }

/* A range of the program's own comes before what the Python module tells. */
static int phase_now(void) {
  int range = nvtx_phase();
  return range != 0 ? range : phase;
}

int call_entry(struct call *call) {
  if (call->entry != NO_ENTRY) return call->entry;
  if (call->gemm == NULL) {
    memset(&call->lazy, 0, sizeof call->lazy);
    call->fill(&call->lazy, call->arguments);
    call->lazy.phase = call->phase;
    call->gemm = &call->lazy;
  }
  /* An empty product starts no kernel. */
  const struct gemm *gemm = call->gemm;
  if (gemm->m < 1 || gemm->n < 1 || gemm->k < 1 || gemm->batch < 1) return NO_ENTRY;
  call->entry = entry_of(gemm);
  return call->entry;
}

static void begin(struct call *call, void *stream) {
  call->outer = current;
  call->entry = NO_ENTRY;
  call->phase = phase_now();
  call->is_counted = call->is_pushed = call->is_captured = call->has_inner = false;
  call->event = 0;
  if (call->outer != NULL) call->outer->has_inner = true;
  current = call;
  int state = atomic_load_explicit(&window_state, memory_order_acquire);
  if (__builtin_expect(state == WINDOW_BEFORE, 0)) {
    window_first_call();
    state = atomic_load_explicit(&window_state, memory_order_acquire);
  }
  if (state != WINDOW_OPEN) return;
  int entry = call_entry(call);
  if (entry == NO_ENTRY) return;
  call->is_counted = true;
  window_call();
  if (cupti_works()) {
    call->is_pushed = true;
    cupti_push((uint64_t)entry + 1);
  } else if (call->fill == NULL) {
    /* The stream of PyTorch is not known, and events on another would disturb it. */
  } else if (stream_captures(stream)) call->is_captured = true;
  else call->event = events_begin(stream);
}

void call_begin(struct call *call, void (*fill)(struct gemm *, const void *), const void *arguments,
                void *stream) {
  call->gemm = NULL;
  call->fill = fill;
  call->arguments = arguments;
  /* cuBLAS calls its own functions: the outer call is the program's. */
  if (current != NULL && current->fill != NULL) {
    call->fill = NULL;
    return;
  }
  begin(call, stream);
}

void call_end(struct call *call, int status, void *stream) {
  if (call->gemm == NULL && call->fill == NULL) return;
  current = call->outer;
  if (call->is_pushed) cupti_pop();
  if (!call->is_counted) return;
  if (call->event != 0) events_end(call->event, call->entry, stream);
  bool is_inner_only = call->fill == NULL && call->has_inner;
  if (status == 0 && !call->is_captured && !is_inner_only) {
    atomic_fetch_add_explicit(&entry_at(call->entry)->calls, 1, memory_order_relaxed);
  }
}

/* For the Python module: calls of PyTorch that do not reach cuBLAS. A thread's calls are nested. */
enum { DEPTH = 16 };
static __thread struct call calls[DEPTH];
static __thread struct gemm gemms[DEPTH];
static __thread int depth;

EXPORT void mnkbench_capture_begin(const struct gemm *gemm, const char *name) {
  int at = depth++;
  if (at >= DEPTH) return;
  gemms[at] = *gemm;
  if (gemm->library != LIBRARY_TRITON) gemms[at].library = LIBRARY_TORCH;
  gemms[at].function = name_of(name);
  gemms[at].phase = phase_now();
  calls[at].gemm = &gemms[at];
  calls[at].fill = NULL;
  calls[at].arguments = NULL;
  begin(&calls[at], NULL);
}

EXPORT void mnkbench_capture_end(int failed) {
  if (depth > 0 && --depth < DEPTH) call_end(&calls[depth], failed, NULL);
}

EXPORT void mnkbench_capture_phase(const char *name) { phase = name_of(name); }
