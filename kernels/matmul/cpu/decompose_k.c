/* C = epilogue(A · B) by partial products over slices of K, which threads take one by one.
 *
 * With M and N of 16 to 64 there is nothing to share out but K: a thread multiplies a
 * slice A[:, K_s] · B[K_s, :] into sums of its own, then the slices are added in their
 * order, which makes the result the same on every run, and the epilogue is applied on the
 * way out. The idea is PyTorch's decompose-k (Inductor, 2025) on threads instead of
 * thread blocks. fp32 operands are multiplied by IEEE fused multiply-adds; bf16 by
 * vdpbf16ps where there is such an instruction, else as fp32; f16 as fp32.
 */
#include "../../common/threads.h"
#include "element.h"

enum { BEST, GENERIC, AVX2, AVX512, AVX512_BF16, NEON }; /* Instruction sets, likewise. */

#define MAX_DEPTH 1024 /* k's of a block, at most */
#define ROW_CHUNK 128  /* rows of A that are converted at a time */
#define MAX_PANEL 64   /* columns of B of a panel, at most */
/* Scratch of a slice: a block of A and a panel of B, as 32-bit units. */
#define SCRATCH(depth) ((size_t)(ROW_CHUNK + MAX_PANEL) * (depth) * 4)

typedef struct {
  const char *a, *b, *bias; /* bias may be null */
  char *c;
  float *partials; /* [slices][m][padded]: the sums of each slice */
  char *scratch;   /* [slices][SCRATCH(depth)] */
  int m, n, k;
  long lda, ldb, ldc, stepc; /* elements; stepc: between two columns of C */
  int type, nt, relu;
  int slices, depth; /* of K; k's of a block */
  long padded;       /* n, rounded up to 16 */
} Job;

/* The first k of slice `s`. Whole blocks of 16, so that vectors and lines are not cut. */
static inline int slice_start(const Job *job, int s) {
  long blocks = (job->k + 15) / 16;
  long start = blocks * s / job->slices * 16;
  return start < job->k ? (int)start : job->k;
}

#define WIDEN_F16_PLAIN(half, count, to) \
  for (int i = 0; i < (count); i++) (to)[i] = from_f16((half)[i])

#define SET generic
#define TARGET
#define LANES 4
#define PANEL_VECTORS 2
#define PAIRS 0
#define WIDEN_F16 WIDEN_F16_PLAIN
#include "dot.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* The conversion instructions of f16, a vector at a time; the rest one by one. */
#define WIDEN_F16_X86(half, count, to, lanes, load, convert, store)   \
  do {                                                                \
    int i = 0;                                                        \
    for (; i + lanes <= (count); i += lanes)                          \
      store((to) + i, convert(load((const void *)((half) + i))));     \
    for (; i < (count); i++) (to)[i] = _cvtsh_ss((half)[i]);          \
  } while (0)

#define SET avx2
#define TARGET __attribute__((target("avx2,fma,f16c")))
#define LANES 8
#define PANEL_VECTORS 2
#define PAIRS 0
#define WIDEN_F16(half, count, to)                                  \
  WIDEN_F16_X86(half, count, to, 8, _mm_loadu_si128, _mm256_cvtph_ps, _mm256_storeu_ps)
#include "dot.h"

#define SET avx512
#define TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma,f16c")))
#define LANES 16
#define PANEL_VECTORS 4
#define PAIRS 0
#define WIDEN_F16(half, count, to)                                   \
  WIDEN_F16_X86(half, count, to, 16, _mm256_loadu_si256, _mm512_cvtph_ps, _mm512_storeu_ps)
#include "dot.h"

#define SET avx512_bf16
#define TARGET \
  __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma,f16c,avx512bf16")))
#define LANES 16
#define PANEL_VECTORS 4
#define PAIRS 1
#include "dot.h"

#elif defined(__aarch64__)
#include <arm_neon.h>

#define WIDEN_F16_NEON(half, count, to) \
  for (int i = 0; i < (count); i++) (to)[i] = (float)((const __fp16 *)(half))[i]

#define SET neon
#define TARGET
#define LANES 4
#define PANEL_VECTORS 4
#define PAIRS 0
#define WIDEN_F16 WIDEN_F16_NEON
#include "dot.h"
#endif

/* The partial product of instruction set `set`, or null where this CPU lacks it. */
static Task slice_task(int set) {
  switch (set) {
    case GENERIC: return slice_generic;
#if defined(__x86_64__)
    case AVX2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? slice_avx2 : NULL;
    case AVX512:
      return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                     __builtin_cpu_supports("avx512vl")
                 ? slice_avx512
                 : NULL;
    case AVX512_BF16: return __builtin_cpu_supports("avx512bf16") ? slice_avx512_bf16 : NULL;
#elif defined(__aarch64__)
    case NEON: return slice_neon;
#endif
    default: return NULL;
  }
}

/* Adds the slices of one share of the rows in their order, and finishes them. */
static void finish(const void *arg, int share) {
  const Job *job = arg;
  const int bytes = type_bytes(job->type);
  const long slice = job->m * job->padded;
  const long end = (long)job->m * (share + 1) / job->slices;
  for (long row = (long)job->m * share / job->slices; row < end; row++) {
    float *sums = job->partials + row * job->padded;
    for (int s = 1; s < job->slices; s++)
      for (long j = 0; j < job->n; j++) sums[j] += sums[s * slice + j];
    if (job->bias)
      for (long j = 0; j < job->n; j++) sums[j] += load_float(job->bias + j * bytes, job->type);
    if (job->relu)
      for (long j = 0; j < job->n; j++) sums[j] = sums[j] < 0 ? 0 : sums[j];
    char *c = job->c + row * job->ldc * bytes;
    for (long j = 0; j < job->n; j++)
      store_float(c + j * job->stepc * bytes, job->type, sums[j]);
  }
}

/* Which of the sets `BEST + 1` to `NEON` this CPU has, a byte each. */
void decompose_k_sets(uint8_t *has) {
  for (int set = GENERIC; set <= NEON; set++) has[set - 1] = slice_task(set) != NULL;
}

/* A[m,k] and C[m,n] row-major; B is [k,n], or [n,k] where `nt` is 1. `bias` has n
 * elements; it is read where `has_bias` is 1. `partials` and `scratch` as in Job. `set`:
 * an instruction set that this CPU has; BEST takes the best for the type. */
void decompose_k(const void *a, const void *b, const void *bias, void *c, float *partials,
                 void *scratch, int m, int n, int k, int lda, int ldb, int ldc, int stepc,
                 int type, int nt, int has_bias, int relu, int slices, int threads, int depth,
                 int set) {
  static const int best[] = {AVX512_BF16, AVX512, AVX2, NEON, GENERIC};
  for (int i = type == BF16 ? 0 : 1; set == BEST; i++)
    if (slice_task(best[i])) set = best[i];
  const int blocks = (k + 15) / 16; /* a slice must not be empty */
  if (slices > blocks) slices = blocks;
  if (slices > MAX_TASKS) slices = MAX_TASKS;
  if (threads > slices) threads = slices;
  const Job job = {.a = a, .b = b, .bias = has_bias ? bias : NULL, .c = c,
                   .partials = partials, .scratch = scratch, .m = m, .n = n, .k = k,
                   .lda = lda, .ldb = ldb, .ldc = ldc, .stepc = stepc,
                   .type = type, .nt = nt, .relu = relu,
                   .slices = slices, .depth = depth, .padded = (n + 15L) / 16 * 16};
  run_tasks(threads, slices, slice_task(set), &job);
  run_tasks(threads, slices, finish, &job);
}
