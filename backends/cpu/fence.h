/* Memory between pages that nothing may touch, for instruments.c. An access outside of it, or a write
 * to memory that is sealed, is noted and then let through, so that the process lives to tell. */
#if defined(__linux__)
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { MOST_FENCES = 64 };
/* Bytes on either side. They take no memory. */
static const long BEYOND = 64l << 20;
/* What operands are aligned to: so many bytes less one after the end are not seen. */
static const long END_ALIGNMENT = 64;

typedef struct {
  char *from, *to; /* all that is reserved */
  char *data;
  long bytes;
  int seen;  /* 1 once it was read, 2 where it was written first */
  long at;   /* where, from its data on */
} Fenced;

static Fenced fences[MOST_FENCES];
static struct sigaction before_fences;

static int is_write(const void *context) {
#if defined(__x86_64__)
  return ((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] >> 1 & 1;
#else
  (void)context;
  return 0;
#endif
}

static void on_fence(int number, siginfo_t *info, void *context) {
  char *at = info->si_addr;
  const long page = sysconf(_SC_PAGESIZE);
  for (Fenced *f = fences; f < fences + MOST_FENCES; f++) {
    if (at < f->from || at >= f->to) continue;
    if (!f->seen) {
      f->at = at - f->data;
      /* What is inside can be read: it is sealed. */
      f->seen = is_write(context) || (f->at >= 0 && f->at < f->bytes) ? 2 : 1;
    }
    mprotect((void *)((uintptr_t)at / page * page), page, PROT_READ | PROT_WRITE);
    return;
  }
  /* Not ours: the same access again, for whoever was there before. */
  sigaction(number, &before_fences, NULL);
}

/* Begins to look. */
void fence_begin(void) {
  struct sigaction action = {.sa_sigaction = on_fence, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaction(SIGSEGV, &action, &before_fences);
}
void fence_end(void) { sigaction(SIGSEGV, &before_fences, NULL); }

/* Memory of `bytes` zeros whose end is that of a page. NULL where there is no room. */
void *fence_alloc(long bytes) {
  const long page = sysconf(_SC_PAGESIZE);
  const long used = (bytes + END_ALIGNMENT - 1) / END_ALIGNMENT * END_ALIGNMENT;
  const long room = (used + page - 1) / page * page;
  Fenced *f = fences;
  while (f < fences + MOST_FENCES && f->from) f++;
  if (f == fences + MOST_FENCES) return NULL;
  char *from = mmap(NULL, room + 2 * BEYOND, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (from == MAP_FAILED) return NULL;
  if (mprotect(from + BEYOND, room, PROT_READ | PROT_WRITE)) return munmap(from, room + 2 * BEYOND), NULL;
  *f = (Fenced){.from = from, .to = from + room + 2 * BEYOND, .data = from + BEYOND + room - used, .bytes = bytes};
  return f->data;
}
static Fenced *fenced(const void *data) {
  Fenced *f = fences;
  while (f->data != data) f++;
  return f;
}
void fence_free(void *data) {
  Fenced *f = fenced(data);
  munmap(f->from, f->to - f->from);
  *f = (Fenced){0};
}
/* Forbids to write to it. */
void fence_seal(void *data) {
  Fenced *f = fenced(data);
  mprotect(f->from + BEYOND, f->to - f->from - 2 * BEYOND, PROT_READ);
}
/* What was seen first: 0 for nothing, 1 for an access outside, 2 for a write; `at` from its start on. */
int fence_seen(const void *data, int64_t *at) {
  const Fenced *f = fenced(data);
  *at = f->at;
  return f->seen;
}
#endif
