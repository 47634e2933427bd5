/* y = x · Wᵀ or x · W for quantised W: weights are decoded block by block, in the cache.
 *
 * What is read from memory is what is stored, a quarter of 16-bit weights. A thread has
 * blocks of W of its own and multiplies each by all rows of x, so sums are in the order
 * of K whatever the threads are. In mode DENSE the same loops read 16-bit weights: the
 * kernel that quantisation is measured against.
 */
#include "../../common/threads.h"
#include "weight.h"

enum { DENSE = NVFP4 + 1 };                /* A mode of this kernel's own: 16-bit weights. */
enum { BEST, GENERIC, AVX2, AVX512, NEON }; /* Instruction sets, as the caller numbers them. */

#define DEPTH 1024    /* weights of a row that are decoded at a time: whole groups */
#define MAX_ROWS 64   /* rows of W of a block, at most */
#define COLUMNS 128   /* columns of W of a block, where it is not transposed: whole groups */
#define STEPS 16      /* its rows that are decoded at a time */
#define CHUNK 128     /* rows of x whose sums are held at a time */
#define QUAD 4        /* rows of W that the micro-kernel multiplies by rows of x */

typedef struct {
  const char *x;
  float *wide; /* x as fp32 [m][k] */
  char *y;
  Weights weights; /* w holds 16-bit numbers where the mode is DENSE */
  int m, n, k;
  int rows;          /* of W in a block */
  int blocks, tasks; /* task t has the blocks t, t + tasks, ... */
} Job;

typedef struct {
  Task widen, rows, columns;
} Tasks;

/* Eight codes, which the compiler makes as many vectors of as it needs. */
typedef uint64_t Words __attribute__((vector_size(64)));
typedef uint32_t Codes8 __attribute__((vector_size(32)));

#define SET generic
#define TARGET
#define LANES 4
#define X_ROWS 2
#include "panel.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define SET avx2
#define TARGET __attribute__((target("avx2,fma,f16c")))
#define LANES 8
#define X_ROWS 2
#define WIDEN(halves) _mm256_cvtph_ps((__m128i)(halves))
#define NIBBLES(from)                                                                   \
  _mm256_and_si256(_mm256_srlv_epi32(_mm256_set1_epi32(*(const int *)(from)),           \
                                     _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28)),   \
                   _mm256_set1_epi32(15))
#include "panel.h"

#define SET avx512
#define TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma,prefer-vector-width=512")))
#define LANES 16
#define X_ROWS 6
#define WIDEN(halves) _mm512_cvtph_ps((__m256i)(halves))
/* Both words to eight lanes each, which shift them to their own codes. */
#define NIBBLES(from)                                                                   \
  _mm512_and_si512(                                                                     \
      _mm512_srlv_epi32(                                                                \
          _mm512_permutexvar_epi32(                                                     \
              _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1),        \
              _mm512_castsi128_si512(_mm_loadl_epi64((const __m128i *)(from)))),        \
          _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28)), \
      _mm512_set1_epi32(15))
#define LOOKUP(values, codes) \
  (VEC)_mm512_permutexvar_ps((__m512i)(codes), _mm512_loadu_ps(values))
#include "panel.h"

#elif defined(__aarch64__)
#define SET neon
#define TARGET
#define LANES 4
#define X_ROWS 6
#include "panel.h"
#endif

/* The functions of instruction set `set`, or null where this CPU lacks it. */
static const Tasks *tasks_of(int set) {
  switch (set) {
    case GENERIC: return &tasks_generic;
#if defined(__x86_64__)
    case AVX2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &tasks_avx2 : NULL;
    case AVX512:
      return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                     __builtin_cpu_supports("avx512vl")
                 ? &tasks_avx512
                 : NULL;
#elif defined(__aarch64__)
    case NEON: return &tasks_neon;
#endif
    default: return NULL;
  }
}

/* Which of the sets GENERIC to NEON this CPU has, a byte each. */
void qmm_sets(uint8_t *has) {
  for (int set = GENERIC; set <= NEON; set++) has[set - 1] = tasks_of(set) != NULL;
}

/* x[m,k] and y[m,n] row-major of 16-bit `type`; W is stored as [n,k], or [k,n] where not
 * `transposed`. `wide`: m * k floats of scratch. `rows`: of W in a block, at most MAX_ROWS.
 * `set`: an instruction set that this CPU has; BEST takes the best. */
void qmm(const char *x, const unsigned *w, const char *scales, const char *biases, char *y,
         float *wide, int m, int n, int k, int mode, int bits, int group, int type,
         int transposed, int rows, int threads, int set) {
  static const int best[] = {AVX512, AVX2, NEON, GENERIC};
  for (int i = 0; set == BEST; i++)
    if (tasks_of(best[i])) set = best[i];
  const Tasks *tasks = tasks_of(set);
  Job job = {.x = x, .wide = wide, .y = y, .m = m, .n = n, .k = k, .rows = rows};
  job.weights = (Weights){w, scales, biases, transposed ? k : n, mode, bits, group, type};
  job.tasks = threads;
  run_tasks(threads, threads, tasks->widen, &job);
  const int size = transposed ? rows : COLUMNS;
  job.blocks = (n + size - 1) / size;
  job.tasks = job.blocks < MAX_TASKS ? job.blocks : MAX_TASKS;
  run_tasks(threads, job.tasks, transposed ? tasks->rows : tasks->columns, &job);
}
